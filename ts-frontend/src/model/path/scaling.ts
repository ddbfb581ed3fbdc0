/**
 * What work and span say about other numbers of processors (docs/reference/path.md, "What limits it"). Pure.
 */
import { item } from '../profile/columns.js';
import type { LockHold, SpanEntity, SpanSite } from './span-rows.js';
import type { Prediction } from './prediction.js';

/** Twice the processors, with threads for them, take less time. */
export interface MoreHelp {
  form: 'more-processors-help';
  processors: number; // twice those of the run
  savesNs: number; // of the predicted time on those of the run
  share: number;
}
/** They do not: the span is what is left. */
export interface SpanLimits {
  form: 'span-limits';
  processors: number;
  savesNs: number;
  share: number;
  parallelism: number; // work / typical span
  // most of the span itself, and the span if that took no time, where that was asked; null: nothing stands out
  code: { entity: number; selfNs: number; share: number; freeSpanNs: number | null } | null;
}
/** One lock is held for so long that it limits the run, whatever the order in which threads take it. */
export interface LockLimits {
  form: 'lock-limits';
  entity: number;
  holdNs: number;
  speedup: number; // work / holdNs: no number of processors gains more over one
}
/** What is spawned is small beside what it takes to hand it to another processor. */
export interface FineGrain {
  form: 'fine-grain';
  site: number; // index into WorkSpan.sites
  calls: number;
  meanWorkNs: number; // of a call itself, without what it spawned there
  burdenNs: number; // what handing over adds to the span
}
export type Scaling = MoreHelp | SpanLimits | LockLimits | FineGrain;

const worthwhile = 0.1; // of the time on the processors that there are
const standsOut = 0.2; // of the span
const fine = 1.5; // burdened span / span

export interface ScalingInput {
  processors: number;
  workNs: number;
  spanNs: number;
  typicalSpanNs: number | null;
  burdenedSpanNs: number | null;
  prediction: readonly Prediction[];
  procedures: readonly SpanEntity[]; // code alone, most on the span first
  sites: readonly SpanSite[];
  locks: readonly LockHold[]; // longest first
  freeSpanOf: (entity: number) => number | null; // span if it took no time; null: not asked
}

/** What to read first, first. */
export function scalingOf(input: ScalingInput): Scaling[] {
  return [...lockLimits(input), ...moreProcessors(input), ...fineGrain(input)];
}

const at = (prediction: readonly Prediction[], processors: number): Prediction | undefined =>
  prediction.find((row) => row.processors >= processors);

function moreProcessors(input: ScalingInput): Scaling[] {
  const { prediction, workNs } = input;
  const now = at(prediction, input.processors);
  const twice = at(prediction, 2 * input.processors);
  if (now === undefined || twice === undefined || now.ns <= 0) return [];
  const savesNs = now.ns - twice.ns;
  const gain = { processors: twice.processors, savesNs, share: savesNs / now.ns };
  if (gain.share >= worthwhile) return [{ form: 'more-processors-help', ...gain }];
  const spanNs = input.typicalSpanNs ?? input.spanNs;
  if (lockLimits(input).some(({ holdNs }) => holdNs > spanNs)) return []; // it is the lock, not the span
  return [{ form: 'span-limits', ...gain, parallelism: workNs / spanNs, code: longest(input) }];
}

/** The procedure that most of the span is in itself. */
function longest({ procedures, spanNs, freeSpanOf }: ScalingInput): SpanLimits['code'] {
  const [first, ...others] = procedures;
  if (first === undefined) return null;
  const most = others.reduce((best, row) => (row.onSpanSelfNs > best.onSpanSelfNs ? row : best), first);
  const share = most.onSpanSelfNs / spanNs;
  const { entity, onSpanSelfNs: selfNs } = most;
  return share >= standsOut ? { entity, selfNs, share, freeSpanNs: freeSpanOf(entity) } : null;
}

/** One that would limit the run on at most twice the processors. */
function lockLimits({ locks, workNs, processors }: ScalingInput): LockLimits[] {
  const [first] = locks;
  if (first === undefined || first.holdNs < workNs / (2 * processors)) return [];
  return [{ form: 'lock-limits', entity: first.entity, holdNs: first.holdNs, speedup: workNs / first.holdNs }];
}

function fineGrain({ sites, spanNs, burdenedSpanNs }: ScalingInput): Scaling[] {
  if (burdenedSpanNs === null || burdenedSpanNs <= fine * spanNs || sites.length === 0) return [];
  const site = sites.reduce((best, row, k) => (row.count > item(sites, best).count ? k : best), 0);
  const { count, topWorkNs } = item(sites, site);
  if (count === 0) return [];
  return [{ form: 'fine-grain', site, calls: count, meanWorkNs: topWorkNs / count, burdenNs: burdenedSpanNs - spanNs }];
}
