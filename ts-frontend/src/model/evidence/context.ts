/**
 * What all searches for findings share: the model with its tables, thresholds, and the common fields of findings. Pure
 * functions.
 */
import { item, u32, u8 } from '../profile/columns.js';
import type { Levels } from './activity-levels.js';
import type { WaitOverlap } from './wait-overlap.js';
import type { Tables } from '../metrics/tables.js';
import type { ThreadRoles } from '../metrics/thread-roles.js';
import { isLibraryCode, isRuntime, type Own } from './code-origin.js';
import type { Advice } from '../result/finding-kinds.js';
import type { Entity, Finding, Model } from '../result/types.js';

/** System time of short-lived threads that samples do not show, so that it looks like work of the program. */
export interface Unseen {
  ns: number; // processor time
  shareOf: (tuple: number) => number; // the share of a tuple's time that is what its sample showed
}

/** Threads of a run-time that nobody waits for (background.ts). */
export interface Background {
  threads: ReadonlySet<number>;
  ns: number; // their processor time
  /** The processors that would have been busy without these threads, on average while the tuple's code ran. */
  busyOf: (tuple: number) => number;
}

/** Code that keeps the processors busy, compared with the other findings: what decides whether it comes first. */
export interface CodeCompared {
  entity: number; // the code
  ns: number; // what counts of it
  othersNs: number; // of the finding that comes closest; it comes first if it has less
}

export interface FindingContext {
  model: Model;
  tables: Tables;
  levels: Levels;
  waitOverlap: WaitOverlap;
  own: Own;
  roles: ThreadRoles;
  unseen: Unseen;
  background: Background;
  /** The least cost or saving in elapsed time that is reported: less is noise, or not worth a change. */
  least: number;
  /** By tuple: 1 if a finding about work of one kind, wherever it happens, explains it. */
  covered: Uint8Array;
  /** By the search for findings; null: there is no such code, or its time is not trusted. */
  compared: CodeCompared | null;
}

/** The least share of the elapsed time that is reported, and the number of observations that a finding needs. */
export const leastShare = 0.01;
export const leastObservations = 10;
/** Serial code is reported from a quarter of that share on, because its share grows with the number of processors. */
export const leastSerial = 0.25;
/**
 * Code to make faster comes first if it costs this many times the best other saving: 2 % less of it then saves as much.
 */
export const muchMore = 50;

/** Findings name a group of entities of the same name rather than one of its members. */
export function shownId(model: Model, id: number): number {
  const group = model.entities[id]?.group ?? 0;
  return group !== 0 ? group : id;
}

/**
 * The procedure of the C library in which a stack of the program ends; null if none. Of Go's, that which says what call
 * it is.
 */
export function systemCall({ model, tables, own }: FindingContext, node: number): Entity | null {
  const { entity, parent } = tables.stacks;
  const callAt = (n: number): Entity | null => {
    const its = item(model.entities, u32(entity, n));
    const isCall = isRuntime(its) || (u8(own.hidden, n) === 1 && isLibraryCode(its));
    return its.kind === 'procedure' && isCall ? its : null;
  };
  const inner = callAt(node);
  let call = inner;
  for (let n = node; call?.style === 'go-call'; call = callAt(n)) n = u32(parent, n);
  return call ?? inner;
}

export function processorUseOf(P: number, busy: number, spinning: number): Finding['processorUse'] {
  return { busy, spinning, idle: Math.max(0, P - busy - spinning) };
}

/** On average over the whole run. */
export const processorUseOfRun = ({ processors, balance, elapsedNs }: Model): Finding['processorUse'] =>
  processorUseOf(processors, balance.meanBusy, balance.spinningNs / Math.max(1, elapsedNs));

export const noAdvice: Advice = { pieces: null, threads: null };
export const largerPieces: Advice = { pieces: 'larger', threads: null };

/**
 * The result of a search; intervals, bounds and cautions are added to all findings in the same way later
 * (candidate.ts).
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
