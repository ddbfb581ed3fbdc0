/**
 * A profile made by hand: 4 processors, 2 s. `setup` runs alone for 1 s, then 4 workers run `work` for 1 s, a tenth of
 * it in the lock "table", for which one of them waits another 0.1 s.
 */
import {
  noInstructions,
  noObject,
  noTimePath,
  State,
  type RawEntity,
  type RawObject,
  type RawProfile,
} from '../../../ts-frontend/src/model/index.js';
import { noSleeps, plainHead, unknownEntity } from '../../support/plain-rows.js';

const ms = 1e6;
/** The cost of a hook, in ps: as if measured, and negligible. */
const nextToNothing = 1e-9;
const entity = (kind: RawEntity['kind'], name: string, more: Partial<RawEntity> = {}): RawEntity => ({
  ...unknownEntity,
  kind,
  name,
  ...more,
});

const entities: RawEntity[] = [
  entity('procedure', ''),
  entity('procedure', 'main', { file: '/src/prog.c', line: 40, address: 0x1000 }),
  entity('procedure', 'setup', { file: '/src/prog.c', line: 10, address: 0x1100 }),
  entity('procedure', 'work', { file: '/src/work.c', line: 5, address: 0x1200 }),
  entity('mutex', 'table', { file: '/src/prog.c', line: 7, address: 0x1010 }),
  entity('thread', 'main', { record: 1 }),
  ...[1, 2, 3, 4].map((k) => entity('thread', `worker ${k}`, { address: 0x1200, record: k + 1 })),
  entity('join', '', { file: '/src/prog.c', line: 50, address: 0x1020 }),
];

// Stacks: node -> entity, parent.
const nodes: [number, number][] = [
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 3],
  [10, 1],
];
const [, , inSetup, inWork, inTable, inJoin] = [0, 1, 2, 3, 4, 5];

type Row = {
  stack: number;
  thread: number;
  state: number;
  waiting?: number;
  busy: number;
  ms: number;
  runnable: number;
};
const rows: Row[] = [
  { stack: inSetup, thread: 5, state: State.useful, busy: 1, ms: 1000, runnable: 1 },
  ...[6, 7, 8].flatMap((thread): Row[] => [
    { stack: inWork, thread, state: State.useful, busy: 4, ms: 900, runnable: 4 },
    { stack: inWork, thread, state: State.useful, busy: 3, ms: 100, runnable: 3 },
  ]),
  { stack: inWork, thread: 9, state: State.useful, busy: 4, ms: 800, runnable: 4 },
  { stack: inTable, thread: 9, state: State.useful, busy: 4, ms: 100, runnable: 4 },
  { stack: inTable, thread: 9, state: State.blocked, waiting: 1, busy: 3, ms: 100, runnable: 3 },
  { stack: inJoin, thread: 5, state: State.blocked, waiting: 1, busy: 4, ms: 1000, runnable: 4 },
];

const object = (id: number, more: Partial<RawObject>): RawObject => ({ ...noObject(id), instances: 1, ...more });
const queue = (empty: number, one: number): Partial<RawObject> => {
  const queueNs = new Float64Array(32);
  queueNs[0] = empty * ms;
  queueNs[1] = one * ms;
  return { queueNs, observedNs: (empty + one) * ms, queueLengthNs: one * ms };
};

const numbers = (list: readonly number[]): Float64Array => Float64Array.from(list);

/** The profile, with `change` applied to its head. */
export function example(change: Partial<RawProfile['head']> = {}): RawProfile {
  return {
    path: 'prog.quartz',
    head: {
      ...plainHead,
      pid: 100,
      samplerPid: 99,
      processors: 4,
      cpus: 5,
      program: '/home/me/prog',
      arguments: './prog input',
      host: 'example',
      startedRealtimeNs: 1.7e18,
      firstNs: 1e9,
      roundsBegun: 20000,
      snapshots: 20000,
      elapsedNs: 2000 * ms,
      visits: 80000,
      weightSquaresUs2: 2e8,
      samplerCpuNs: 2000 * ms,
      rateHz: 10000,
      samplerCpu: 4,
      samplerSpins: true,
      hookMostPs: nextToNothing,
      lockMostPs: nextToNothing,
      spawnPs: nextToNothing,
      stackLimit: 64,
      spawns: 4,
      switches: 10,
      steals: 3,
      parks: 3,
      ...change,
    },
    strings: () => '',
    entities,
    stacks: { entity: Uint32Array.from(nodes, ([e]) => e), parent: Uint32Array.from(nodes, ([, p]) => p) },
    tuples: {
      stack: Uint32Array.from(rows, (row) => row.stack),
      thread: Uint32Array.from(rows, (row) => row.thread),
      state: Uint8Array.from(rows, (row) => row.state),
      waiting: Uint8Array.from(rows, (row) => row.waiting ?? 0),
      torn: new Uint8Array(rows.length),
      kernel: new Uint8Array(rows.length),
      busy: Uint16Array.from(rows, (row) => row.busy),
      spinning: new Uint16Array(rows.length),
      runnable: Uint32Array.from(rows, (row) => row.runnable),
      count: numbers(rows.map((row) => row.ms * 10)),
      ns: numbers(rows.map((row) => row.ms * ms)),
      runnableNs: numbers(rows.map((row) => row.ms * row.runnable * ms)),
    },
    balance: {
      busy: Uint16Array.of(1, 4, 3),
      spinning: new Uint16Array(3),
      runnable: Uint32Array.of(1, 4, 3),
      overheadNs: new Float64Array(3),
      count: numbers([10000, 9000, 1000]),
      ns: numbers([1000 * ms, 900 * ms, 100 * ms]),
      runnableNs: numbers([1000 * ms, 3600 * ms, 300 * ms]),
    },
    ...noInstructions(),
    ...noTimePath(),
    objects: [
      object(4, { acquisitions: 500, contended: 1, waitNs: 100 * ms, waitMaxNs: 100 * ms, ...queue(1900, 100) }),
      object(10, { acquisitions: 4, contended: 1, waitNs: 1000 * ms, waitMaxNs: 1000 * ms, ...queue(1000, 1000) }),
    ],
    waitOverlap: {
      object: new Uint32Array(0),
      stack: new Uint32Array(0),
      thread: new Uint32Array(0),
      count: new Uint32Array(0),
      ns: new Float64Array(0),
      waitersNs: new Float64Array(0),
    },
    blame: {
      object: new Uint32Array(0),
      stack: new Uint32Array(0),
      thread: new Uint32Array(0),
      count: new Uint32Array(0),
      ns: new Float64Array(0),
    },
    calls: {
      site: numbers([1, 2, 3, 4]),
      caller: Uint32Array.of(1, 1, 3, 1),
      callee: Uint32Array.of(2, 3, 4, 10),
      count: numbers([1, 4, 500, 4]),
    },
    threads: [5, 6, 7, 8, 9].map((id, k) => ({
      entity: id,
      creator: k === 0 ? 0 : 5,
      serial: k + 1,
      firstNs: k === 0 ? 0 : 1000 * ms,
      lastNs: 2000 * ms,
      ...noSleeps,
    })),
    modules: [],
    timeline: {
      startNs: numbers([0, 1000 * ms]),
      ns: numbers([1000 * ms, 1000 * ms]),
      usefulNs: numbers([1000 * ms, 3900 * ms]),
      overheadNs: new Float64Array(2),
      spinningNs: new Float64Array(2),
      idleNs: numbers([3000 * ms, 100 * ms]),
      runnableNs: numbers([1000 * ms, 3900 * ms]),
      snapshots: Uint32Array.of(10000, 10000),
      top: Uint32Array.of(2, 3),
    },
    processors: {
      usefulNs: numbers([2000 * ms, 1000 * ms, 1000 * ms, 900 * ms]),
      overheadNs: new Float64Array(4),
      spinningNs: new Float64Array(4),
      idleNs: numbers([0, 1000 * ms, 1000 * ms, 1100 * ms]),
    },
  };
}

/** The same run with nothing sampled. */
export function empty(): RawProfile {
  const full = example({ snapshots: 0, roundsBegun: 0, elapsedNs: 0, visits: 0, samplerCpuNs: 0, weightSquaresUs2: 0 });
  const none = <T extends object>(columns: T): T =>
    Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, (column as Float64Array).slice(0, 0)]),
    ) as T;
  return {
    ...full,
    entities: entities.slice(0, 1),
    tuples: none(full.tuples),
    balance: none(full.balance),
    objects: [],
    calls: none(full.calls),
    threads: [],
    timeline: none(full.timeline),
    stacks: { entity: new Uint32Array(1), parent: new Uint32Array(1) },
  };
}
