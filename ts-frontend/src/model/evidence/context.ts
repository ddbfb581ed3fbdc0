/** What the searches for limits share: the material, thresholds, and how a limit is told. Pure. */
import { formatCount, formatNs, formatShare } from '../wording/numbers.js';
import type { Levels } from './activity-levels.js';
import type { Meanwhile } from './wait-overlap.js';
import type { Working } from '../build-model.js';
import type { Own } from './code-origin.js';
import { inlinedText, placeOf, saysItsKind } from '../metrics/naming.js';
import { briefly } from '../wording/short-names.js';
import type { Finding, Model } from '../types.js';

export interface Material {
  model: Model;
  working: Working;
  levels: Levels;
  meanwhile: Meanwhile;
  own: Own;
  /** A limit that costs or saves less elapsed time than this is not told: it is noise, or not worth a change. */
  least: number;
}

/** Share of the elapsed time below which nothing is reported; and observations that it must rest on. */
export const leastShare = 0.01;
export const leastObservations = 10;
/** Serial code is told from a quarter of that: its share of the elapsed time grows with the number of processors. */
export const leastSerial = 0.25;
/** So many times more worth than every other finding puts the code to make faster first. */
export const muchMore = 25;
/** Fewer snapshots than this: every finding says how sure it is. */
export const fewSnapshots = 100;

/** Findings name groups of namesakes rather than one of them. */
export function shownId(model: Model, id: number): number {
  const group = model.entities[id]?.group ?? 0;
  return group !== 0 ? group : id;
}

/** The procedure of the C library in which a stack of the program ends, '': none. */
export function systemCall({ model, working, own }: Material, node: number): string {
  const entity = model.entities[working.stacks.entity[node]!]!;
  return own.hidden[node] && entity.kind === 'procedure' ? entity.name : '';
}

export function title(model: Model, id: number): string {
  const entity = model.entities[id]!;
  if (id === 0) return `the program's code outside any procedure that is known`;
  if (entity.kind === 'procedure') {
    const place = `${placeOf(entity.file, entity.line)}${inlinedText(model, entity)}`.replace(/^, /, '');
    return place === '' ? briefly(entity.name) : `${briefly(entity.name)} (${place})`;
  }
  const many = entity.members.length > 1 ? `the ${entity.members.length} ${entity.kind}s ` : `${entity.kind} `;
  return saysItsKind(entity) ? entity.name : `${many}${entity.name}`;
}

/** What is charged to a lock itself. */
export function heldText(model: Model, id: number): string {
  return `What runs while ${title(model, id)} is held, outside any procedure called meanwhile`;
}

export function costs(model: Model, ns: number): string {
  return `${formatNs(ns)} of ${formatNs(model.elapsedNs)} (${formatShare(ns / model.elapsedNs)})`;
}

/** "1 of 18 processors was busy, 2 were spinning and 15 idle" */
export function meanwhileText(model: Model, meanwhile: Finding['meanwhile']): string {
  const { busy, spinning, idle } = meanwhile;
  const rest = [
    ...(spinning >= 0.05 ? [`${formatCount(spinning)} spinning`] : []),
    ...(idle >= 0.05 ? [`${formatCount(idle)} idle`] : []),
  ];
  const verb = formatCount(busy) === '1' ? 'was' : 'were';
  const head = model.processors === 1 ? `the processor ${busy >= 0.5 ? 'was' : 'was not'} busy` : `${formatCount(busy)} of ${model.processors} processors ${verb} busy`;
  return rest.length === 2 ? `${head}, ${rest.join(' and ')}` : [head, ...rest].join(' and ');
}

export function meanwhileOf(P: number, busy: number, spinning: number): Finding['meanwhile'] {
  return { busy, spinning, idle: Math.max(0, P - busy - spinning) };
}
