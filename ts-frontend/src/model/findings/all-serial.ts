/**
 * Serial code of one thread, of which the procedures are pieces: if no piece is most of it, it is one finding, about
 * the thread (docs/reference/findings.md, "Code"). Pure functions.
 */
import { f64, item, u32, u8 } from '../profile/columns.js';
import { isBusy } from '../metrics/sums.js';
import { shareAt, type Contexts } from '../evidence/code/loss-contexts.js';
import { findingOf, shownId, type FindingContext } from '../evidence/context.js';
import type { AloneFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';
import { serial } from './serial.js';
import { candidateOf, isOutermost, processorUse, together, waitingAt, type Candidate } from './candidate.js';

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
/** Of a thread that is alone for nearly the whole run, this many times is enough. */
const fewPieces = 5 / 3,
  nearlyAll = 0.75;
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
    if (u32(tuples.thread, k) !== thread || !isBusy(u8(tuples.state, k)) || taken[u32(tuples.stack, k)] === 1) continue;
    const { alone } = shareAt(f64(contexts.busy, k), model.processors);
    if (alone === 0) continue;
    rest.costNs += alone * f64(tables.weights, k) * f64(contexts.unexplained, k);
    rest.spreadNs += f64(contexts.lost, k);
  }
  return rest;
}

const hasOneThread = ({ entities }: Model): boolean =>
  entities.reduce((sum, { thread, instances }) => sum + (thread === null ? 0 : Math.max(1, instances)), 0) <= 1;

/** Pieces of one procedure, which threads reach by several paths, are one piece. */
function joinPaths(context: FindingContext, contexts: Contexts, its: readonly SerialPiece[]): SerialPiece[] {
  const byEntity = new Map<number, SerialPiece[]>();
  for (const piece of its) {
    const { entity } = piece.finding;
    byEntity.set(entity, [...(byEntity.get(entity) ?? []), piece]);
  }
  return [...byEntity.values()].map((same) => {
    const [first] = same;
    if (!first || same.length === 1) return item(same, 0);
    const joined = together(
      context,
      contexts,
      same.map(({ candidate }) => candidate),
    );
    const self = same.every(({ candidate }) => candidate.context.self);
    const candidate = candidateOf(context, {
      ...joined,
      context: { ...joined.context, members: joined.members, self },
    });
    return { ...first, candidate, finding: serial(context, contexts, candidate) };
  });
}

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
  const byThread = new Map<number, SerialPiece[]>();
  for (const piece of pieces) byThread.set(piece.thread, [...(byThread.get(piece.thread) ?? []), piece]);
  return [...byThread].flatMap(([thread, its]) => {
    const joined = thread === 0 ? its : joinPaths(context, contexts, its);
    const findings = joined.map(({ finding }) => finding).sort((a, b) => b.costNs - a.costNs);
    const largest = item(findings, 0);
    if (thread === 0 || largest.facts.form !== 'serial') return findings;
    const all = restOf(context, contexts, thread, taken);
    for (const { costNs, savingNs } of findings) {
      all.costNs += costNs;
      all.spreadNs += savingNs;
    }
    const isAlone = all.costNs >= nearlyAll * model.elapsedNs;
    const least = Math.max((isAlone ? fewPieces : severalPieces) * largest.costNs, leastOfRun * model.elapsedNs);
    if (all.costNs >= least) return [ofThread(context, contexts, thread, joined, all)];
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
  // The thread's first procedure calls all of it: what is left there, in no procedure of its own, can't be left out.
  const inner = sorted.filter(({ candidate: { context: its } }) => its.self || !isOutermost(context, its.entity));
  const largest = (inner.length > 0 ? inner : sorted)
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
      only: hasOneThread(model),
      backgroundNs: stats.background,
    },
    related: [
      thread,
      ...its.flatMap((one) => [one.finding.entity, ...one.finding.related]),
      ...(waited ? [waited.object] : []),
    ],
  });
}
