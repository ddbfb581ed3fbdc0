/**
 * Work and span of a run (docs/reference/path.md, "Work and span"): how much there was to do, how long it takes however
 * many processors do it, what that consists of, and how long other numbers of processors would take. Pure.
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
  burdenedSpanNs: number | null; // null: the program had not ended in order
  typicalSpanNs: number | null;
  parallelism: number; // workNs / spanNs
  asideNs: number; // the package's own work, in neither
  cpuWaitNs: number | null; // waits for CPUs, in neither; null: in both, or not known (pthread programs)
  unendedNs: number; // processor time that is in no strand: of threads that came to no event (plain pthread programs)
  strands: number;
  lostCrumbs: number;
  unseenNs: number; // of the span: too short to be seen
  cpuWaitsOut: boolean; // waits for CPUs are in neither; false: they are in both
  entities: SpanEntity[]; // most on the span first
  sites: SpanSite[]; // most work first
  locks: LockHold[]; // longest first
  prediction: Prediction[]; // by processors; none: too much is in no strand
  scaling: Scaling[]; // what limits the run on other numbers of processors
  whatIf: WhatIf[]; // as they were asked
  slack: Slack[]; // most first
}

/** More than that of the processor time is in no strand: then the rest says nothing about other processors. */
export const tooMuchUnended = 0.1;

/** Busy waiting is none. */
function unendedOf({ raw, cpuWait }: Model): number {
  if (raw.head.publisher !== 'pthread') return 0;
  let spinningNs = 0;
  for (let k = 0; k < raw.tuples.ns.length; k++)
    if (u8(raw.tuples.state, k) === State.spinning) spinningNs += f64(raw.tuples.ns, k);
  return Math.max(0, cpuWait.runNs - raw.head.workNs - spinningNs);
}

/** null: work and span were not recorded, or the program ended before there was any. */
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
