/**
 * The profile as call stacks with weights, the representation that other tools use. All formats of stacks are written
 * from it; its sums equal the model's. Pure functions.
 */
import { defined, item, type Model, stackWeights, State, type StateName } from '../model/index.js';

export type Unit = 'nanoseconds' | 'count';
export interface ValueType {
  name: string;
  unit: Unit;
  title: string; // description for the user
}

/** What the weights of a sample are, in order. The first one determines the width of flames. */
export const valueTypes = [
  { name: 'elapsed', unit: 'nanoseconds', title: 'elapsed time (normalized processor time)' },
  { name: 'processor', unit: 'nanoseconds', title: 'processor time' },
  { name: 'idleness', unit: 'nanoseconds', title: 'idle processor time while it ran' },
  { name: 'spinning', unit: 'nanoseconds', title: 'time spinning' },
  { name: 'ready', unit: 'nanoseconds', title: 'time waiting for a processor' },
  { name: 'blocked', unit: 'nanoseconds', title: 'time blocked' },
  { name: 'io', unit: 'nanoseconds', title: 'time in declared blocking regions' },
  { name: 'samples', unit: 'count', title: 'samples' },
] as const satisfies readonly ValueType[];
/** The weight of a sample of lock holders. */
const holderTypes: readonly ValueType[] = [
  { name: 'held', unit: 'nanoseconds', title: 'waiting time of others while it held the lock' },
];

export interface Frame {
  name: string;
  file: string; // '' if unknown
  line: number; // 0 if unknown
  module: string; // '' if unknown
  inlined: boolean;
}
interface ThreadName {
  id: number; // the thread's number in the program
  name: string;
}
export interface Sample {
  /** Indices of frames, outermost first; never empty. */
  frames: readonly number[];
  thread: ThreadName | null;
  state: StateName | null; // null for holders
  busy: number | null; // number of busy processors at the time
  values: readonly number[];
}
export interface WeightedStacks {
  title: string;
  types: readonly ValueType[];
  frames: readonly Frame[];
  samples: readonly Sample[];
}

/** Indices in valueTypes. */
const Value = Object.fromEntries(valueTypes.map(({ name }, at) => [name, at])) as Record<
  (typeof valueTypes)[number]['name'],
  number
>;

const stateOf: Readonly<Record<number, StateName>> = {
  [State.useful]: 'useful',
  [State.overhead]: 'overhead',
  [State.spinning]: 'spinning',
  [State.ready]: 'ready',
  [State.blocked]: 'blocked',
  [State.io]: 'io',
};

/** The frame of each entity, by its id. Frame 0 stands for code outside of known procedures. */
const framesOf = (model: Model): Frame[] =>
  model.entities.map((entity) => ({
    name: entity.id === 0 ? '[unknown]' : entity.saysItsKind ? entity.name : `${entity.rawKind} ${entity.name}`,
    file: entity.file,
    line: entity.line,
    module: entity.module,
    inlined: entity.rawKind === 'procedure' && entity.inlinedInto.length > 0,
  }));

const threadOf = (model: Model, id: number): ThreadName | null =>
  id === 0 ? null : { id: model.entities[id]?.thread?.serial ?? id, name: model.entities[id]?.name ?? '?' };

/**
 * Returns a function from node of the stack tree to call path. `left`: procedures to leave out, those of run-time
 * libraries.
 */
function pathReader(parent: Uint32Array, entity: Uint32Array, left: Uint8Array | null): (node: number) => number[] {
  const known = new Map<number, number[]>();
  return (node) => {
    let path = known.get(node);
    if (path === undefined) {
      path = [];
      for (let n = node; n !== 0; n = parent[n] ?? 0) if (left?.[n] !== 1) path.push(entity[n] ?? 0);
      if (path.length === 0) path.push(0);
      known.set(node, path.reverse());
    }
    return path;
  };
}

export interface StackOptions {
  foldRuntime: boolean; // charge time in run-time libraries to their callers
  foldLoops: boolean; // charge time in loops to the procedures that contain them
}

/** Where time was spent: one sample for each combination of stack, thread, state and number of busy processors. */
export function weightedStacks(model: Model, { foldRuntime, foldLoops }: StackOptions): WeightedStacks {
  const { tuples } = model.raw;
  const { parent, entity, runtime, stack, weights } = stackWeights(model, { loops: !foldLoops });
  const pathOf = pathReader(parent, entity, foldRuntime ? runtime : null);
  const threads = model.raw.entities.length + 1;
  const busies = model.processors + 1;
  const samples = new Map<number, Sample & { values: number[] }>();
  stack.forEach((node, k) => {
    const state = tuples.state[k] ?? 0;
    const name = stateOf[state];
    if (name === undefined) return;
    const busy = tuples.busy[k] ?? 0;
    const thread = tuples.thread[k] ?? 0;
    const key = ((node * threads + thread) * 8 + state) * busies + busy;
    let sample = samples.get(key);
    if (sample === undefined) {
      const values = valueTypes.map(() => 0);
      samples.set(key, (sample = { frames: pathOf(node), thread: threadOf(model, thread), state: name, busy, values }));
    }
    addTuple(sample.values, name, weights[k] ?? 0, {
      processors: model.processors,
      busy,
      spinning: tuples.spinning[k] ?? 0,
      count: tuples.count[k] ?? 0,
    });
  });
  return { title: model.program, types: valueTypes, frames: framesOf(model), samples: [...samples.values()] };
}

function addTuple(
  values: number[],
  state: StateName,
  ns: number,
  { processors, busy, spinning, count }: { processors: number; busy: number; spinning: number; count: number },
): void {
  const add = (at: number, amount: number): void => {
    values[at] = (values[at] ?? 0) + amount;
  };
  add(Value.samples, count);
  if (state === 'useful' || state === 'overhead') {
    const b = Math.min(processors, Math.max(1, busy));
    add(Value.elapsed, ns / b);
    add(Value.processor, ns);
    add(Value.idleness, (ns * Math.max(0, processors - b - spinning)) / b);
  } else {
    add(Value[state], ns);
  }
}

/** Who held locks while others waited: for each lock a frame, with the holders' stacks below it. */
export function holderStacks(model: Model): WeightedStacks {
  const samples = model.entities
    .filter(({ id, members, object }) => id !== 0 && members.length === 0 && object !== null)
    .flatMap(({ id, kind, object }) =>
      kind !== 'lock'
        ? []
        : defined(object).holders.map(({ path, thread, ns }) => ({
            frames: [id, ...(path.length === 0 ? [0] : path)],
            thread: threadOf(model, thread),
            state: null,
            busy: null,
            values: [ns],
          })),
    );
  return {
    title: `${model.program}: who held locks while others waited`,
    types: holderTypes,
    frames: framesOf(model),
    samples,
  };
}

/** Concatenates profiles with the same value types; there must be at least one. */
export function joined(all: readonly WeightedStacks[]): WeightedStacks {
  const frames: Frame[] = [];
  const samples = all.flatMap((one) => {
    const first = frames.length;
    frames.push(...one.frames);
    return one.samples.map((sample) => ({ ...sample, frames: sample.frames.map((frame) => first + frame) }));
  });
  return { ...item(all, 0), frames, samples };
}

/**
 * Rounds values to integers such that their sum is the rounded sum: the rounding error is carried over to the next
 * value.
 */
export function wholeNumbers(values: Iterable<number>): number[] {
  let exact = 0;
  let given = 0;
  return Array.from(values, (value) => {
    exact += value;
    const whole = Math.round(exact) - given;
    given += whole;
    return whole;
  });
}
