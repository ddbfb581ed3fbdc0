/**
 * Upper bounds on savings from threads that the program waits for: such a thread does its own work however little
 * others wait. A contended lock or an uneven division beside such a thread costs nothing (docs/reference/findings.md,
 * "Critical threads"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import type { FindingContext } from '../context.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import { isBusy } from '../../metrics/sums.js';
import type { Entity, Finding, Model } from '../../result/types.js';

/**
 * Threads that the program waits for, with their processor time: main, and those that ran alone while others waited at
 * a join. (A thread that works until it is asked to end runs as long as the others.)
 */
export type Longest = ReadonlyMap<number, number>;

export function mainThread({ entities }: Model): Entity | undefined {
  return entities.find(
    ({ kind, thread, members }) => kind === 'thread' && members.length === 0 && thread?.creator === 0,
  );
}

export function longestThreads({ model, least }: FindingContext): Longest {
  const { tuples, waitOverlap } = model.raw;
  const joined = new Map<number, number>(),
    alone = new Map<number, number>(),
    work = new Map<number, number>();
  for (let k = 0; k < waitOverlap.ns.length; k++)
    if (waitOverlap.object[k] !== 0 && item(model.entities, u32(waitOverlap.object, k)).rawKind === 'join')
      addTo(joined, u32(waitOverlap.thread, k), f64(waitOverlap.ns, k));
  for (let k = 0; k < tuples.ns.length; k++) {
    const ns = workNs(model.raw, k);
    if (ns === 0) continue;
    addTo(work, u32(tuples.thread, k), ns);
    if (tuples.busy[k] === 1) addTo(alone, u32(tuples.thread, k), ns);
  }
  const main = mainThread(model)?.id;
  const isAwaited = (id: number): boolean => Math.min(joined.get(id) ?? 0, alone.get(id) ?? 0) >= least;
  return new Map(
    [...work].filter(([id]) => {
      const { kind, members, instances } = item(model.entities, id);
      return kind === 'thread' && members.length === 0 && instances <= 1 && (id === main || isAwaited(id));
    }),
  );
}

/**
 * Time for which a thread had a CPU for work. If more kernel threads are runnable than there are CPUs, including
 * spinning ones, each is assigned an equal share, because states show only that it was runnable.
 */
function workNs({ head, tuples }: FindingContext['model']['raw'], k: number): number {
  const ns = f64(tuples.ns, k),
    state = u8(tuples.state, k);
  if (ns === 0 || tuples.waiting[k] !== Waiting.none) return 0;
  const oversubscription = head.publisher === 'pthread' ? f64(tuples.runnableNs, k) / ns / head.processors : 1;
  return oversubscription > 1 && (isBusy(state) || state === State.ready)
    ? ns / oversubscription
    : isBusy(state)
      ? ns
      : 0;
}

/** Processor time of the thread outside of everything that the change affects; 0 if the change is about this thread. */
function outsideNs(
  { model: { entities, raw }, tables }: FindingContext,
  thread: number,
  about: ReadonlySet<number>,
): number {
  const { parent, entity, count } = tables.stacks;
  if (about.has(thread)) return 0;
  const within = new Uint8Array(count);
  for (let n = 1; n < count; n++)
    // parents precede their children
    within[n] =
      within[u32(parent, n)] === 1 || about.has(u32(entity, n)) || about.has(item(entities, u32(entity, n)).group)
        ? 1
        : 0;
  let ns = 0;
  for (let k = 0; k < raw.tuples.ns.length; k++)
    if (raw.tuples.thread[k] === thread && within[u32(raw.tuples.stack, k)] === 0) ns += workNs(raw, k);
  return ns;
}

/** The bound is reported if it reduces the saving by at least a tenth. */
const notable = 0.9;

/**
 * The thread that limits a change of these entities most, and the saving that it leaves; undefined if none limits it.
 */
export function leftBy(
  context: FindingContext,
  threads: Longest,
  about: readonly number[],
  worth: number,
): { thread: number; outside: number; most: number } | undefined {
  const { model } = context,
    those = new Set(about.flatMap((id) => [id, ...item(model.entities, id).members]));
  let thread = 0,
    outside = model.elapsedNs - notable * worth;
  for (const [id, ns] of threads) {
    const its = ns > outside ? outsideNs(context, id, those) : 0;
    if (its > outside) [thread, outside] = [id, its];
  }
  return thread === 0 ? undefined : { thread, outside, most: Math.max(0, model.elapsedNs - outside) };
}

/** Findings that are not about the code of single threads: no thread bounds them. */
const apart = new Set<Finding['kind']>(['oversubscription', 'overhead']);

/** The saving if the code of the finding took no time, where that is known; otherwise what the change saves. */
export const ifRemoved = ({ kind, costNs, savingNs, facts }: Finding): number =>
  kind === 'serial' ? costNs : facts.form === 'slowest-stage' ? Math.max(savingNs, facts.fasterNs) : savingNs;

/**
 * Threads that let each other continue in turn have each its own work, which remains if they no longer wait for each
 * other.
 */
const isForTurns = ({ facts }: Finding): boolean => facts.form === 'lock' && facts.exclusion !== null;

/** Lowers the saving of a finding to the bound by the critical threads. */
export function bound(context: FindingContext, threads: Longest, finding: Finding): void {
  const worth = ifRemoved(finding);
  const left = apart.has(finding.kind)
    ? undefined
    : leftBy(context, threads, isForTurns(finding) ? [] : [finding.entity, ...finding.related], worth);
  if (!left) return;
  finding.savingNs = Math.min(finding.savingNs, left.most);
  if (finding.facts.form === 'slowest-stage')
    finding.facts.fasterNs = Math.max(finding.savingNs, Math.min(finding.facts.fasterNs, left.most));
  finding.bound = { thread: left.thread, outsideNs: left.outside, mostNs: left.most };
}
