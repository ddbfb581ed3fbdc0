/**
 * Finds serial code within code that several threads share: in a program that forks and joins repeatedly, all threads
 * may run a procedure at the same time, and one of them runs it alone between the joins (docs/reference/findings.md,
 * "Code"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { Contexts } from '../evidence/loss-contexts.js';
import { statsOf } from '../evidence/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { leastObservations, shownId } from '../evidence/context.js';
import { isOwn } from '../evidence/code-origin.js';
import { isBarrier, isRegionEnd, isTeamRest } from '../evidence/wait-kinds.js';
import { isBusy } from '../metrics/sums.js';
import { rowsOfKey } from '../profile/row-index.js';
import { pathOf } from '../profile/stack-tree.js';
import type { Entity } from '../result/types.js';
import { candidateOf, type Candidate } from './candidate.js';
import { mayBeLate } from './division.js';

/** Code that runs beside another working thread for at most this share of its time is considered to run alone. */
const seldomBeside = 0.1;
/**
 * The same for code outside of parallel regions while the team waits for the next one: the others have nothing to do
 * there, though some of their waiting may not be recognized, or their ends of the last region come late.
 */
const besideRest = 0.5;

export interface Divided {
  alone: Candidate[];
  shared: Candidate | undefined; // the rest of the candidate
}

/**
 * Divides a candidate into parts that never run beside other threads, named after the innermost procedure that never
 * does, and the rest. A part inside a parallel region without a barrier after it is not serial: it is a share of the
 * region's work that takes longer than the others.
 */
export function withoutSerialParts(context: FindingContext, contexts: Contexts, candidate: Candidate): Divided {
  const { waited } = candidate;
  const rests = waited !== undefined && isTeamRest(item(context.model.entities, waited.object));
  const aloneIn = aloneOf(context, candidate, rests ? besideRest : seldomBeside);
  const isWithin = sharesRegion(context, candidate);
  const parts = new Map<number, number[]>();
  const rest: number[] = [];
  for (const node of candidate.members) {
    const entity = isWithin(node) ? 0 : aloneIn(node);
    if (entity === 0) rest.push(node);
    else parts.set(entity, [...(parts.get(entity) ?? []), node]);
  }
  if (parts.size === 0) return { alone: [], shared: candidate };
  const { model, tables } = context;
  const pieceOf = (members: number[], of: Partial<Candidate>): Candidate => {
    const stats = statsOf(model.raw, contexts, tables.weights, members);
    return candidateOf(context, { ...candidate, ...of, members, stats });
  };
  const alone: Candidate[] = [];
  for (const [entity, members] of parts) {
    const { self, within } = candidate.context;
    const isSame = entity === candidate.context.entity;
    const piece = pieceOf(members, {
      id: isSame ? candidate.id : shownId(model, entity),
      context: { entity, members, self: isSame && self, within: isSame ? within : 0 },
    });
    if (mayBeLate(context, piece)) rest.push(...members);
    else alone.push(piece);
  }
  const left = { ...candidate.context, members: rest };
  return { alone, shared: rest.length === 0 ? undefined : pieceOf(rest, { context: left }) };
}

/**
 * Returns a function that maps a node to the innermost procedure on its path, from the candidate's own procedure
 * outwards, that never runs beside others in the whole program, or else never on that path (main between the regions
 * that it starts); 0 if there is none.
 */
function aloneOf(
  context: FindingContext,
  { members, context: { entity } }: Candidate,
  most: number,
): (node: number) => number {
  const { model, tables } = context;
  const least = (leastObservations / model.samples) * model.elapsedNs;
  const isAlone = ({ nptNs, byBusyNs }: Entity): boolean => nptNs >= least && nptNs - f64(byBusyNs, 0) <= most * nptNs;
  const own = (node: number): number[] =>
    pathOf(tables.stacks, node).filter((id) => {
      const one = item(model.entities, id);
      return one.kind === 'procedure' && isOwn(one);
    });
  const npt = new Map<string, number>(),
    beside = new Map<string, number>();
  const { tuples } = model.raw;
  for (const node of members) {
    const key = own(node).join(' ');
    for (const k of rowsOfKey(tables.byStack, node)) {
      const busy = u16(tuples.busy, k);
      if (!isBusy(u8(tuples.state, k)) || busy === 0) continue;
      addTo(npt, key, f64(tables.weights, k) / busy);
      if (busy > 1) addTo(beside, key, f64(tables.weights, k) / busy);
    }
  }
  if (isAlone(item(model.entities, entity))) return () => entity;
  return (node) => {
    const path = own(node);
    const inner = path.lastIndexOf(entity);
    const outwards = (inner < 0 ? path : path.slice(0, inner + 1)).reverse();
    const found = outwards.find((id) => isAlone(item(model.entities, id)));
    if (found !== undefined) return found;
    const key = path.join(' '),
      all = npt.get(key) ?? 0;
    return all >= least && (beside.get(key) ?? 0) <= most * all ? (path.at(-1) ?? 0) : 0;
  };
}

/**
 * Whether a node is in a parallel region at whose end the others already wait, as opposed to a barrier inside the
 * region.
 */
export function sharesRegion({ model, tables }: FindingContext, { waited }: Candidate): (node: number) => boolean {
  const object = waited ? item(model.entities, waited.object) : undefined;
  if (object && isBarrier(object)) return () => isRegionEnd(object);
  const { parent, entity } = tables.stacks;
  const inside = new Uint8Array(tables.stacks.count); // 1: OpenMP's library is on the stack below the node
  for (let n = 1; n < inside.length; n++)
    if (u8(inside, u32(parent, n)) === 1 || item(model.entities, u32(entity, n)).origin === 'openmp') inside[n] = 1;
  return (node) => u8(inside, node) === 1;
}
