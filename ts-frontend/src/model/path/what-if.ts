/** "What if": work and span of the run if something took a different time (docs/reference/path.md, "What if"). Pure. */
import { f64, item, u32 } from '../profile/columns.js';
import { isLockKind } from '../profile/lock-kinds.js';
import { whatIfKinds, type WhatIfKind } from '../profile/abi.js';
import type { RawWhatIf } from '../profile/raw-profile.js';
import type { Model } from '../result/types.js';
import type { Prediction } from './prediction.js';
import type { LockHold, SpanEntity, SpanSite } from './span-rows.js';

/**
 * The basis of an answer. `exact`: lengths that were computed during the run. `sampled`: the procedure is called in
 * places without hooks, so only bounds are known. The others mean that there is no answer: `never-ran`: hooks would
 * have shown it; `unseen`: it has no hooks, and no snapshot shows it; `unknown`: no entity has that name.
 */
export type Basis = 'exact' | 'sampled' | 'never-ran' | 'unseen' | 'unknown';

/**
 * A place where threads are created: the start routine and the creator, each by name ('': not known) and as entity (0:
 * none known).
 */
interface Site {
  runs: string;
  start: number;
  creator: string;
  caller: number;
}

export interface WhatIf {
  name: string; // as the user wrote it; for a chosen place PROCEDURE@CREATOR
  kind: WhatIfKind;
  site: Site | null; // only for the kind `site`
  entity: number; // 0: none
  factor: number;
  basis: Basis;
  spanNs: number | null; // null: no answer; for `sampled`, the middle of the bounds
  lowNs: number | null; // bounds of spanNs; for `exact`, equal to it
  highNs: number | null;
  workNs: number | null;
  savesNs: number | null; // share of the span
  // the question was chosen at this time during the run, not asked; what threads did before is not scaled
  sinceNs: number | null;
  waited: boolean; // for a lock: whether any thread had to wait for it; for others true
  // bounds by work and span; the estimate is at the same relative position between them as that of the run
  prediction: Prediction[];
}

interface WhatIfInput {
  model: Model;
  workNs: number;
  spanNs: number;
  typicalSpanNs: number | null;
  entities: readonly SpanEntity[];
  locks: readonly LockHold[];
  sites: readonly SpanSite[];
  prediction: readonly Prediction[];
}

interface Lengths {
  basis: Basis;
  lowNs: number;
  highNs: number;
  workNs: number;
}

const kindOf = (number: number): WhatIfKind =>
  (Object.keys(whatIfKinds) as WhatIfKind[]).find((kind) => whatIfKinds[kind] === number) ?? 'none';

export function whatIfsOf(input: WhatIfInput): WhatIf[] {
  return input.model.raw.whatIf.filter(({ site, seen }) => site === 0 || seen).map((raw) => answer(input, raw));
}

function answer(input: WhatIfInput, raw: RawWhatIf): WhatIf {
  const chosen = raw.site !== 0;
  const kind = chosen ? 'site' : kindOf(raw.kind);
  const entity = kind === 'lock' ? lockCalled(input.model, raw.name) : raw.entity;
  const site = kind === 'site' ? (chosen ? siteOf(input, raw.site) : siteAsked(raw.name)) : null;
  const asked = {
    name: chosen && site !== null ? siteName(site) : raw.name,
    kind,
    site,
    entity,
    factor: raw.factor,
    sinceNs: chosen ? raw.sinceNs : null,
    waited: kind !== 'lock' || raw.seen,
  };
  const lengths = kind === 'lock' ? ofLock(raw, entity) : ofCode(input, raw, kind);
  if (typeof lengths === 'string')
    return {
      ...asked,
      basis: lengths,
      spanNs: null,
      lowNs: null,
      highNs: null,
      workNs: null,
      savesNs: null,
      prediction: [],
    };
  const spanNs = (lengths.lowNs + lengths.highNs) / 2;
  return {
    ...asked,
    ...lengths,
    spanNs,
    savesNs: input.spanNs - spanNs,
    prediction: predict(input, lengths, kind === 'lock' ? entity : 0),
  };
}

/** Where none of its threads has ended, and no symbol names the place, the counts of calls may still know it. */
function siteOf({ model, sites }: WhatIfInput, site: number): Site {
  const { calls } = model.raw;
  const row = sites.find((one) => one.site === site);
  const call = calls.site.indexOf(site);
  const start = row?.start || (call < 0 ? 0 : u32(calls.callee, call));
  const caller = row?.caller || (call < 0 ? 0 : u32(calls.caller, call));
  const name = (id: number): string => (id === 0 ? '' : item(model.entities, id).name);
  return { runs: name(start), start, creator: name(caller), caller };
}

/** PROCEDURE@CREATOR, as far as both are known. */
const siteName = ({ runs, creator }: Site): string =>
  runs === '' ? 'created threads' : creator === '' ? runs : `${runs}@${creator}`;

/** The site of a question of the form PROCEDURE@CREATOR. */
function siteAsked(question: string): Site {
  const at = question.lastIndexOf('@');
  return { runs: question.slice(0, at), start: 0, creator: question.slice(at + 1), caller: 0 };
}

/** The lock with that name, or else the first whose name begins with it; 0: there is none. */
function lockCalled(model: Model, name: string): number {
  const locks = model.entities.filter((entity) => entity.id !== 0 && isLockKind(entity.rawKind));
  return (
    (locks.find((entity) => entity.name === name) ?? locks.find((entity) => entity.name.startsWith(name)))?.id ?? 0
  );
}

function ofLock(raw: RawWhatIf, entity: number): Lengths | Basis {
  if (!raw.seen && entity === 0) return raw.found ? 'never-ran' : 'unknown';
  return { basis: 'exact', lowNs: raw.spanNs, highNs: raw.spanNs, workNs: raw.workNs };
}

/** Whether all its calls are known exactly: it has hooks, and these were recorded from the beginning. */
function hasExactCalls({ model }: WhatIfInput, raw: RawWhatIf): boolean {
  const { attached, paths } = model.raw.head;
  if (raw.missed || attached) return false;
  if (!paths.waits && !paths.running) return true;
  const { sites } = model.raw;
  const created = sites.start.reduce((sum, start, k) => (start === raw.entity ? sum + f64(sites.count, k) : sum), 0);
  return item(model.entities, raw.entity).calls > created;
}

/** Whether procedures of the program have hooks: calls were counted at places other than those that create threads. */
function hasHooks({ raw }: Model): boolean {
  if (raw.head.paths.hooks) return true;
  const { sites, calls } = raw;
  const isProcedure = (id: number): boolean => raw.entities[id]?.kind === 'procedure';
  return (
    !sites.site.includes(0) &&
    calls.site.some((site, k) => site !== 0 && !sites.site.includes(site) && isProcedure(u32(calls.callee, k)))
  );
}

/** For a procedure: what hooks observed is exact; if samples show more of it than that, there are only bounds. */
function ofCode(input: WhatIfInput, raw: RawWhatIf, kind: WhatIfKind): Lengths | Basis {
  const { model, spanNs, workNs } = input;
  const exact: Lengths = { basis: 'exact', lowNs: raw.spanNs, highNs: raw.spanNs, workNs: raw.workNs };
  const row = input.entities.find(({ entity }) => entity === raw.entity);
  const ran = raw.entity !== 0 && (item(model.entities, raw.entity).processorTimeNs > 0 || row !== undefined);
  if (kind === 'site') return raw.seen ? exact : raw.found ? 'never-ran' : 'unknown';
  if (!raw.found) return 'unknown';
  if (!raw.seen && !ran) return hasHooks(model) && !raw.missed ? 'never-ran' : 'unseen';
  const change = 1 - raw.factor;
  const sampledNs = row?.workNs ?? 0;
  const exactNs = change === 0 ? sampledNs : (workNs - raw.workNs) / change;
  const agrees = !raw.missed && sampledNs <= exactNs + certain(input, sampledNs);
  if (raw.seen && (hasExactCalls(input, raw) || agrees)) return exact;
  if (change <= 0) return change === 0 ? exact : slower(input, raw, row);
  // No chain is shortened by more than its part of the procedure, nor by less than what hooks observed; and none is
  // longer than all work that would be left.
  const most = change * (row?.ci95.highNs ?? 0);
  const leftNs = workNs - change * Math.max(exactNs, sampledNs);
  const highNs = Math.min(spanNs, raw.seen ? raw.spanNs : spanNs, leftNs + change * certain(input, sampledNs));
  return {
    basis: 'sampled',
    lowNs: Math.min(highNs, Math.max(0, spanNs - most)),
    highNs,
    workNs: leftNs,
  };
}

/** By how much samples of a procedure may exceed its actual time by chance, in ns. */
function certain({ model, workNs }: WhatIfInput, sampledNs: number): number {
  const seenOften = Math.max(1, model.samples);
  return 3 * Math.sqrt((sampledNs * workNs) / seenOften) + workNs / seenOften;
}

/**
 * Bounds if the procedure became slower: the span grows at least by what is on it now, and at most as if all of it were
 * the procedure; nor by more than all work of the procedure does.
 */
function slower(input: WhatIfInput, raw: RawWhatIf, row: SpanEntity | undefined): Lengths {
  const { spanNs, workNs } = input;
  const more = raw.factor - 1;
  const ownNs = item(input.model.entities, raw.entity).processorTimeNs;
  const lowNs = spanNs + more * (row?.ci95.lowNs ?? 0);
  return {
    basis: 'sampled',
    lowNs,
    highNs: Math.max(lowNs, Math.min(spanNs * raw.factor, spanNs + more * (ownNs + certain(input, ownNs)))),
    workNs: workNs + more * (row?.workNs ?? 0),
  };
}

/**
 * `without`: a lock that is no longer a bound. The holding times of other locks decrease by at most as much as the
 * work.
 */
function predict(input: WhatIfInput, lengths: Lengths, without: number): Prediction[] {
  const saved = Math.max(0, input.workNs - lengths.workNs);
  const typical = Math.min(1, (input.typicalSpanNs ?? input.spanNs) / input.spanNs);
  const held = input.locks.filter(({ entity }) => entity !== without).map(({ holdNs }) => holdNs - saved);
  const leastNs = Math.max(0, lengths.lowNs * typical, ...held);
  let fewerNs = Infinity; // with fewer processors: more of them make nothing slower
  return input.prediction.map(({ processors, ns, lowNs: low, highNs: high }) => {
    const workNs = lengths.workNs / processors;
    const lowNs = Math.max(workNs, leastNs);
    const boundNs = workNs + (1 - 1 / processors) * lengths.highNs;
    // with less work, and a span that is not longer, the run takes no longer than without the change
    const mostNs = lengths.basis === 'sampled' && saved > 0 ? Math.min(boundNs, ns) : boundNs;
    const highNs = Math.max(lowNs, mostNs);
    const part = high > low ? (ns - low) / (high - low) : 0;
    fewerNs = Math.min(fewerNs, lowNs + part * (highNs - lowNs));
    return { processors, ns: fewerNs, lowNs, highNs };
  });
}

/** The exact answer for the whole run to what would be if the entity took no time, if there is one. */
export const freeOf = (model: Model, answers: readonly WhatIf[], entity: number): WhatIf | undefined =>
  answers.find(
    ({ basis, factor, sinceNs, kind, entity: asked }) =>
      basis === 'exact' &&
      sinceNs === null &&
      (factor === 0 || kind === 'lock') &&
      kind !== 'site' &&
      asked !== 0 &&
      (asked === entity || item(model.entities, asked).group === entity),
  );
