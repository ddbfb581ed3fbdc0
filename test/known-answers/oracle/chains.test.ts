/**
 * Time path and span of random programs, compared with what the programs log about themselves in the same run, so that
 * both contain the influence of the machine.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Model } from '../../../ts-frontend/src/model/index.js';
import { record, temporaryFile } from '../../support/record.js';
import { root } from '../../support/root.js';
import { chainsOf, parseEvents, type ByThread, type ProgramEvent } from './chains.js';

/* ---- traces made by hand ---- */

const ms = 1e6;
/** `12 who what [whom]`: at 12 ms, when its kernel thread has used as much processor time. */
const events = (...lines: string[]): ProgramEvent[] =>
  lines.map((line) => {
    const [at, who, what, whom] = line.split(' ');
    return {
      ns: Number(at) * ms,
      cpuNs: Number(at) * ms,
      what: what!,
      who: Number(who),
      whom: Number(whom ?? 0),
      frame: 0,
    };
  });
const inMs = (chain: ByThread): Record<number, number> =>
  Object.fromEntries([...chain].filter(([, ns]) => ns > 0).map(([who, ns]) => [who, ns / ms]));

test('by hand: the longer of two threads, joined in the order in which they do not end', (t) => {
  const chains = chainsOf(
    events(
      '0 1 begin',
      '10 1 creates 2',
      '10 1 created 2',
      '10 1 creates 3',
      '10 1 created 3',
      '10 2 begin',
      '10 3 begin',
      '10 1 joins 3',
      '40 2 end',
      '20 3 end',
      '20 1 joined 3',
      '20 1 joins 2',
      '40 1 joined 2',
      '45 1 end',
    ).sort((a, b) => a.ns - b.ns),
    1,
    true,
  );
  t.is(chains.workNs, 55 * ms);
  t.is(chains.spanNs, 45 * ms);
  t.deepEqual(inMs(chains.onSpan), { 1: 15, 2: 30 });
  t.deepEqual(inMs(chains.onPath), { 1: 15, 2: 30 });
});

test('by hand: the time path goes through the last to arrive, the span through the longest', (t) => {
  // Thread 2 works for 20 of 50 ms, 3 for 30 of 40.
  const chains = chainsOf(
    [
      ...events('0 1 begin', '0 1 creates 2', '0 1 created 2', '0 1 creates 3', '0 1 created 3', '0 1 joins 2'),
      { ns: 0, cpuNs: 0, what: 'begin', who: 2, whom: 0, frame: 0 },
      { ns: 0, cpuNs: 0, what: 'begin', who: 3, whom: 0, frame: 0 },
      { ns: 40 * ms, cpuNs: 30 * ms, what: 'arrives', who: 3, whom: 9, frame: 0 },
      { ns: 50 * ms, cpuNs: 20 * ms, what: 'arrives', who: 2, whom: 9, frame: 0 },
      ...events('50 3 passes 9', '50 2 passes 9', '50 3 end', '60 2 end', '60 1 joined 2', '60 1 end'),
    ],
    1,
    true,
  );
  t.is(chains.spanNs, 40 * ms);
  t.deepEqual(inMs(chains.onSpan), { 3: 30, 2: 10 });
  t.deepEqual(inMs(chains.onPath), { 2: 60 });
});

test('by hand: a lock orders those who waited for it; a sleep is on the span where that is asked', (t) => {
  const trace = events(
    '0 1 begin',
    '0 1 creates 2',
    '0 1 created 2',
    '0 2 begin',
    '0 1 wants 1',
    '0 1 has 1',
    '5 2 wants 1',
    '10 1 leaves 1',
    '10 1 left 1',
    '10 2 has 1',
    '20 2 leaves 1',
    '20 2 left 1',
    '20 1 wants 1',
    '20 1 has 1',
    '21 1 leaves 1',
    '21 1 left 1',
    '21 1 naps 19000000',
    '30 1 awake',
    '30 1 joins 2',
    '30 2 end',
    '30 1 joined 2',
    '30 1 end',
  );
  const chains = chainsOf(trace, 1, false);
  t.is(chains.spanNs, 30 * ms, '10 of thread 1, then 20 of thread 2');
  t.deepEqual(inMs(chains.onSpan), { 1: 10, 2: 20 });
  t.deepEqual(inMs(chains.onPath), { 1: 30 }, 'who has ended when the join begins is nobody to wait for');
  const slept = chainsOf(trace, 1, true);
  t.is(slept.workNs, chains.workNs);
  t.is(slept.spanNs, 40 * ms, '21 of thread 1, and the 19 that it asked to sleep for, though it slept for 9');
});

/* ---- programs ---- */

const colors = ['red', 'green', 'blue', 'black'];
/** The colour of the innermost procedure that has one; if none has: 4, main. */
function colorOf({ raw, entities }: Model, node: number): number {
  for (let n = node; n !== 0; n = raw.stacks.parent[n]!) {
    const color = colors.indexOf(entities[raw.stacks.entity[n]!]!.name.replace('_member', ''));
    if (color >= 0) return color;
  }
  return 4;
}
/** Shares of those rows, and of that chain, by colour. */
function sharesOf(model: Model, rows: { stack: Uint32Array; ns: Float64Array }): number[] {
  const sums = [0, 0, 0, 0, 0];
  rows.ns.forEach((ns, k) => {
    if (rows.stack[k] !== 0) sums[colorOf(model, rows.stack[k]!)]! += ns;
  });
  const all = sums.reduce((a, b) => a + b, 0);
  return sums.map((ns) => ns / all);
}
function dueOf(trace: readonly ProgramEvent[], chain: ByThread): number[] {
  const sums = [0, 0, 0, 0, 0];
  for (const { what, who, whom } of trace) if (what === 'begin') sums[whom]! += chain.get(who) ?? 0;
  const all = sums.reduce((a, b) => a + b, 0);
  return sums.map((ns) => ns / all);
}

/** What the host of a virtual machine did with this machine's CPUs, which no thread can distinguish from work. */
const stolenTime = (): string => readFileSync('/proc/stat', 'latin1').split(/\s+/)[8] ?? '';

const programs = join(root, 'build/test/known-answers/path-programs');
for (const [name, args, processors] of [
  ['traced_package', ['graph', '1'], 1],
  ['traced_package', ['graph', '2'], 2],
  ['traced_package', ['mesh', '3'], 1],
  ['traced_package', ['mesh', '4'], 2],
  ['traced_pthread', ['graph', '5'], 0],
  ['traced_pthread', ['mesh', '6'], 0],
] as const)
  test.serial(`both chains: ${name} ${args.join(' ')}${processors ? `, on ${processors}` : ''}`, async (t) => {
    const file = temporaryFile('events');
    const env = { TEST_EVENTS: file };
    const binary = join(programs, name);
    const stolenBefore = stolenTime();
    const { model, status, stderr } = await record(binary, { args, processors, span: true, env });
    t.is(status, 0, stderr);
    const isStolen = stolenTime() !== stolenBefore;
    const trace = parseEvents(readFileSync(file), BigInt(model.head.firstNs));
    const isPackage = name === 'traced_package';
    const chains = chainsOf(trace, trace[0]!.who, isPackage);
    const least = chainsOf(trace, trace[0]!.who, isPackage, model.cpuWait.waitNs < 0.1 * model.cpuWait.runNs);

    // The time before the first event, and the cost of each event, is only in the recording; and so is the host's other
    // work, which is invisible in a virtual machine: it counts for little in the typical span.
    const { workNs, spanNs, typicalSpanNs, pathNs, skippedTicks, rateHz } = model.raw.head;
    const outsideNs = Math.max(trace[0]!.ns, trace[0]!.cpuNs);
    t.true(
      workNs > 0.95 * chains.workNs && workNs < 1.2 * chains.workNs + outsideNs,
      `${workNs}, not ${chains.workNs}`,
    );
    t.true(spanNs > 0.95 * least.spanNs, `${spanNs}, not ${least.spanNs} to ${chains.spanNs}`);
    const mostNs = 1.1 * chains.spanNs + outsideNs;
    t.true((isStolen ? typicalSpanNs : spanNs) < mostNs, `${spanNs}, ${typicalSpanNs}, not ${chains.spanNs}`);
    const missedNs = model.cpuWait.waitNs + (1e9 * skippedTicks) / rateHz;
    t.true(Math.abs(pathNs - chains.lengthNs) < 0.05 * chains.lengthNs + outsideNs + missedNs + 20e6);

    const { onPath, onSpan } = model.raw;
    const seen = onSpan.count.reduce((a, b) => a + b, 0);
    for (const [what, is, due, n] of [
      ['time path', sharesOf(model, onPath), dueOf(trace, chains.onPath), model.samples],
      ['span', sharesOf(model, onSpan), dueOf(trace, chains.onSpan), seen],
    ] as const)
      due.forEach((share, k) => {
        const bound = 0.05 + missedNs / pathNs + 4 * Math.sqrt(Math.max(0.05, share * (1 - share)) / n);
        t.true(
          Math.abs(is[k]! - share) < bound,
          `${what}: ${colors[k] ?? 'main'} has ${is[k]!.toFixed(3)}, not ${share.toFixed(3)} by ${bound.toFixed(3)}`,
        );
      });
  });
