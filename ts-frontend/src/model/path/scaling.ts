/** What work and span indicate about other numbers of processors (docs/reference/path.md, "What limits it"). Pure. */
import { item } from '../profile/columns.js';
import type { LockHold, SpanCaller, SpanEntity, SpanSite } from './span-rows.js';
import type { Prediction } from './prediction.js';

/** Twice as many processors, with threads for them, would take less time. */
interface MoreHelp {
  form: 'more-processors-help';
  processors: number; // twice the processors of the run
  savesNs: number; // share of the predicted time on the processors of the run
  share: number;
}
/** More processors would not help: the span limits the run. */
interface SpanLimits {
  form: 'span-limits';
  processors: number;
  savesNs: number;
  share: number;
  parallelism: number; // work / typical span
  // the procedure with most of the span in itself, and the span if that took no time, if it was computed; null: no
  // procedure stands out
  code: {
    entity: number;
    selfNs: number;
    share: number;
    freeSpanNs: number | null;
    callers: SpanCaller[]; // what called it there, if that is a fifth of its time or more
  } | null;
}
/** One lock is held for so long that it limits the run, in whatever order threads acquire it. */
interface LockLimits {
  form: 'lock-limits';
  entity: number;
  holdNs: number;
  speedup: number; // work / holdNs: an upper bound of the speed-up over one processor, for any number of processors
}
/** Spawned calls do little work compared with the cost of moving them to another processor. */
interface FineGrain {
  form: 'fine-grain';
  site: number; // index into WorkSpan.sites
  calls: number;
  meanWorkNs: number; // work of the call itself, without what it spawned there
  burdenNs: number; // what hand-overs add to the span
}
export type Scaling = MoreHelp | SpanLimits | LockLimits | FineGrain;

const worthwhile = 0.1; // least share of the predicted time on the existing processors that is worthwhile
const standsOut = 0.2; // least share of the span that stands out
const fine = 1.5; // least burdened span / span that indicates too fine a grain

export interface ScalingInput {
  processors: number;
  workNs: number;
  spanNs: number;
  typicalSpanNs: number | null;
  burdenedSpanNs: number | null;
  spanIsSure: boolean; // false: what is not seen may make it longer
  prediction: readonly Prediction[];
  procedures: readonly SpanEntity[]; // self time only, longest on the span first
  sites: readonly SpanSite[];
  locks: readonly LockHold[]; // longest first
  freeSpanOf: (entity: number) => number | null; // the span if the entity took no time; null: not computed
  callersOf: (entity: number) => SpanCaller[];
}

/** All facts, the most important one first. */
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
  if (gain.share >= worthwhile) return input.spanIsSure ? [{ form: 'more-processors-help', ...gain }] : [];
  const spanNs = input.typicalSpanNs ?? input.spanNs;
  if (lockLimits(input).some(({ holdNs }) => holdNs > spanNs)) return []; // then the lock limits the run, not the span
  return [{ form: 'span-limits', ...gain, parallelism: workNs / spanNs, code: longest(input) }];
}

/** The procedure that has most of the span in itself. */
function longest({ procedures, spanNs, freeSpanOf, callersOf }: ScalingInput): SpanLimits['code'] {
  const [first, ...others] = procedures;
  if (first === undefined) return null;
  const most = others.reduce((best, row) => (row.onSpanSelfNs > best.onSpanSelfNs ? row : best), first);
  const share = most.onSpanSelfNs / spanNs;
  const { entity, onSpanSelfNs: selfNs } = most;
  return share >= standsOut
    ? { entity, selfNs, share, freeSpanNs: freeSpanOf(entity), callers: callersOf(entity) }
    : null;
}

/** The lock that would limit the run on at most twice the processors, if any. */
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
