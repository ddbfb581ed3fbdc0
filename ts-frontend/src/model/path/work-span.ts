/**
 * Work and span of a run (docs/reference/path.md, "Work and span"): how much work there was, how long it takes on
 * unlimited processors, what both consist of, and predictions for other numbers of processors. Pure.
 */
import { f64, item, u8 } from '../profile/columns.js';
import { State } from '../profile/raw-profile.js';
import type { Entity, Model } from '../result/types.js';
import { predictions, type Prediction } from './prediction.js';
import { scalingOf, type Scaling } from './scaling.js';
import { slackOf, type Slack } from './slack.js';
import {
  callersOnSpan,
  entitiesOf,
  locksOf,
  sitesOf,
  type LockHold,
  type SpanEntity,
  type SpanSite,
} from './span-rows.js';
import { isMuchUnseen, unseenOrderOf, type UnseenOrder } from './unseen-order.js';
import { freeOf, whatIfsOf, type WhatIf } from './what-if.js';

/** What a report says of work and span. */
export interface WorkSpanTotals {
  workNs: number;
  spanNs: number;
  burdenedSpanNs: number | null; // null: the program did not end normally
  typicalSpanNs: number | null;
  parallelism: number; // workNs / spanNs
  unendedNs: number; // processor time that is in no strand: threads that reached no event (plain pthread programs)
  unseenOrder: UnseenOrder; // what orders strands, but is not seen to
  cpuWaitsOut: boolean; // true: waits for CPUs are in neither; false: they are in both
}

export interface WorkSpan extends WorkSpanTotals {
  asideNs: number; // the package's own work, or OpenMP's library's while threads wait there; which is in neither
  // waits for CPUs, in neither work nor span; null: included in both, or not known (pthread programs)
  cpuWaitNs: number | null;
  strands: number;
  lostCrumbs: number;
  unseenNs: number; // part of the span in pieces too short to be observed
  entities: SpanEntity[]; // longest on the span first
  sites: SpanSite[]; // most work first
  locks: LockHold[]; // longest first
  prediction: Prediction[]; // by number of processors; empty: too much processor time is in no strand
  scaling: Scaling[]; // what limits the run on other numbers of processors
  whatIf: WhatIf[]; // in the order of the questions
  slack: Slack[]; // most slack first
}

/** If more than this share of the processor time is in no strand, the rest does not allow predictions. */
const tooMuchUnended = 0.1;

/** Busy waiting is not counted as work, nor what OpenMP's library does while a thread waits there. */
function unendedOf({ raw, cpuWait }: Model): number {
  if (raw.head.publisher !== 'pthread') return 0;
  let spinningNs = 0;
  for (let k = 0; k < raw.tuples.ns.length; k++)
    if (u8(raw.tuples.state, k) === State.spinning) spinningNs += f64(raw.tuples.ns, k);
  return Math.max(0, cpuWait.runNs - raw.head.workNs - Math.max(spinningNs, raw.head.asideNs));
}

/** null: work and span were not recorded, or the program ended before the first strand did. */
export function workSpanTotalsOf(model: Model): WorkSpanTotals | null {
  const { head } = model.raw;
  if (!head.spanRecorded || head.spanNs <= 0 || head.workNs <= 0) return null;
  return {
    workNs: head.workNs,
    spanNs: head.spanNs,
    burdenedSpanNs: head.burdenedSpanNs > 0 ? head.burdenedSpanNs : null,
    typicalSpanNs: head.typicalSpanNs > 0 ? head.typicalSpanNs : null,
    parallelism: head.workNs / head.spanNs,
    unendedNs: unendedOf(model),
    unseenOrder: unseenOrderOf(model),
    cpuWaitsOut: head.cpuWaitsOut,
  };
}

/** Whether so much processor time is in no strand that the rest does not allow predictions. */
export const isMostlyUnended = ({ unendedNs }: WorkSpanTotals, { cpuWait }: Model): boolean =>
  unendedNs > tooMuchUnended * cpuWait.runNs;

/** null: as of workSpanTotalsOf. */
export function workSpanOf(model: Model): WorkSpan | null {
  const totals = workSpanTotalsOf(model);
  if (totals === null) return null;
  const { head } = model.raw;
  const { entities, unseenNs } = entitiesOf(model);
  const sites = sitesOf(model, entities);
  const locks = locksOf(model);
  const { workNs, spanNs, typicalSpanNs, burdenedSpanNs } = totals;
  const lengths = { workNs, spanNs, typicalSpanNs, burdenedSpanNs };
  const leastNs = Math.max(typicalSpanNs ?? spanNs, locks[0]?.holdNs ?? 0);
  const levels = { levels: model.raw.levels.ns, levelNs: head.levelNs };
  const prediction = isMostlyUnended(totals, model) ? [] : predictions({ workNs, spanNs, leastNs, ...levels });
  const whatIf = whatIfsOf({ model, ...lengths, entities, locks, sites, prediction });
  const procedures = entities.filter(({ entity }) => isProcedure(item(model.entities, entity)));
  return {
    ...totals,
    asideNs: head.asideNs,
    cpuWaitNs: head.cpuWaitsOut && head.publisher === 'threadlib' ? head.waitedNs : null,
    strands: head.strands,
    lostCrumbs: head.spanLost,
    unseenNs,
    entities,
    sites,
    locks,
    prediction,
    scaling: scalingOf({
      ...lengths,
      processors: model.processors,
      spanIsSure: !isMuchUnseen(totals.unseenOrder, model),
      prediction,
      procedures,
      sites,
      locks,
      freeSpanOf: (entity) => freeOf(model, whatIf, entity)?.spanNs ?? null,
      callersOf: (entity) => callersOnSpan(model, entity),
    }),
    whatIf,
    slack: slackOf(model),
  };
}

const muchOfSpan = 0.2;
const muchBeside = 1.3;

/**
 * Whether threads created at one place share much work, part of which is on the span: in a plain pthread program the
 * span is that of the threads, so that more threads may make it shorter.
 */
export const sharesWork = ({ sites, spanNs }: WorkSpan): boolean =>
  sites.some(
    ({ topCount, topWorkNs, onSpanNs }) =>
      topCount > 1 && onSpanNs !== null && onSpanNs >= muchOfSpan * spanNs && topWorkNs >= muchBeside * onSpanNs,
  );

const isProcedure = ({ id, kind, group }: Entity): boolean => id !== 0 && group === 0 && kind === 'procedure';
