/**
 * The end of a time path: its last seconds, at present while the program runs, or at the end of the run
 * (docs/reference/path.md, "The last ten seconds"). Pure.
 */
import { f64, item } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Model } from '../result/types.js';
import {
  innermostOf,
  legsOf,
  noTimes,
  segmentsOf,
  type PathLeg,
  type PathSegment,
  type PathState,
} from './time-path.js';

/** A place on the path: a procedure, or an object that its thread waited for. */
export interface RecentPlace {
  entity: number; // 0: not known
  ns: number;
  waited: boolean; // whether the time was spent waiting for the entity
}
export interface RecentThread {
  thread: number; // entity, 0: not known
  ns: number;
}
export interface RecentPath {
  startNs: number;
  ns: number; // exactly the sum of the segments
  undecidedNs: number; // part at the end that is not decided yet: working threads have different paths there
  inferredNs: number;
  unknownNs: number; // time for which the chain was lost
  joined: number; // number of segments that stand for several
  handOvers: number; // number of changes from one known thread to another
  states: Record<PathState, number>; // sum to ns
  segments: PathSegment[];
  legs: PathLeg[];
  threads: RecentThread[]; // in the order in which they first appear
  places: RecentPlace[]; // most time first; sum to ns
}

export const recentNs = 10e9;

interface Kept {
  endNs: number;
  undecidedNs: number;
  segments: PathSegment[];
}

/** The newest recent path that was written during the run or at its end. */
function newest(raw: RawProfile): Kept | null {
  const rows = raw.recentPaths;
  let best = -1;
  rows.number.forEach((number, k) => {
    if (number > 0 && (best < 0 || number > f64(rows.number, best))) best = k;
  });
  if (best < 0) return null;
  return {
    endNs: f64(rows.startNs, best) + f64(rows.ns, best),
    undecidedNs: f64(rows.undecidedNs, best),
    segments: segmentsOf(raw, raw.recentSegments, f64(rows.first, best), f64(rows.count, best)),
  };
}

/** For a finished profile that contains only the whole path. */
const whole = (raw: RawProfile): Kept | null =>
  raw.head.pathNs <= 0 ? null : { endNs: raw.head.pathNs, undecidedNs: 0, segments: segmentsOf(raw, raw.segments) };

/** The parts of the segments that lie in [from, to). */
function clipped(segments: readonly PathSegment[], from: number, to: number): PathSegment[] {
  const inside: PathSegment[] = [];
  for (const segment of segments) {
    const startNs = Math.max(from, segment.startNs);
    const ns = Math.min(to, segment.startNs + segment.ns) - startNs;
    if (ns > 0) inside.push(startNs === segment.startNs && ns === segment.ns ? segment : { ...segment, startNs, ns });
  }
  return inside;
}

const known = new WeakMap<Model, Map<number, RecentPath | null>>();

/** The last `windowNs` of the path (at most ten seconds, at most what exists); null: there is no path, or not yet. */
export function recentPathOf(model: Model, windowNs = recentNs): RecentPath | null {
  let made = known.get(model);
  if (made === undefined) known.set(model, (made = new Map<number, RecentPath | null>()));
  let path = made.get(windowNs);
  if (path === undefined) made.set(windowNs, (path = recent(model, Math.min(windowNs, recentNs))));
  return path;
}

function recent(model: Model, windowNs: number): RecentPath | null {
  const kept = newest(model.raw) ?? whole(model.raw);
  if (kept === null) return null;
  const { endNs } = kept;
  const segments = clipped(kept.segments, Math.max(0, endNs - windowNs), endNs);
  const [first] = segments;
  if (first === undefined) return null;
  const ns = endNs - first.startNs;
  const legs = legsOf(model, segments);
  const states = noTimes();
  for (const segment of segments) states[segment.state] += segment.ns;
  return {
    startNs: first.startNs,
    ns,
    undecidedNs: Math.min(ns, kept.undecidedNs),
    inferredNs: sum(segments.filter(({ inferred }) => inferred)),
    unknownNs: states.unknown,
    joined: segments.filter(({ joined }) => joined > 1).length,
    handOvers: handOversOf(segments),
    states,
    segments,
    legs,
    threads: threadsOf(legs),
    places: placesOf(model, segments),
  };
}

const sum = (parts: readonly { ns: number }[]): number => parts.reduce((ns, part) => ns + part.ns, 0);

/** Number of changes of thread, except to and from unknown threads. */
function handOversOf(segments: readonly PathSegment[]): number {
  let count = 0;
  let last = 0;
  for (const { thread } of segments) {
    if (thread === 0) continue;
    if (last !== 0 && thread !== last) count++;
    last = thread;
  }
  return count;
}

function threadsOf(legs: readonly PathLeg[]): RecentThread[] {
  const times = new Map<number, number>();
  for (const { thread, ns } of legs) times.set(thread, (times.get(thread) ?? 0) + ns);
  return [...times].map(([thread, ns]) => ({ thread, ns })).sort((a, b) => a.thread - b.thread);
}

function placesOf(model: Model, segments: readonly PathSegment[]): RecentPlace[] {
  const places = new Map<string, RecentPlace>();
  for (const { path, waitedFor, ns } of segments) {
    const waited = waitedFor !== 0;
    const entity = waited ? waitedFor : innermostOf(model, path);
    const key = `${entity} ${waited}`;
    const place = places.get(key);
    if (place === undefined) places.set(key, { entity, ns, waited });
    else place.ns += ns;
  }
  return [...places.values()].sort(
    (a, b) => b.ns - a.ns || item(model.entities, a.entity).id - item(model.entities, b.entity).id,
  );
}
