/**
 * The time path of a run (docs/reference/path.md): which thread let which one continue, from the beginning to the end.
 * Its length is the elapsed time; this module divides it among threads, procedures and objects, and lists it in time
 * order. Pure.
 */
import { addAt, f64, item, u32, u8 } from '../profile/columns.js';
import { independentSnapshots, shareInterval } from '../metrics/confidence.js';
import { Arrival, type RawProfile, type RawSegments } from '../profile/raw-profile.js';
import type { Interval, Model } from '../result/types.js';

/** What the path's thread did: at work, in overhead, busy waiting, and so on; unknown: its chain was lost. */
export type PathState = 'useful' | 'overhead' | 'spinning' | 'ready' | 'blocked' | 'io' | 'unknown';
/** The event by which the path came to a thread. */
export type Came = keyof typeof Arrival;

export interface PathEntity {
  entity: number;
  onPathNs: number; // inclusive: on the stack of the path's thread, or that thread itself, or what it waited for
  onPathSelfNs: number; // while innermost
  ci95: Interval; // of onPathNs
}
export interface PathSegment {
  startNs: number;
  ns: number;
  thread: number; // entity, 0: unknown
  path: readonly number[]; // entities of the stack, outermost first
  state: PathState;
  came: Came;
  by: number; // object through which the path came to this thread, 0: none
  waitedFor: number; // object of a wait, 0: none
  inferred: boolean; // the thread ran while the path's thread waited for something that is not published
  joined: number; // number of segments that this one stands for
}
/** Consecutive segments of one thread. */
export interface PathLeg {
  startNs: number;
  ns: number;
  thread: number;
  came: Came;
  by: number;
  inferred: boolean;
  states: Record<PathState, number>;
  procedure: number; // procedure that was innermost for the longest time, 0: none
  procedureNs: number;
  segments: number;
}
export interface TimePath {
  lengthNs: number;
  fromBeginning: boolean; // true: from the beginning of the program; false: from when Quartz was attached
  toExit: boolean; // true: to the end of the program; false: to what ran when recording ended
  states: Record<PathState, number>; // sum to lengthNs
  inferredNs: number;
  lostCrumbs: number;
  cutNs: number;
  entities: PathEntity[]; // most time first
  segments: PathSegment[]; // in time order, sum to lengthNs
  legs: PathLeg[]; // likewise
}

const stateName: readonly PathState[] = ['unknown', 'useful', 'overhead', 'spinning', 'ready', 'blocked', 'io'];
const cameName = Object.keys(Arrival) as Came[];
export const noTimes = (): Record<PathState, number> => ({
  useful: 0,
  overhead: 0,
  spinning: 0,
  ready: 0,
  blocked: 0,
  io: 0,
  unknown: 0,
});

/** The state of a row. A row without thread and stack that is no wait stands for time of which nothing is known. */
const stateOf = (state: number, stack: number, thread: number, arrival: number): PathState =>
  stack === 0 && thread === 0 && arrival === Arrival.same ? 'unknown' : (stateName[state] ?? 'unknown');

function pathTo(raw: RawProfile, node: number): number[] {
  const path: number[] = [];
  for (let n = node; n !== 0; n = u32(raw.stacks.parent, n)) path.push(u32(raw.stacks.entity, n));
  return path.reverse();
}

/** null: no time path was recorded. */
export function timePathOf(model: Model): TimePath | null {
  const { raw } = model;
  const { head } = raw;
  if (head.pathNs <= 0) return null;
  const { entities, states, inferredNs } = sumsOf(model);
  const segments = segmentsOf(raw, raw.segments);
  return {
    lengthNs: head.pathNs,
    fromBeginning: !head.attached,
    toExit: head.pathToExit,
    states,
    inferredNs,
    lostCrumbs: head.pathLost,
    cutNs: head.pathCutNs,
    entities,
    segments,
    legs: legsOf(model, segments),
  };
}

function sumsOf(model: Model): Pick<TimePath, 'entities' | 'states' | 'inferredNs'> {
  const { raw } = model;
  const rows = raw.onPath;
  const inclusive = new Float64Array(model.entities.length);
  const self = new Float64Array(model.entities.length);
  const states = noTimes();
  let inferredNs = 0;
  for (let k = 0; k < rows.ns.length; k++) {
    const ns = f64(rows.ns, k);
    const path = pathTo(raw, u32(rows.stack, k));
    const object = item(rows.object, k);
    const seen = new Set([...path, u32(rows.thread, k), object]);
    seen.delete(0);
    for (const id of [...seen]) seen.add(item(model.entities, id).group);
    seen.delete(0);
    for (const id of seen) addAt(inclusive, id, ns);
    const top = object !== 0 ? object : (path.at(-1) ?? 0);
    if (top !== 0) {
      addAt(self, top, ns);
      const { group } = item(model.entities, top);
      if (group !== 0) addAt(self, group, ns);
    }
    states[stateOf(u8(rows.state, k), u32(rows.stack, k), u32(rows.thread, k), item(rows.arrival, k))] += ns;
    if (rows.inferred[k] === 1) inferredNs += ns;
  }
  const n = independentSnapshots(raw.head);
  const entities: PathEntity[] = [];
  inclusive.forEach((onPathNs, entity) => {
    if (onPathNs <= 0) return;
    const { low, high } = shareInterval(onPathNs / raw.head.pathNs, n);
    const ci95 = { lowNs: low * raw.head.pathNs, highNs: high * raw.head.pathNs };
    entities.push({ entity, onPathNs, onPathSelfNs: f64(self, entity), ci95 });
  });
  entities.sort((a, b) => b.onPathNs - a.onPathNs || b.onPathSelfNs - a.onPathSelfNs || a.entity - b.entity);
  return { entities, states, inferredNs };
}

/** `count` of these segments, from index `first` on. */
export function segmentsOf(raw: RawProfile, s: RawSegments, first = 0, count = s.ns.length): PathSegment[] {
  const paths = new Map<number, number[]>();
  return Array.from(s.ns.subarray(first, first + count), (ns, at) => {
    const k = first + at;
    const node = u32(s.stack, k);
    let path = paths.get(node);
    if (path === undefined) paths.set(node, (path = pathTo(raw, node)));
    return {
      startNs: f64(s.startNs, k),
      ns,
      thread: u32(s.thread, k),
      path,
      state: stateOf(u8(s.state, k), node, u32(s.thread, k), item(s.arrival, k)),
      came: cameName[item(s.came, k)] ?? 'same',
      by: item(s.by, k),
      waitedFor: item(s.object, k),
      inferred: s.inferred[k] === 1,
      joined: item(s.joined, k),
    };
  });
}

/** The innermost procedure of a stack; 0: none. */
export const innermostOf = (model: Model, path: readonly number[]): number =>
  path.findLast((id) => item(model.entities, id).kind === 'procedure') ?? 0;

export function legsOf(model: Model, segments: readonly PathSegment[]): PathLeg[] {
  const legs: PathLeg[] = [];
  let inside = new Map<number, number>(); // time by innermost procedure
  const close = (leg: PathLeg | undefined): void => {
    for (const [procedure, ns] of inside)
      if (leg !== undefined && ns > leg.procedureNs) Object.assign(leg, { procedure, procedureNs: ns });
    inside = new Map();
  };
  for (const segment of segments) {
    let leg = legs.at(-1);
    if (leg?.thread !== segment.thread || leg.inferred !== segment.inferred) {
      close(leg);
      const { startNs, thread, came, by, inferred } = segment;
      leg = {
        startNs,
        ns: 0,
        thread,
        came,
        by,
        inferred,
        states: noTimes(),
        procedure: 0,
        procedureNs: 0,
        segments: 0,
      };
      legs.push(leg);
    }
    leg.ns += segment.ns;
    leg.states[segment.state] += segment.ns;
    leg.segments += segment.joined;
    const procedure = innermostOf(model, segment.path);
    if (procedure !== 0) inside.set(procedure, (inside.get(procedure) ?? 0) + segment.ns);
  }
  close(legs.at(-1));
  return legs;
}
