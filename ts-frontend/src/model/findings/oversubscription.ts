/**
 * Findings about more runnable threads than CPUs. By itself this costs no elapsed time, because the CPUs do the same
 * amount of work (a notice says so); it costs if some of the threads spin, because these get time slices too
 * (docs/reference/findings.md, "Threads"). Pure functions.
 */
import { item } from '../profile/columns.js';
import { behindSpinNs, spinningProcedures } from '../evidence/locks/spin-then-block.js';
import type { OversubscriptionFacts } from '../result/facts.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, processorUseOf } from '../evidence/context.js';
import {
  costOfOversubscription,
  handOversOf,
  oversubscriptionOf,
  type Oversubscription,
} from '../evidence/threads/oversubscription.js';
import { spinningInPassing } from '../evidence/waits/passing-procedures.js';
import type { Finding } from '../result/types.js';

/** Threads that have been woken and wait for a CPU, if they are at least a tenth of the runnable threads. */
function wokenOf({ woken, runnable, wokenAt }: Oversubscription): OversubscriptionFacts['woken'] {
  const [most] = [...wokenAt].sort((a, b) => b[1] - a[1]);
  return most && woken >= 0.1 * runnable ? { threads: woken, object: most[0] } : null;
}

/** A second saving is reported only if it differs by at least this share. */
const notable = 0.1;

/** Whether blocking saves notably less than fewer threads would: with blocking, the calls that wait and wake remain. */
const isLess = ({ lostNs, handedNs }: Oversubscription): boolean => lostNs < (1 - notable) * handedNs;

/** Lower and upper bound of what fewer threads save. */
function savedByFewer(context: FindingContext, { handedNs }: Oversubscription): OversubscriptionFacts['fewer'] {
  const most = Math.min(context.model.elapsedNs, handedNs + behindSpinNs(context, spinningProcedures(context)));
  return { savesNs: handedNs, mostNs: most > (1 + notable) * handedNs ? most : null };
}

/** At most one finding; with no saving where no thread spins, and threads wait for each other. */
export function oversubscriptionFinding(context: FindingContext): Finding | undefined {
  const { model } = context;
  const P = model.processors;
  if (model.head.publisher !== 'pthread') return undefined; // threads of the package are meant to be many
  const oversubscription = oversubscriptionOf(context);
  const cost = costOfOversubscription(context, oversubscription);
  if (cost === null || cost === 'nothing') return undefined;
  const harmful = cost === 'spinning';
  const objects = harmful ? [...oversubscription.byObject].sort((a, b) => b[1] - a[1]).map(([id]) => id) : [];
  const {
    cpuWait: { waitNs, ownNs: own },
  } = model;
  const savingNs = harmful ? oversubscription.handedNs : 0,
    passing = harmful ? spinningInPassing(context) : null;
  return findingOf(model, {
    entity: 0,
    kind: 'oversubscription',
    change: passing ? 'coarsen' : 'fewer-threads',
    advice: passing ? largerPieces : { pieces: null, threads: 'fewer' },
    costNs: savingNs,
    savingNs,
    processorUse: processorUseOf(P, oversubscription.busy, oversubscription.spinning),
    facts: {
      form: 'oversubscription',
      oversubscribedNs: oversubscription.ns,
      runnable: oversubscription.runnable,
      harmful,
      handOvers: handOversOf(model),
      spinners: harmful ? { threads: oversubscription.spinners, object: item(objects, 0) } : null,
      woken: wokenOf(oversubscription),
      cpuWait: waitNs > 0 ? { waitNs, ownNs: own } : null,
      fewer: harmful ? savedByFewer(context, oversubscription) : { savesNs: 0, mostNs: null },
      blocking: harmful && !passing && isLess(oversubscription) ? oversubscription.lostNs : null,
      passing,
    },
    related: [...objects.slice(0, 3), ...(passing ?? [])],
    alternatives:
      harmful && !passing && isLess(oversubscription)
        ? [{ kind: 'spinning', change: 'block-instead-of-spin', savingNs: oversubscription.lostNs }]
        : [],
  });
}

/**
 * Whether the oversubscription finding already covers this finding about spinning, or about the yields of threads that
 * wait to pass data on, so that it is reported once.
 */
export function isOversubscription(finding: Finding, oversubscription: Finding | undefined): boolean {
  const { facts } = finding;
  if (facts.form === 'kernel-work' && facts.work === 'yields' && oversubscription?.facts.form === 'oversubscription')
    return oversubscription.facts.passing !== null;
  return (
    oversubscription !== undefined &&
    finding.kind === 'spinning' &&
    oversubscription.related.includes(finding.entity) &&
    oversubscription.savingNs >= finding.savingNs / 2
  );
}

/**
 * If spinning threads keep others from the CPUs, threads are also woken late and often, as a consequence. So
 * oversubscription precedes the finding about wake-ups if fewer threads may save (their upper bound) at least this
 * share of what that one saves.
 */
const leastOfWaking = 0.8;

/** What `savedBy` says of a finding, by the upper bound of what it saves. */
function mostSaved(finding: Finding, savedBy: (finding: Finding) => number): number {
  const { facts } = finding;
  if (facts.form !== 'oversubscription' || facts.fewer.mostNs === null) return savedBy(finding);
  return savedBy(finding) * (facts.fewer.mostNs / facts.fewer.savesNs);
}

/** The findings in their order, except that harmful oversubscription precedes the wake-ups that follow from it. */
export function oversubscriptionFirst(limits: readonly Finding[], savedBy: (finding: Finding) => number): Finding[] {
  const at = limits.findIndex(({ facts }) => facts.form === 'oversubscription' && facts.harmful);
  const waking = limits.findIndex(({ facts }) => facts.form === 'wake-ups');
  if (waking < 0 || at < waking) return [...limits];
  const one = item(limits, at);
  if (mostSaved(one, savedBy) < leastOfWaking * savedBy(item(limits, waking))) return [...limits];
  const rest = limits.filter((each) => each !== one);
  return [...rest.slice(0, waking), one, ...rest.slice(waking)];
}
