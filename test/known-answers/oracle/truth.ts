/**
 * The metrics of docs/reference/metrics.md computed exactly, from a trace of every change. Written from the definitions
 * alone: it shares no code with the model, which computes the same from samples.
 */
import type { TraceEvent } from './trace.js';

const state = { idle: 0, useful: 1, overhead: 2, spinning: 3, ready: 4, blocked: 5, io: 6 } as const;
export type StateName = 'useful' | 'overhead' | 'spinning' | 'ready' | 'blocked' | 'io';
const names: (StateName | undefined)[] = [undefined, 'useful', 'overhead', 'spinning', 'ready', 'blocked', 'io'];

export interface TrueEntity {
  byBusyNs: number[]; // T_i, index 0 is i = 1
  byBusySelfNs: number[]; // the same, exclusively
  idlenessNs: number;
  spinBlameNs: number;
  states: Record<StateName, number>; // E_x
  usefulRunnableNs: number; // sum of r * time while useful
}
export interface Truth {
  elapsedNs: number;
  byBusyNs: number[]; // elapsed time by b, index 0 is b = 0
  bySpinningNs: number[];
  runnableNs: number; // sum of r * time
  root: TrueEntity;
  procedures: Map<bigint, TrueEntity>; // by entry address
  objects: Map<number, TrueEntity>; // by record
  threads: Map<number, TrueEntity>; // by serial
  queues: Map<number, number[]>; // by record: time by queue length
}

interface Processor {
  state: number;
  thread: number;
}
interface Thread {
  serial: number;
  state: number;
  keys: bigint[];
}

const objectFlag = 1n << 63n;

/** Sum of T_i / i. */
export const npt = (byBusyNs: number[]): number => byBusyNs.reduce((sum, ns, k) => sum + ns / (k + 1), 0);
export const total = (byBusyNs: number[]): number => byBusyNs.reduce((sum, ns) => sum + ns, 0);
/** Sum of T_i * (1/i - 1/P). */
export const parallelize = (byBusyNs: number[]): number =>
  byBusyNs.reduce((sum, ns, k) => sum + ns * (1 / (k + 1) - 1 / byBusyNs.length), 0);

const zeros = (length: number): number[] => new Array<number>(length).fill(0);
export const emptyEntity = (processorCount: number): TrueEntity => ({
  byBusyNs: zeros(processorCount),
  byBusySelfNs: zeros(processorCount),
  idlenessNs: 0,
  spinBlameNs: 0,
  states: { useful: 0, overhead: 0, spinning: 0, ready: 0, blocked: 0, io: 0 },
  usefulRunnableNs: 0,
});

/** Integrates the events, which are ordered by time, over [fromNs, toNs). */
export function computeTruth(
  events: readonly TraceEvent[],
  processorCount: number,
  fromNs: number,
  toNs: number,
): Truth {
  const entity = (): TrueEntity => emptyEntity(processorCount);
  const truth: Truth = {
    elapsedNs: toNs - fromNs,
    byBusyNs: zeros(processorCount + 1),
    bySpinningNs: zeros(processorCount + 1),
    runnableNs: 0,
    root: entity(),
    procedures: new Map(),
    objects: new Map(),
    threads: new Map(),
    queues: new Map(),
  };
  const found = <Key>(map: Map<Key, TrueEntity>, key: Key): TrueEntity => {
    let one = map.get(key);
    if (!one) map.set(key, (one = entity()));
    return one;
  };
  const ofKey = (key: bigint): TrueEntity =>
    (key & objectFlag) !== 0n ? found(truth.objects, Number(key & 0xffffffffn)) : found(truth.procedures, key);

  const processors: Processor[] = Array.from({ length: processorCount }, () => ({ state: state.idle, thread: -1 }));
  const threads = new Map<number, Thread>();
  const queues = new Map<number, number>();

  /** All entities that a thread's time is charged to, each once, and the innermost of them. */
  const charged = (thread: Thread | undefined): { all: Set<TrueEntity>; innermost: TrueEntity } => {
    const all = new Set<TrueEntity>([truth.root]);
    let innermost = truth.root;
    if (thread) {
      all.add(found(truth.threads, thread.serial));
      for (const key of thread.keys) all.add(ofKey(key));
      const top = thread.keys.at(-1);
      if (top !== undefined) innermost = ofKey(top);
    }
    return { all, innermost };
  };

  const integrate = (ns: number): void => {
    let busy = 0;
    let spinning = 0;
    const running = new Map<number, number>();
    for (const { state: now, thread } of processors) {
      if (now === state.useful || now === state.overhead) busy++;
      if (now === state.spinning) spinning++;
      if (now !== state.idle && thread >= 0) running.set(thread, now);
    }
    let runnable = running.size;
    for (const [index, thread] of threads) if (thread.state === state.ready && !running.has(index)) runnable++;
    const idle = processorCount - busy - spinning;
    truth.byBusyNs[busy]! += ns;
    truth.bySpinningNs[spinning]! += ns;
    truth.runnableNs += runnable * ns;
    for (const [object, length] of queues) {
      let times = truth.queues.get(object);
      if (!times) truth.queues.set(object, (times = []));
      times[length] = (times[length] ?? 0) + ns;
    }
    for (const { state: now, thread } of processors) {
      if (now === state.idle) continue;
      const { all, innermost } = charged(thread >= 0 ? threads.get(thread) : undefined);
      for (const one of all) {
        one.states[names[now]!] += ns;
        if (now === state.useful) one.usefulRunnableNs += runnable * ns;
        if (now === state.spinning) continue;
        one.byBusyNs[busy - 1]! += ns;
        one.idlenessNs += (ns * idle) / busy;
        one.spinBlameNs += (ns * spinning) / busy;
      }
      if (now !== state.spinning) innermost.byBusySelfNs[busy - 1]! += ns;
    }
    for (const [index, thread] of threads) {
      if (running.has(index) || thread.state < state.ready) continue;
      for (const one of charged(thread).all) one.states[names[thread.state]!] += ns;
    }
  };

  let lastNs = fromNs;
  for (const event of events) {
    const ns = Math.min(Math.max(event.ns, fromNs), toNs);
    if (ns > lastNs) {
      integrate(ns - lastNs);
      lastNs = ns;
    }
    switch (event.kind) {
      case 'now': {
        const processor = processors[event.processor];
        if (!processor) throw new Error(`the trace has a processor ${event.processor} of ${processorCount}`);
        processor.state = event.state;
        processor.thread = event.thread;
        break;
      }
      case 'begin':
        threads.set(event.thread, { serial: event.serial, state: 0, keys: [] });
        break;
      case 'end':
        threads.delete(event.thread);
        break;
      case 'state':
      case 'stack': {
        const thread = threads.get(event.thread);
        if (!thread) break; // the record is being initialized or released
        if (event.kind === 'state') thread.state = event.state;
        else thread.keys = event.keys;
        break;
      }
      case 'queue':
        queues.set(event.object, event.length);
        break;
    }
  }
  if (toNs > lastNs) integrate(toNs - lastNs);
  return truth;
}
