/**
 * Cache lines that threads on different CPUs write alternately, and what they share there: nothing (false sharing), or
 * a word that all of them change atomically. Lines of data that are passed on, or that a lock protects, are excluded,
 * because they have to move between threads (docs/reference/metrics.md, section 6). Pure functions.
 */
import { f64, u32, u8 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import { lockedAccess } from '../../profile/abi.js';
import type { RawSharedLine } from '../../profile/raw-profile.js';
import type { SharingFacts } from '../../result/facts.js';
import type { AtomicsFacts } from '../../result/work-facts.js';
import type { Model } from '../../result/types.js';
import { isBusy } from '../../metrics/sums.js';
import type { FindingContext } from '../context.js';

type User = RawSharedLine['by'][number];

/** The least number of samples of a thread for which its accessed words are considered known. */
const leastOfThread = 8;
/** The least share of samples that follow a sample of another thread: with fewer, the line seldom moves. */
const leastAlternating = 0.05;

const areApart = (one: User, other: User): boolean =>
  (one.written & (other.written | other.read)) === 0 && (other.written & one.read) === 0;

function howOf(users: readonly User[]): SharingFacts['how'] | null {
  const pairs = users.flatMap((one, k) => users.slice(k + 1).map((other) => [one, other] as const));
  if (pairs.every(([one, other]) => areApart(one, other)) && users.some(({ written }) => written !== 0))
    return 'words-apart';
  const together = pairs.filter(([one, other]) => (one.written & other.written) !== 0);
  const all = (bit: number): boolean =>
    together.length > 0 && together.every(([one, other]) => (one.locked & other.locked & bit) !== 0);
  return all(lockedAccess.change) ? 'changed' : all(lockedAccess.compare) ? 'exchanged' : null;
}

/** What is shared in the code of one procedure. */
export interface Sharing {
  how: SharingFacts['how'];
  variable: string;
  lines: number;
  threads: Set<number>;
  samples: number;
}

/**
 * By innermost procedure, including inlined ones; of several ways of sharing, the one with most samples. `seldom`: also
 * lines that samples seldom find alternately.
 */
export function sharingByProcedure({ raw }: Model, { seldom = false } = {}): Map<number, Sharing> {
  const found = new Map<number, Map<SharingFacts['how'], Sharing & { most: number }>>();
  for (const { by, turns, samples, variable } of raw.sharedLines) {
    const users = by.filter((user) => user.samples >= leastOfThread);
    const isShared = users.length >= 2 && (seldom || turns >= leastAlternating * samples);
    const how = isShared ? howOf(users) : null;
    if (how === null) continue;
    const perProcedure = new Map<number, number>();
    for (const user of users) addTo(perProcedure, user.procedure, user.samples);
    for (const [procedure, its] of perProcedure) {
      const ways = found.get(procedure) ?? new Map<SharingFacts['how'], Sharing & { most: number }>();
      const known = ways.get(how) ?? { how, variable, lines: 0, threads: new Set(), samples: 0, most: 0 };
      if (its > known.most) [known.most, known.variable] = [its, variable];
      known.lines++;
      known.samples += its;
      for (const { thread } of users) known.threads.add(thread);
      ways.set(how, known);
      found.set(procedure, ways);
    }
  }
  const best = (ways: ReadonlyMap<string, Sharing>): Sharing =>
    [...ways.values()].reduce((most, one) => (one.samples > most.samples ? one : most));
  return new Map([...found].map(([procedure, ways]) => [procedure, best(ways)]));
}

/** The share of a procedure's processor time `allNs` that its samples at such accesses stand for. */
export function shareThere({ root, head }: Model, { samples }: Sharing, allNs: number): number {
  const nsOfSample = root.processorTimeNs / Math.max(1, head.runningSamples);
  return Math.min(1, (samples * nsOfSample) / Math.max(1, allNs));
}

/** The least share of the code's time at such operations that is worth a remedy of its own. */
const leastAtAtomics = 0.25;

/**
 * The part of the code's time that it spends at atomic operations on words that other threads change as well, whether
 * or not they were seen to do so at the same time; null if it is less than a quarter. Of each procedure's time, that
 * part is taken to be the same in all of its calls. `work`: time by stack.
 */
export function atomicsIn({ model, tables }: FindingContext, work: ReadonlyMap<number, number>): AtomicsFacts | null {
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const sharing = new Map<number, Sharing & { how: AtomicsFacts['how'] }>();
  for (const [procedure, { how, ...rest }] of sharingByProcedure(model, { seldom: true }))
    if (how !== 'words-apart') sharing.set(procedure, { how, ...rest });
  if (sharing.size === 0) return null;
  const allNs = new Map<number, number>(); // processor time by innermost procedure
  for (let k = 0; k < weights.length; k++) {
    const procedure = u32(stacks.entity, u32(tuples.stack, k));
    if (sharing.has(procedure) && isBusy(u8(tuples.state, k))) addTo(allNs, procedure, f64(weights, k));
  }
  const byProcedure = new Map<number, number>();
  for (const [node, ns] of work) {
    const procedure = u32(stacks.entity, node);
    const its = sharing.get(procedure);
    if (its) addTo(byProcedure, procedure, ns * shareThere(model, its, allNs.get(procedure) ?? 0));
  }
  const ns = total(byProcedure);
  if (ns < leastAtAtomics * total(work)) return null;
  const [first] = [...byProcedure].sort((a, b) => b[1] - a[1]);
  const most = first && sharing.get(first[0]);
  return most ? { ns, how: most.how, variable: most.variable, threads: most.threads.size } : null;
}
