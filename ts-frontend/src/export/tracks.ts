/**
 * Tracks for trace viewers: states of threads and holders of locks over time, from profiles recorded with --timeline,
 * and the critical path, from all profiles that contain one. Pure functions.
 */
import {
  defined,
  f64,
  innermostOf,
  item,
  stateNames,
  timePathOf,
  u32,
  u8,
  Waiting,
  type Model,
  type StateName,
} from '../model/index.js';

export interface Slice {
  atNs: number;
  ns: number;
  name: string;
  category: string; // the thread's state, or `held`
  stack: string; // outermost first; '' if unknown
}
export interface Track {
  name: string;
  thread: number | null; // serial number of the thread; null for tracks of locks and of the path
  slices: readonly Slice[]; // sorted by time, without overlaps
}

/** Slices shorter than this were merged with a neighbour to limit their number; 0: none were. */
export const grainNs = (model: Model): number => (model.raw.slices.ns.length > 0 ? f64(model.raw.slices.ns, 0) : 0);
/** Processor time of threads without slices, because they share an entity or are too many. */
export const withoutSlices = (model: Model): number =>
  model.raw.slices.ns.length > 0 ? f64(model.raw.slices.startNs, 0) : 0;
export const hasSlices = (model: Model): boolean => model.raw.slices.ns.length > 1;

export function tracksOf(model: Model): Track[] {
  const names = new Names(model);
  return [...threadTracks(model, names), ...lockTracks(model, names), ...pathTrack(model, names)];
}

/** Names of the procedures on a stack, by its node. */
class Names {
  readonly #paths = new Map<number, number[]>();
  constructor(readonly model: Model) {}

  /** Entities, outermost first. */
  path(node: number): readonly number[] {
    const known = this.#paths.get(node);
    if (known !== undefined) return known;
    const { parent, entity } = this.model.raw.stacks;
    const path: number[] = [];
    for (let n = node; n !== 0; n = u32(parent, n)) path.push(u32(entity, n));
    this.#paths.set(node, path.reverse());
    return path;
  }
  of(id: number): string {
    const entity = item(this.model.entities, id);
    return entity.rawKind === 'procedure' || entity.rawKind === 'thread' || entity.saysItsKind
      ? entity.name
      : `${entity.rawKind} ${entity.name}`;
  }
  top(node: number): string {
    const last = this.path(node).at(-1);
    return last === undefined ? '[unknown]' : this.of(last);
  }
  stack(node: number): string {
    return this.path(node)
      .map((id) => this.of(id))
      .join(' > ');
  }
}

interface Row {
  thread: number;
  node: number;
  state: StateName;
  waiting: number; // while waiting
  atNs: number;
  ns: number;
}
/** One row per slice; those of one thread in order of time. */
function* rows(model: Model): Iterable<Row> {
  const { slices } = model.raw;
  for (let k = 1; k < slices.ns.length; k++)
    yield {
      thread: u32(slices.thread, k),
      node: u32(slices.stack, k),
      state: item(stateNames, u8(slices.state, k) - 1),
      waiting: u8(slices.waiting, k),
      atNs: f64(slices.startNs, k),
      ns: f64(slices.ns, k),
    };
}

function threadTracks(model: Model, names: Names): Track[] {
  const of = new Map<number, Slice[]>();
  for (const { thread, node, state, waiting, atNs, ns } of rows(model)) {
    const top = names.top(node);
    const name = waiting === Waiting.object ? `waits for ${top}` : state === 'ready' ? 'waits for a CPU' : top;
    const slices = of.get(thread) ?? [];
    if (slices.length === 0) of.set(thread, slices);
    slices.push({ atNs, ns, name, category: state, stack: names.stack(node) });
  }
  return Array.from(of, ([thread, slices]) => {
    const entity = item(model.entities, thread);
    return { name: entity.name, thread: entity.thread?.serial ?? thread, slices };
  });
}

interface Hold {
  thread: number;
  atNs: number;
  ns: number;
}

/**
 * Who held each lock: threads that have it on their stack, do not wait for it, and have not just been woken to retry.
 * Concurrent readers get one track each.
 */
function lockTracks(model: Model, names: Names): Track[] {
  const held = new Map<number, Hold[]>();
  const open = new Map<string, Hold>(); // the most recent hold of each pair of lock and thread
  for (const { thread, node, waiting, atNs, ns } of rows(model)) {
    const path = names.path(node);
    for (const id of new Set(waiting === Waiting.none ? path : path.slice(0, -1))) {
      if (item(model.entities, id).kind !== 'lock') continue;
      const last = open.get(`${id} ${thread}`);
      if (last !== undefined && Math.abs(last.atNs + last.ns - atNs) < 1) {
        last.ns += ns;
        continue;
      }
      const hold = { thread, atNs, ns };
      open.set(`${id} ${thread}`, hold);
      const all = held.get(id);
      if (all === undefined) held.set(id, [hold]);
      else all.push(hold);
    }
  }
  return [...held].flatMap(([id, all]) =>
    lanes(all).map((lane, at) => ({
      name: `held: ${names.of(id)}${at === 0 ? '' : ` (${at + 1})`}`,
      thread: null,
      slices: lane.map(({ thread, atNs, ns }) => ({
        atNs,
        ns,
        name: names.of(thread),
        category: 'held',
        stack: '',
      })),
    })),
  );
}

/** Distributes holds over as few tracks as possible, such that holds on one track do not overlap. */
function lanes(all: readonly Hold[]): Hold[][] {
  const made: Hold[][] = [];
  for (const one of [...all].sort((a, b) => a.atNs - b.atNs)) {
    const free = made.find((lane) => {
      const last = defined(lane.at(-1));
      return last.atNs + last.ns <= one.atNs + 1;
    });
    if (free === undefined) made.push([one]);
    else free.push(one);
  }
  return made;
}

function pathTrack(model: Model, names: Names): Track[] {
  const segments = timePathOf(model)?.segments ?? [];
  if (segments.length === 0) return [];
  const slices = segments.map(({ startNs, ns, thread, path, state }) => {
    const [code, who] = [innermostOf(model, path), thread === 0 ? '[unknown]' : names.of(thread)];
    return {
      atNs: startNs,
      ns,
      name: code === 0 ? who : `${who}: ${names.of(code)}`,
      category: state,
      stack: path.map((id) => names.of(id)).join(' > '),
    };
  });
  return [{ name: 'critical path', thread: null, slices }];
}
