/** What the searches for limits share: the model and its tables, thresholds, and what a finding begins with. Pure. */
import { item, u32, u8 } from '../profile/columns.js';
import type { Levels } from './activity-levels.js';
import type { WaitOverlap } from './wait-overlap.js';
import type { Tables } from '../metrics/tables.js';
import type { ThreadRoles } from '../metrics/thread-roles.js';
import type { Own } from './code-origin.js';
import type { Advice, Entity, Finding, Model } from '../result/types.js';

export interface FindingContext {
  model: Model;
  tables: Tables;
  levels: Levels;
  waitOverlap: WaitOverlap;
  own: Own;
  roles: ThreadRoles;
  /** A limit that costs or saves less elapsed time than this is not reported: it is noise, or not worth a change. */
  least: number;
  /** By tuple: 1 where a finding about work of one sort, wherever it is, explains it. */
  covered: Uint8Array;
}

/** Share of the elapsed time below which nothing is reported; and observations that it must rest on. */
export const leastShare = 0.01;
export const leastObservations = 10;
/**
 * Serial code is reported from a quarter of that: its share of the elapsed time grows with the number of processors.
 */
export const leastSerial = 0.25;
/** So many times what every other finding saves puts the code to make faster first: then 2 % of it are as much. */
export const muchMore = 50;

/** Findings name groups of namesakes rather than one of them. */
export function shownId(model: Model, id: number): number {
  const group = model.entities[id]?.group ?? 0;
  return group !== 0 ? group : id;
}

/** The procedure of the C library in which a stack of the program ends, null: none. */
export function systemCall({ model, tables, own }: FindingContext, node: number): Entity | null {
  const entity = item(model.entities, u32(tables.stacks.entity, node));
  return u8(own.hidden, node) && entity.kind === 'procedure' ? entity : null;
}

export function processorUseOf(P: number, busy: number, spinning: number): Finding['processorUse'] {
  return { busy, spinning, idle: Math.max(0, P - busy - spinning) };
}

export const noAdvice: Advice = { pieces: null, threads: null };
export const largerPieces: Advice = { pieces: 'larger', threads: null };

/**
 * What a search for limits finds out; intervals, bounds and doubts are the same for all, and come later (candidate.ts).
 */
export type Found = Pick<Finding, 'entity' | 'kind' | 'change' | 'facts' | 'costNs' | 'savingNs' | 'processorUse'> &
  Partial<Pick<Finding, 'advice' | 'related' | 'alternatives'>>;

export function findingOf(model: Model, found: Found): Finding {
  const nothingKnown = { lowNs: 0, highNs: model.elapsedNs };
  return {
    advice: noAdvice,
    alternatives: [],
    ...found,
    name: item(model.entities, found.entity).name,
    savingNs: Math.min(found.costNs, found.savingNs),
    related: [...new Set(found.related)].filter((id) => id !== found.entity),
    costCi95: nothingKnown,
    savingCi95: nothingKnown,
    bound: null,
    othersMayCause: false,
  };
}
