/** The exact computation on traces made by hand, with the answers of docs/reference/metrics.md, section 7. */
import test from 'ava';
import type { TraceEvent } from './trace.js';
import { computeTruth, npt, parallelize, total, type Truth } from './truth.js';

const idle = 0,
  useful = 1,
  overhead = 2,
  spinning = 3,
  ready = 4,
  blocked = 5,
  io = 6;
const second = 1_000_000_000;
const a = 0xa000n,
  b = 0xb000n,
  main = 0x1000n;
const lock = (1n << 63n) | (1n << 32n) | 7n;
const objectOfLock = 7;

const now = (s: number, processor: number, state: number, thread: number): TraceEvent => ({
  ns: s * second,
  kind: 'now',
  processor,
  state,
  thread,
});
const stack = (s: number, thread: number, ...keys: bigint[]): TraceEvent => ({
  ns: s * second,
  kind: 'stack',
  thread,
  keys,
});
const state = (s: number, thread: number, to: number): TraceEvent => ({
  ns: s * second,
  kind: 'state',
  thread,
  state: to,
});
const begin = (s: number, thread: number): TraceEvent => ({
  ns: s * second,
  kind: 'begin',
  thread,
  serial: 100 + thread,
});
const queue = (s: number, length: number): TraceEvent => ({
  ns: s * second,
  kind: 'queue',
  object: objectOfLock,
  length,
});
const four = [0, 1, 2, 3];
const seconds = (ns: number): number => ns / second;
const compute = (events: TraceEvent[], untilS: number): Truth =>
  computeTruth(
    events.sort((x, y) => x.ns - y.ns),
    4,
    0,
    untilS * second,
  );

test('a alone, then b on four processors', (t) => {
  const truth = compute(
    [
      begin(0, 0),
      stack(0, 0, main, a),
      state(0, 0, useful),
      now(0, 0, useful, 0),
      state(1, 0, blocked),
      ...four.flatMap((k) => [begin(1, k + 1), stack(1, k + 1, main, b), now(1, k, useful, k + 1)]),
    ],
    2,
  );
  const ofA = truth.procedures.get(a)!;
  const ofB = truth.procedures.get(b)!;
  t.deepEqual(ofA.byBusyNs.map(seconds), [1, 0, 0, 0]);
  t.deepEqual(ofB.byBusyNs.map(seconds), [0, 0, 0, 4]);
  t.is(seconds(npt(ofA.byBusyNs)), 1);
  t.is(seconds(npt(ofB.byBusyNs)), 1);
  t.is(seconds(npt(truth.procedures.get(main)!.byBusyNs)), 2);
  t.is(seconds(total(truth.procedures.get(main)!.byBusySelfNs)), 0);
  t.is(seconds(ofA.idlenessNs), 3);
  t.is(ofB.idlenessNs, 0);
  t.is(seconds(parallelize(ofA.byBusyNs)), 0.75);
  t.is(parallelize(ofB.byBusyNs), 0);
  t.is(seconds(ofA.states.blocked), 1); // the thread that ran a is blocked with a on its stack
  t.is(seconds(npt(truth.threads.get(100)!.byBusyNs)), 1);
});

test('a beside b', (t) => {
  const truth = compute(
    [
      begin(0, 0),
      stack(0, 0, a),
      now(0, 0, useful, 0),
      ...[1, 2, 3].flatMap((k) => [
        begin(0, k),
        stack(0, k, b),
        now(0, k, useful, k),
        now(1, k, idle, -1),
        state(1, k, blocked),
      ]),
    ],
    2,
  );
  const ofA = truth.procedures.get(a)!;
  t.is(seconds(npt(ofA.byBusyNs)), 1.25);
  t.is(seconds(npt(truth.procedures.get(b)!.byBusyNs)), 0.75);
  t.is(total(ofA.byBusyNs) / npt(ofA.byBusyNs), 1.6);
  t.is(seconds(ofA.idlenessNs), 3);
  t.is(seconds(truth.root.idlenessNs), 3);
});

test('one lock passed round, waiters blocked or spinning', (t) => {
  for (const waiting of [blocked, spinning]) {
    const truth = compute(
      four.flatMap((k) => [
        begin(0, k),
        stack(0, k, lock),
        queue(0, waiting === blocked ? 3 : 0),
        // each holds it for a quarter
        ...four.flatMap((turn) => {
          const at = turn / 4;
          if (turn === k) return [state(at, k, useful), now(at, k, useful, k)];
          return waiting === spinning ? [now(at, k, spinning, k)] : [state(at, k, blocked), now(at, k, idle, -1)];
        }),
      ]),
      1,
    );
    const ofLock = truth.objects.get(objectOfLock)!;
    t.deepEqual(ofLock.byBusyNs.map(seconds), [1, 0, 0, 0]);
    t.is(seconds(npt(ofLock.byBusyNs)), 1);
    t.is(seconds(ofLock.idlenessNs), waiting === blocked ? 3 : 0);
    t.is(seconds(ofLock.spinBlameNs), waiting === blocked ? 0 : 3);
    t.is(seconds(ofLock.states[waiting === blocked ? 'blocked' : 'spinning']), 3);
    t.is(truth.queues.get(objectOfLock)![waiting === blocked ? 3 : 0], second);
  }
});

test('eight threads on four processors that take turns', (t) => {
  const events: TraceEvent[] = [];
  for (let k = 0; k < 8; k++) events.push(begin(0, k), stack(0, k, b));
  for (let turn = 0; turn < 4; turn++) {
    for (let k = 0; k < 8; k++) {
      const runs = turn % 2 === Math.floor(k / 4);
      events.push(state(turn / 2, k, runs ? useful : ready));
      if (runs) events.push(now(turn / 2, k % 4, useful, k));
    }
  }
  const truth = compute(events, 2);
  const ofB = truth.procedures.get(b)!;
  t.deepEqual(ofB.byBusyNs.map(seconds), [0, 0, 0, 8]);
  t.is(seconds(npt(ofB.byBusyNs)), 2);
  t.is(seconds(ofB.states.ready), 8);
  t.is(ofB.usefulRunnableNs / ofB.states.useful, 8);
});

test("recursion counts once, overhead is busy, a processor without a thread is the root's, io is no work", (t) => {
  const truth = compute(
    [
      begin(0, 0),
      stack(0, 0, a, b, a),
      now(0, 0, overhead, 0),
      begin(0, 1),
      stack(0, 1, b),
      state(0, 1, io),
      now(0, 1, overhead, -1),
      now(0, 2, idle, -1),
    ],
    1,
  );
  t.is(seconds(total(truth.procedures.get(a)!.byBusyNs)), 1);
  t.is(seconds(total(truth.procedures.get(a)!.byBusySelfNs)), 1);
  t.is(seconds(total(truth.procedures.get(b)!.byBusyNs)), 1);
  t.is(total(truth.procedures.get(b)!.byBusySelfNs), 0);
  t.is(seconds(truth.procedures.get(b)!.states.io), 1);
  t.deepEqual(truth.root.byBusyNs.map(seconds), [0, 2, 0, 0]);
  t.is(seconds(total(truth.root.byBusySelfNs)), 1);
  t.is(seconds(truth.byBusyNs[2]!), 1);
});

test('only the window counts, with the state at its begin', (t) => {
  const events = [begin(0, 0), stack(0, 0, a), now(0, 0, useful, 0), stack(3, 0, b), now(5, 0, idle, -1)];
  const truth = computeTruth(events, 4, second, 4 * second);
  t.is(seconds(total(truth.procedures.get(a)!.byBusyNs)), 2);
  t.is(seconds(total(truth.procedures.get(b)!.byBusyNs)), 1);
  t.is(truth.elapsedNs, 3 * second);
});
