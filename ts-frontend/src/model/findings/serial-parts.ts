/**
 * Finds serial code within code that several threads share: in a program that forks and joins repeatedly, all threads
 * may run a procedure at the same time, and one of them runs it alone between the joins (docs/reference/findings.md,
 * "Code"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { PairIndex } from '../profile/pair-index.js';
import type { Contexts } from '../evidence/code/loss-contexts.js';
import { statsOf } from '../evidence/code/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { leastObservations, shownId } from '../evidence/context.js';
import { isOwn } from '../evidence/code-origin.js';
import { isBarrier, isRegionEnd, isTeamRest, isUncounted } from '../evidence/wait-kinds.js';
import { isBusy } from '../metrics/sums.js';
import { rowsOfKey } from '../profile/row-index.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Entity, Model } from '../result/types.js';
import { candidateOf, type Candidate } from './candidate.js';
import { mayBeLate } from './division.js';

/** Code that runs beside another working thread for at most this share of its time is considered to run alone. */
const seldomBeside = 0.1;
/**
 * The same for code outside of parallel regions while the team waits for the next one: the others have nothing to do
 * there, though some of their waiting may not be recognized, or their ends of the last region come late.
 */
const besideRest = 0.5;
/**
 * The same for code that the last thread to come to a barrier runs for all (the completion function of std::barrier):
 * the least share of the other threads that wait at that barrier meanwhile, the largest part of it that one thread may
 * have, in means, and for how much of its time the code may seem to run beside others, because paths are a little older
 * than what other threads were seen to do.
 */
const haveArrived = 0.7,
  mostOfOne = 1.5,
  besideArrived = 0.3;

interface Divided {
  alone: Candidate[];
  shared: Candidate | undefined; // the rest of the candidate
}

/** Whether it is a barrier of C++, which may run a function of the program: its waits are counted, unlike OpenMP's. */
const mayComplete = (object: Entity): boolean =>
  object.rawKind === 'futex' && isBarrier(object) && !isRegionEnd(object) && !isUncounted(object);
/**
 * Whether nearly all threads of the candidate wait at its barrier while one of them runs that: not mostly the same one,
 * which may have a larger share than the others.
 */
function isAfterArrival(piece: Candidate, { waited, threads }: Candidate): boolean {
  const there = piece.waited;
  if (!there || there.object !== waited?.object || piece.threads < 2) return false;
  const { time } = piece.stats.threads;
  const most =
    Math.max(...time) /
    Math.max(
      1,
      time.reduce((sum, ns) => sum + ns, 0),
    );
  return there.mean >= haveArrived * (threads - 1) && most <= mostOfOne / threads;
}

/** Divides candidates; what they all need of the tree of stacks is computed once, at first use. */
export class SerialParts {
  #ownPaths: OwnPaths | undefined;
  #insideRegion: Uint8Array | undefined;
  constructor(
    private readonly context: FindingContext,
    private readonly contexts: Contexts,
  ) {}

  /**
   * Divides a candidate into parts that never run beside other threads, named after the innermost procedure that never
   * does, and the rest. A part inside a parallel region without a barrier after it is not serial: it is a share of the
   * region's work that takes longer than the others.
   */
  divide(candidate: Candidate): Divided {
    const { context, contexts } = this;
    const { waited } = candidate;
    const object = waited && item(context.model.entities, waited.object);
    const aloneIn = this.#aloneOf(candidate, object && isTeamRest(object) ? besideRest : seldomBeside);
    const isMet = object !== undefined && mayComplete(object) && candidate.threads > 1;
    const completesIn = isMet ? this.#aloneOf(candidate, besideArrived) : () => 0;
    const isWithin = this.sharesRegion(candidate);
    const parts = new Map<number, number[]>();
    const rest: number[] = [];
    for (const node of candidate.members) {
      const alone = isWithin(node) ? 0 : aloneIn(node);
      const entity = isWithin(node) || alone !== 0 ? alone : -completesIn(node);
      const part = parts.get(entity);
      if (entity === 0) rest.push(node);
      else if (part) part.push(node);
      else parts.set(entity, [node]);
    }
    if (parts.size === 0) return { alone: [], shared: candidate };
    const { model, tables } = context;
    const pieceOf = (members: number[], of: Partial<Candidate>): Candidate => {
      const stats = statsOf(model.raw, contexts, tables.weights, members);
      return candidateOf(context, { ...candidate, ...of, members, stats });
    };
    const alone: Candidate[] = [];
    for (const [key, members] of parts) {
      const entity = Math.abs(key);
      const { self, within } = candidate.context;
      const isSame = entity === candidate.context.entity;
      const piece = pieceOf(members, {
        id: isSame ? candidate.id : shownId(model, entity),
        context: { entity, members, self: isSame && self, within: isSame ? within : 0 },
      });
      const isCompletion = isMet && isAfterArrival(piece, candidate);
      if (!isCompletion && (key < 0 || mayBeLate(context, piece))) rest.push(...members);
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
  #aloneOf({ members, context: { entity } }: Candidate, most: number): (node: number) => number {
    const { model, tables } = this.context;
    const least = (leastObservations / model.samples) * model.elapsedNs;
    const isAlone = ({ nptNs, byBusyNs }: Entity): boolean =>
      nptNs >= least && nptNs - f64(byBusyNs, 0) <= most * nptNs;
    if (isAlone(item(model.entities, entity))) return () => entity;
    const own = (this.#ownPaths ??= ownPathsOf(model, tables.stacks));
    const npt = new Map<number, number>(), // by path of own procedures
      beside = new Map<number, number>();
    const { tuples } = model.raw;
    for (const node of members) {
      const path = u32(own.path, node);
      for (const k of rowsOfKey(tables.byStack, node)) {
        const busy = u16(tuples.busy, k);
        if (!isBusy(u8(tuples.state, k)) || busy === 0) continue;
        addTo(npt, path, f64(tables.weights, k) / busy);
        if (busy > 1) addTo(beside, path, f64(tables.weights, k) / busy);
      }
    }
    const aloneOn = (path: number): number => {
      let n = path;
      while (n !== 0 && own.procedure[n] !== entity) n = u32(own.parent, n);
      for (n = n === 0 ? path : n; n !== 0; n = u32(own.parent, n))
        if (isAlone(item(model.entities, u32(own.procedure, n)))) return u32(own.procedure, n);
      const all = npt.get(path) ?? 0;
      return all >= least && (beside.get(path) ?? 0) <= most * all ? u32(own.procedure, path) : 0;
    };
    const known = new Map<number, number>();
    return (node) => {
      const path = u32(own.path, node);
      const found = known.get(path) ?? aloneOn(path);
      known.set(path, found);
      return found;
    };
  }

  /**
   * Whether a node is in a parallel region at whose end the others already wait, as opposed to a barrier inside the
   * region.
   */
  sharesRegion({ waited }: Candidate): (node: number) => boolean {
    const { model, tables } = this.context;
    const object = waited ? item(model.entities, waited.object) : undefined;
    if (object && isBarrier(object)) return () => isRegionEnd(object);
    const inside = (this.#insideRegion ??= insideRegions(model, tables.stacks));
    return (node) => u8(inside, node) === 1;
  }
}

/** By node: 1 if OpenMP's library is on the path. */
function insideRegions(model: Model, { parent, entity, count }: Stacks): Uint8Array {
  const isOpenmp = Uint8Array.from(model.entities, ({ origin }) => (origin === 'openmp' ? 1 : 0));
  const inside = new Uint8Array(count);
  for (let n = 1; n < count; n++) inside[n] = u8(inside, u32(parent, n)) | u8(isOpenmp, u32(entity, n));
  return inside;
}

/** The paths of the program's own procedures, as a tree; 0: none is on the path. */
interface OwnPaths {
  path: Uint32Array; // by node of the stacks
  parent: Uint32Array; // by path
  procedure: Uint32Array; // by path: the innermost procedure
}

function ownPathsOf(model: Model, { parent, entity, count }: Stacks): OwnPaths {
  const isProcedure = Uint8Array.from(model.entities, (one) => (one.kind === 'procedure' && isOwn(one) ? 1 : 0));
  const own = { path: new Uint32Array(count), parent: new Uint32Array(count), procedure: new Uint32Array(count) };
  const known = new PairIndex(count); // by parent and procedure
  let paths = 1;
  for (let n = 1; n < count; n++) {
    const up = u32(own.path, u32(parent, n)),
      its = u32(entity, n);
    if (isProcedure[its] === 0) {
      own.path[n] = up;
      continue;
    }
    const path = known.findOrAdd(up, its, paths);
    if (path === paths) {
      own.parent[path] = up;
      own.procedure[path] = its;
      paths++;
    }
    own.path[n] = path;
  }
  return own;
}
