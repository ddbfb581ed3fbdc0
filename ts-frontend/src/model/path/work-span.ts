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
import { entitiesOf, locksOf, sitesOf, type LockHold, type SpanEntity, type SpanSite } from './span-rows.js';
import { freeOf, whatIfsOf, type WhatIf } from './what-if.js';

export interface WorkSpan {
  workNs: number;
  spanNs: number;
  burdenedSpanNs: number | null; // null: the program did not end normally
  typicalSpanNs: number | null;
  parallelism: number; // workNs / spanNs
  asideNs: number; // the package's own work, which is in neither
  // waits for CPUs, in neither work nor span; null: included in both, or not known (pthread programs)
  cpuWaitNs: number | null;
  unendedNs: number; // processor time that is in no strand: threads that reached no event (plain pthread programs)
  strands: number;
  lostCrumbs: number;
  unseenNs: number; // part of the span in pieces too short to be observed
  cpuWaitsOut: boolean; // true: waits for CPUs are in neither; false: they are in both
  entities: SpanEntity[]; // longest on the span first
  sites: SpanSite[]; // most work first
  locks: LockHold[]; // longest first
  prediction: Prediction[]; // by number of processors; empty: too much processor time is in no strand
  scaling: Scaling[]; // what limits the run on other numbers of processors
  whatIf: WhatIf[]; // in the order of the questions
  slack: Slack[]; // most slack first
}

/** If more than this share of the processor time is in no strand, the rest does not allow predictions. */
export const tooMuchUnended = 0.1;

/** Busy waiting is not counted as work. */
function unendedOf({ raw, cpuWait }: Model): number {
  if (raw.head.publisher !== 'pthread') return 0;
  let spinningNs = 0;
  for (let k = 0; k < raw.tuples.ns.length; k++)
    if (u8(raw.tuples.state, k) === State.spinning) spinningNs += f64(raw.tuples.ns, k);
  return Math.max(0, cpuWait.runNs - raw.head.workNs - spinningNs);
}

/** null: work and span were not recorded, or the program ended before the first strand did. */
export function workSpanOf(model: Model): WorkSpan | null {
  const { head } = model.raw;
  if (!head.spanRecorded || head.spanNs <= 0 || head.workNs <= 0) return null;
  const { entities, unseenNs } = entitiesOf(model);
  const sites = sitesOf(model, entities);
  const locks = locksOf(model);
  const { workNs, spanNs } = head;
  const lengths = {
    workNs,
    spanNs,
    burdenedSpanNs: head.burdenedSpanNs > 0 ? head.burdenedSpanNs : null,
    typicalSpanNs: head.typicalSpanNs > 0 ? head.typicalSpanNs : null,
  };
  const leastNs = Math.max(lengths.typicalSpanNs ?? spanNs, locks[0]?.holdNs ?? 0);
  const unendedNs = unendedOf(model);
  const isKnown = unendedNs <= tooMuchUnended * model.cpuWait.runNs;
  const levels = { levels: model.raw.levels.ns, levelNs: head.levelNs };
  const prediction = isKnown ? predictions({ workNs, spanNs, leastNs, ...levels }) : [];
  const whatIf = whatIfsOf({ model, ...lengths, entities, locks, sites, prediction });
  const procedures = entities.filter(({ entity }) => isProcedure(item(model.entities, entity)));
  return {
    ...lengths,
    parallelism: workNs / spanNs,
    asideNs: head.asideNs,
    cpuWaitNs: head.cpuWaitsOut && head.publisher === 'threadlib' ? head.waitedNs : null,
    unendedNs,
    strands: head.strands,
    lostCrumbs: head.spanLost,
    unseenNs,
    cpuWaitsOut: head.cpuWaitsOut,
    entities,
    sites,
    locks,
    prediction,
    scaling: scalingOf({
      ...lengths,
      processors: model.processors,
      prediction,
      procedures,
      sites,
      locks,
      freeSpanOf: (entity) => freeOf(model, whatIf, entity)?.spanNs ?? null,
    }),
    whatIf,
    slack: slackOf(model),
  };
}

const isProcedure = ({ id, kind, group }: Entity): boolean => id !== 0 && group === 0 && kind === 'procedure';
