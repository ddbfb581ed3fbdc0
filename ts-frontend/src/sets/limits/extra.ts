/** What some ranks do more of than the others, from samples. Pure functions. */
import { item } from '../../model/index.js';
import { isExchange, placeOf, sum, type Basis } from './basis.js';
import { waitsForProcesses } from '../views.js';
import type { Compared, Extra, GroupSums, Place, Sums } from './types.js';

/** Others run a procedure at most for this share of the time of the late ranks: these alone run it. */
const aloneShare = 0.05;
/** A procedure explains the additional work if at least this share of it is there. */
const explains = 0.8;
/** What is compared has to explain this share of how much longer the others wait. */
const leastExplained = 0.3;
/** Procedures of this share of the work are compared to find out whether all take longer by the same factor. */
const heavy = 0.1;
const sameFactor = 0.15;

type Column = keyof Sums;
const meanOf = {
  npt: 'npt_mean_ns',
  self: 'self_mean_ns',
  wait: 'wait_mean_ns',
  blocked: 'blocked_mean_ns',
} as const satisfies Record<Column, string>;

/** Compares a group of ranks with the rest. `sums`: the costs of the group. */
class Comparison {
  readonly #rest: number;
  constructor(
    private readonly basis: Basis,
    private readonly members: readonly number[],
    private readonly sums: GroupSums,
  ) {
    this.#rest = basis.count - members.length;
  }

  entity(entity: number, column: Column): Compared {
    const its = this.sums.get(entity)?.[column] ?? 0;
    const row = this.basis.summaryOf(entity);
    return this.#means(its, (row?.[meanOf[column]] ?? 0) * this.basis.count);
  }

  ranks(of: (member: number) => number): Compared {
    const all = this.basis.set.ranks.map(({ member }) => of(member));
    return this.#means(sum(this.members.map((member) => item(all, member))), sum(all));
  }

  #means(group: number, all: number): Compared {
    return { ns: group / this.members.length, othersNs: this.#rest === 0 ? 0 : Math.max(0, all - group) / this.#rest };
  }
}

const longer = ({ ns, othersNs }: Compared): number => ns - othersNs;

interface Candidate {
  place: Place;
  is: Compared;
}

/** All procedures of the group, compared. */
function procedures({ set }: Basis, comparison: Comparison, sums: GroupSums, column: Column): Candidate[] {
  return [...sums.keys()]
    .filter((entity) => item(set.entities, entity).kind === 'procedure' && !isExchange(item(set.entities, entity)))
    .map((entity) => ({ place: placeOf(set, entity), is: comparison.entity(entity, column) }));
}

/**
 * Of the procedures that contain most of the additional time, the innermost: that in which all ranks spend least; of
 * those whose source is known, if there are any.
 */
function innermost(all: readonly Candidate[], longerNs: number): Candidate | null {
  const most = Math.max(...all.map(({ is }) => longer(is)), 0);
  if (most < 0.5 * longerNs) return null;
  const enough = all.filter(({ is }) => longer(is) >= explains * Math.min(most, longerNs));
  const known = enough.filter(({ place }) => place.file !== '');
  const whole = ({ is }: Candidate): number => is.ns + is.othersNs;
  return (known.length > 0 ? known : enough).reduce<Candidate | null>(
    (a, b) => (a === null || whole(b) < whole(a) ? b : a),
    null,
  );
}

/** By how much all procedures take longer, if all do by about the same factor. */
function factorOf(all: readonly Candidate[], workNs: number): number | null {
  const factors = all
    .filter(({ is }) => is.ns >= heavy * workNs && is.othersNs > 0)
    .map(({ is }) => is.ns / is.othersNs);
  if (factors.length < 2) return null;
  const mean = sum(factors) / factors.length;
  return mean > 1 && factors.every((factor) => Math.abs(factor - mean) <= sameFactor * (mean - 1)) ? mean : null;
}

/** What takes most of the additional time in which nothing runs: an object, or procedures that sleep in the kernel. */
function idlePlace(basis: Basis, comparison: Comparison, sums: GroupSums, longerNs: number): (Place & Compared) | null {
  const { set } = basis;
  const objects = [...sums.keys()]
    .filter((entity) => entity !== 0 && !waitsForProcesses(item(set.entities, entity)))
    .map((entity) => ({ place: placeOf(set, entity), is: comparison.entity(entity, 'wait') }));
  const asleep = innermost(procedures(basis, comparison, sums, 'blocked'), longerNs);
  const at = [...objects, ...(asleep === null ? [] : [asleep])].reduce<Candidate | null>(
    (a, b) => (a === null || longer(b.is) > longer(a.is) ? b : a),
    null,
  );
  return at === null || longer(at.is) < 0.5 * longerNs ? null : { ...at.place, ...at.is };
}

/** `expectedNs`: how much longer the others wait than these ranks. */
export function extraOf(basis: Basis, members: readonly number[], sums: GroupSums, expectedNs: number): Extra {
  const { set } = basis;
  const comparison = new Comparison(basis, members, sums);
  const work = comparison.entity(0, 'npt');
  const cpus = comparison.ranks((member) => item(set.ranks, member).starved_ns);
  const idle = comparison.ranks((member) => {
    const { nothing_ran_ns, mpi_ns, starved_ns } = item(set.ranks, member);
    return Math.max(0, nothing_ran_ns - mpi_ns - starved_ns);
  });
  // Where threads wait for CPUs, the same work takes longer by the clock, by which the others wait. More work waits
  // longer for CPUs: what is due to the CPUs is only by how much longer each piece of work takes.
  const stretch = work.ns > 0 ? (work.ns + cpus.ns) / work.ns : 1;
  const usual = work.othersNs > 0 ? (work.othersNs + cpus.othersNs) / work.othersNs : 1;
  const byWork = longer(work) * Math.min(stretch, usual);
  const byCpus = longer(cpus) + longer(work) - byWork;
  const most = Math.max(byWork, byCpus, longer(idle));
  if (most <= 0 || most < leastExplained * expectedNs) return { form: 'unknown' };
  if (most === byCpus) return { form: 'cpus', ...cpus };
  if (most === longer(idle)) {
    return { form: 'waits', ...idle, place: idlePlace(basis, comparison, sums, longer(idle)) };
  }
  const longerNs = longer(work);
  const at = innermost(procedures(basis, comparison, sums, 'npt'), longerNs);
  if (at !== null && at.is.othersNs <= aloneShare * at.is.ns) return { form: 'alone', place: at.place, ns: at.is.ns };
  const factor = factorOf(procedures(basis, comparison, sums, 'self'), work.ns);
  return { form: 'work', ...work, longerNs, place: at === null ? null : { ...at.place, ...at.is }, factor };
}
