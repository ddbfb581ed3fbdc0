/**
 * Serial code of one thread, of which the procedures are pieces: if no piece is most of it, it is one finding, about
 * the thread (docs/reference/findings.md, "Code"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { isBusy } from '../metrics/sums.js';
import type { Contexts } from '../evidence/loss-contexts.js';
import { findingOf, shownId, type FindingContext } from '../evidence/context.js';
import type { AloneFacts } from '../result/facts.js';
import type { Finding } from '../result/types.js';
import { candidateOf, processorUse, together, waitingAt, type Candidate } from './candidate.js';

/** A finding about serial code, and the thread that runs it alone; 0: several. */
export interface SerialPiece {
  finding: Finding;
  candidate: Candidate;
  thread: number;
}

/** All serial code of a thread is mentioned if it is this many times as much as its largest piece, */
const notablyMore = 1.25;
/**
 * and is reported as one from this many times on, if it takes this share of the elapsed time: then no piece is most of
 * it, and that the program mostly has one thread is what limits it.
 */
const severalPieces = 2,
  leastOfRun = 0.5;
/** The largest number of pieces that are named, and the least share of the whole that each of them has. */
const named = 4,
  leastNamed = 0.05;

/**
 * What a thread runs alone in stacks that belong to no candidate (`taken`), because each of the procedures there has
 * too little to be one.
 */
function restOf({ model, tables }: FindingContext, contexts: Contexts, thread: number, taken: Uint8Array): AloneFacts {
  const { tuples } = model.raw;
  const rest = { costNs: 0, spreadNs: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    if (u32(tuples.thread, k) !== thread || u16(tuples.busy, k) > 1 || !isBusy(u8(tuples.state, k))) continue;
    if (taken[u32(tuples.stack, k)] === 1) continue;
    rest.costNs += f64(tables.weights, k) * f64(contexts.unexplained, k);
    rest.spreadNs += f64(contexts.lost, k);
  }
  return rest;
}

/** Of a program with one thread it goes without saying that this runs alone: then pieces say more. */
const hasOneThread = ({ model }: FindingContext): boolean =>
  model.entities.reduce((sum, { thread, instances }) => sum + (thread === null ? 0 : Math.max(1, instances)), 0) <= 1;

/**
 * The findings about serial code. That of one thread is often in several procedures, which have no time in common: the
 * finding about the largest piece says how much it is together, and that a team gains nothing; if no piece is half of
 * it, all of it is one finding.
 */
export function joinSerial(
  context: FindingContext,
  contexts: Contexts,
  pieces: readonly SerialPiece[],
  taken: Uint8Array,
): Finding[] {
  const { model } = context;
  const isAlone = hasOneThread(context);
  const byThread = new Map<number, SerialPiece[]>();
  for (const piece of pieces) byThread.set(piece.thread, [...(byThread.get(piece.thread) ?? []), piece]);
  return [...byThread].flatMap(([thread, its]) => {
    const findings = its.map(({ finding }) => finding).sort((a, b) => b.costNs - a.costNs);
    const largest = item(findings, 0);
    if (thread === 0 || largest.facts.form !== 'serial') return findings;
    const all = restOf(context, contexts, thread, taken);
    for (const { costNs, savingNs } of findings) {
      all.costNs += costNs;
      all.spreadNs += savingNs;
    }
    const least = Math.max(severalPieces * largest.costNs, leastOfRun * model.elapsedNs);
    if (!isAlone && all.costNs >= least) return [ofThread(context, contexts, thread, its, all)];
    for (const { facts } of findings.slice(1)) if (facts.form === 'serial') facts.teamNs = null;
    if (all.costNs >= notablyMore * largest.costNs) largest.facts.inAll = all;
    return findings;
  });
}

/** All serial code of a thread as one finding, under the thread's name, with its largest pieces. */
function ofThread(
  context: FindingContext,
  contexts: Contexts,
  thread: number,
  its: readonly SerialPiece[],
  all: AloneFacts,
): Finding {
  const { model } = context;
  const sorted = [...its].sort((a, b) => b.finding.costNs - a.finding.costNs);
  const { finding } = item(sorted, 0);
  const joined = together(
    context,
    contexts,
    its.map(({ candidate }) => candidate),
  );
  const { stats, waited } = candidateOf(context, joined);
  const id = shownId(model, thread);
  const largest = sorted
    .filter((one, k) => k < named && one.finding.costNs >= leastNamed * all.costNs)
    .map(({ finding: { entity, costNs } }) => ({ entity, costNs }));
  return findingOf(model, {
    entity: id,
    kind: 'serial',
    change: 'create-parallelism',
    costNs: all.costNs,
    savingNs: all.spreadNs,
    processorUse: processorUse(model, stats),
    facts: {
      ...(finding.facts as Extract<Finding['facts'], { form: 'serial' }>),
      callers: [],
      itself: false,
      waiting: waitingAt(waited),
      loop: null,
      parts: [],
      spreadNs: all.spreadNs,
      smaller: [],
      allNs: all.costNs,
      inAll: null,
      pieces: largest,
    },
    related: [
      thread,
      ...its.flatMap((one) => [one.finding.entity, ...one.finding.related]),
      ...(waited ? [waited.object] : []),
    ],
  });
}
