/**
 * Comparison of two profiles: what each procedure, object and thread costs in each of them, and which findings are
 * gone, unchanged or new. Rules and formulas: docs/reference/compare.md. Pure.
 */
import { defined, item } from '../profile/columns.js';
import { fewSnapshots, independentSnapshots, shareInterval } from '../metrics/confidence.js';
import { placeOf } from '../metrics/naming.js';
import type { Entity, Finding, Interval, Model } from '../result/types.js';
import { movedObjects } from './moved-objects.js';

/** An entity of either run, or of both. */
export interface EntityChange {
  kind: Entity['kind'];
  name: string;
  before: Entity | null;
  after: Entity | null;
  changeNs: number; // NPT after - NPT before; a missing entity counts as 0
  ci95: Interval; // of changeNs, due to sampling only
  certain: boolean; // whether the interval excludes 0
}
export interface FindingChange {
  before: Finding | null;
  after: Finding | null;
}
export interface Comparison {
  before: Model;
  after: Model;
  elapsedChangeNs: number;
  entities: EntityChange[]; // largest change first
  findings: FindingChange[];
  cautions: Caution[];
}

/** Reasons why the two are hard to compare. */
export type Caution =
  | { form: 'programs'; before: string; after: string }
  | { form: 'processors'; before: number; after: number }
  | { form: 'compensation' } // the cost of hooks was subtracted in only one of them
  | { form: 'few-snapshots'; which: 'first' | 'second'; snapshots: number }
  | { form: 'not-to-the-end'; which: 'first' | 'second' };

/**
 * Entities correspond if their kind, name and (for procedures) file are equal. Lines are ignored, because they move
 * when a program is changed; for objects that are named after one, see moved-objects.ts.
 */
function keyOf({ kind, name, file }: Entity): string {
  return [kind, name, kind === 'procedure' ? placeOf(file, 0) : ''].join('\0');
}

/** Entities by key; among several with the same key (procedures with the same name and file), the one with most NPT. */
function byKey(model: Model): Map<string, Entity> {
  const found = new Map<string, Entity>();
  for (const id of model.ranking) {
    const entity = item(model.entities, id);
    const key = keyOf(entity);
    if (!found.has(key)) found.set(key, entity);
  }
  return found;
}

/**
 * Interval of the difference of two independent estimates, from the intervals of both (Newcombe 1998, Statistics in
 * Medicine 17:873, method 10). The distance of each end from the difference is the root of the sum of squares of the
 * distances of the corresponding ends from their estimates.
 */
function differenceInterval(a: Estimate, b: Estimate): Interval {
  const below = (b.ns - b.lowNs) ** 2 + (a.highNs - a.ns) ** 2;
  const above = (b.highNs - b.ns) ** 2 + (a.ns - a.lowNs) ** 2;
  return { lowNs: b.ns - a.ns - Math.sqrt(below), highNs: b.ns - a.ns + Math.sqrt(above) };
}

interface Estimate extends Interval {
  ns: number;
}
/** An entity that was never seen has an NPT of 0, but still an interval. */
function estimate(model: Model, entity: Entity | null): Estimate {
  if (entity !== null) return { ns: entity.nptNs, ...entity.ci95 };
  return { ns: 0, lowNs: 0, highNs: shareInterval(0, independentSnapshots(model.head)).high * model.elapsedNs };
}

export function compare(before: Model, after: Model): Comparison {
  const old = byKey(before),
    here = byKey(after),
    moved = movedObjects([before, old], [after, here]);
  const now = new Map([...here].map(([key, entity]) => [moved.get(key) ?? key, entity]));
  const entities: EntityChange[] = [];
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const a = old.get(key) ?? null,
      b = now.get(key) ?? null;
    const ci95 = differenceInterval(estimate(before, a), estimate(after, b));
    const { kind, name } = defined(b ?? a);
    entities.push({
      kind,
      name,
      before: a,
      after: b,
      changeNs: (b?.nptNs ?? 0) - (a?.nptNs ?? 0),
      ci95,
      certain: ci95.lowNs > 0 || ci95.highNs < 0,
    });
  }
  entities.sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs) || (a.name < b.name ? -1 : 1));
  return {
    before,
    after,
    elapsedChangeNs: after.elapsedNs - before.elapsedNs,
    entities,
    findings: compareFindings(before, after, moved),
    cautions: cautionsOf(before, after),
  };
}

/** A finding is unchanged if both profiles have one of its kind about the same entity. */
function compareFindings(before: Model, after: Model, moved: ReadonlyMap<string, string>): FindingChange[] {
  const keyIn =
    (model: Model) =>
    ({ kind, entity }: Finding): string => {
      const key = entity === 0 ? '' : keyOf(item(model.entities, entity));
      return [kind, (model === after ? moved.get(key) : undefined) ?? key].join('\0');
    };
  const left = new Map(after.findings.map((finding) => [keyIn(after)(finding), finding]));
  const rows: FindingChange[] = before.findings.map((finding) => {
    const key = keyIn(before)(finding);
    const same = left.get(key) ?? null;
    left.delete(key);
    return { before: finding, after: same };
  });
  return [...rows, ...[...left.values()].map((finding) => ({ before: null, after: finding }))];
}

function cautionsOf(before: Model, after: Model): Caution[] {
  const cautions: Caution[] = [];
  if (before.program !== after.program)
    cautions.push({ form: 'programs', before: before.program, after: after.program });
  if (before.processors !== after.processors)
    cautions.push({ form: 'processors', before: before.processors, after: after.processors });
  if (before.compensation.applied !== after.compensation.applied) cautions.push({ form: 'compensation' });
  for (const [which, model] of [
    ['first', before],
    ['second', after],
  ] as const) {
    const { samples, head } = model;
    if (samples < fewSnapshots) cautions.push({ form: 'few-snapshots', which, snapshots: samples });
    if (head.status === 'recording' || head.endReason === 'interrupted' || head.endReason === 'time')
      cautions.push({ form: 'not-to-the-end', which });
  }
  return cautions;
}
