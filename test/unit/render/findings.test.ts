/** How each form of evidence reads: facts by hand, so that goldens hold the wording, whatever the model finds. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  buildModel,
  type Facts,
  type Finding,
  type IoFacts,
  type LockFacts,
  type Model,
  type OversubscriptionFacts,
  type UnevenFacts,
} from '../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { root } from '../../known-answers/programs.js';
import { example } from './example.js';

const s = 1e9,
  ms = 1e6,
  us = 1e3;
const model: Model = { ...buildModel(example()), notices: [] };
const [setup, work, table, main, worker, join_] = [2, 3, 4, 5, 6, 10];

const finding = (entity: number, facts: Facts, more: Partial<Finding> = {}): Finding => ({
  entity,
  name: model.entities[entity]!.name,
  kind: 'serial',
  change: 'optimize',
  advice: { pieces: null, threads: null },
  facts,
  costNs: 0.5 * s,
  costCi95: { lowNs: 0.4 * s, highNs: 0.6 * s },
  savingNs: 0.25 * s,
  savingCi95: { lowNs: 0.2 * s, highNs: 0.3 * s },
  processorUse: { busy: 1, spinning: 0, idle: 3 },
  bound: null,
  related: [],
  alternatives: [],
  othersMayCause: false,
  ...more,
});
const savesNs = 0.25 * s,
  coarser = 10;
const waiting = { entity: table, threads: 1 };
const lock: LockFacts = {
  form: 'lock',
  takenIn: [],
  spins: false,
  exclusion: null,
  waitedFor: table,
  others: [],
  waiters: 2.4,
  woken: null,
  counted: true,
  acquisitions: 12_345,
  contended: 1,
  waitMeanNs: 2.5 * us,
  holder: work,
  inIo: null,
  mostlyInIo: false,
  unserved: null,
  readyInstead: false,
  savesNs,
};
const uneven: UnevenFacts = {
  form: 'uneven-division',
  code: work,
  barrier: null,
  slowest: null,
  last: null,
  threads: 4,
  atOnce: 4,
  callers: [],
  waiting: null,
  parts: [],
  many: false,
  among: 4,
  evenNs: 0.2 * s,
  spreadNs: null,
};
const io: IoFacts = {
  form: 'io',
  waits: 'device',
  mayBeSleep: false,
  call: 'read',
  threads: 1,
  held: [],
  overlapNs: 0.1 * s,
  restNs: 0,
  goesNs: 0.1 * s,
  several: null,
  childrenNs: null,
};
const shortThreads = {
  form: 'short-threads',
  spawns: 40_000,
  workNs: 50 * us,
  leastNs: 10 * us,
  savesNs,
  coarser: 10,
} as const;
const fewer = { savesNs: 0.25 * s, mostNs: null };
const oversubscribed: OversubscriptionFacts = {
  form: 'oversubscription',
  oversubscribedNs: 1.5 * s,
  runnable: 6,
  harmful: true,
  handOvers: null,
  spinners: { threads: 1, object: table },
  woken: null,
  cpuWait: null,
  fewer,
  blocking: null,
};

const all: [string, Finding][] = [
  [
    'serial',
    finding(setup, {
      form: 'serial',
      oneAtATime: null,
      worker: null,
      callers: [1],
      itself: true,
      waiting,
      parts: [work],
      spreadNs: 0.375 * s,
      smaller: [{ entity: work, costNs: 9 * ms }],
    }),
  ],
  [
    'serial, bound by a longer thread, with other programs',
    finding(
      setup,
      {
        form: 'serial',
        oneAtATime: null,
        worker: null,
        callers: [],
        itself: false,
        waiting: null,
        parts: [],
        spreadNs: 0.375 * s,
        smaller: [],
      },
      { bound: { thread: main, outsideNs: 1.9 * s, mostNs: 0.1 * s }, othersMayCause: true },
    ),
  ],
  [
    'a held lock',
    finding(table, {
      form: 'serial',
      oneAtATime: null,
      worker: null,
      callers: [1, 3],
      itself: false,
      waiting: null,
      parts: [],
      spreadNs: 0.375 * s,
      smaller: [],
    }),
  ],
  [
    'too few threads',
    finding(
      work,
      {
        form: 'too-few-threads',
        threads: 2,
        atOnce: 2,
        many: false,
        waiting: { entity: join_, threads: 2 },
        parts: [setup],
        spreadNs: savesNs,
        even: { threads: 2, savesNs: 0.1 * s },
      },
      { advice: { pieces: 'smaller', threads: 'more' } },
    ),
  ],
  [
    'the same beside other advice',
    finding(work, {
      form: 'too-few-threads',
      threads: 8,
      atOnce: 2,
      many: false,
      waiting: null,
      parts: [],
      spreadNs: savesNs,
      even: null,
    }),
  ],
  [
    'uneven division, a slow thread',
    finding(
      worker,
      { ...uneven, slowest: { thread: worker, workNs: 0.4 * s, meanNs: 0.2 * s }, spreadNs: 0.3 * s },
      { advice: { pieces: 'smaller', threads: 'more' } },
    ),
  ],
  [
    'uneven division, before a barrier, beside other advice',
    finding(join_, { ...uneven, barrier: join_, last: worker, spreadNs: 0.3 * s }),
  ],
  [
    'uneven division of many pieces',
    finding(
      work,
      { ...uneven, threads: 100, atOnce: 9, many: true, callers: [1] },
      { advice: { pieces: 'smaller', threads: null } },
    ),
  ],
  ['threads too small', finding(setup, { form: 'small-threads', spawns: 1, workNs: 900, ready: 1, savesNs })],
  [
    'the slowest stage',
    finding(
      work,
      {
        form: 'slowest-stage',
        code: work,
        stage: { thread: worker, workNs: s },
        next: { thread: main, workNs: 0.4 * s },
        objects: [table, join_, table],
        savesNs,
      },
      { advice: { pieces: null, threads: 'more' } },
    ),
  ],
  [
    'the same beside other advice',
    finding(work, {
      form: 'slowest-stage',
      code: work,
      stage: { thread: worker, workNs: s },
      next: { thread: main, workNs: 0.4 * s },
      objects: [table],
      savesNs,
    }),
  ],
  [
    'passed data',
    finding(
      work,
      { form: 'passed-data', objects: [table], code: work, savesNs },
      { advice: { pieces: 'smaller', threads: null } },
    ),
  ],
  ['passed data beside other advice', finding(work, { form: 'passed-data', objects: [table], code: work, savesNs })],
  ['mutual waits', finding(table, { form: 'mutual-wait', objects: [table], savesNs })],
  [
    'nothing runs',
    finding(
      table,
      {
        form: 'nothing-runs',
        waiting: [waiting, { entity: join_, threads: 2 }],
        waits: [{ entity: table, count: 1, meanNs: 20 * ms }],
      },
      { processorUse: { busy: 0, spinning: 0, idle: 4 } },
    ),
  ],
  ['a lock', finding(table, lock)],
  [
    'a lock held in input',
    finding(table, {
      ...lock,
      contended: 0,
      acquisitions: 1,
      woken: 1,
      inIo: { share: 0.96, call: setup },
      mostlyInIo: true,
      unserved: 0.5,
    }),
  ],
  ['a lock behind another', finding(table, { ...lock, waitedFor: join_, others: [main] })],
  ['a lock before others', finding(table, { ...lock, others: [join_] })],
  [
    'a spin lock seen from outside',
    finding(table, { ...lock, spins: true, counted: false, holder: null, readyInstead: true }),
  ],
  ['spinning', finding(join_, { form: 'spinning', savesNs }, { processorUse: { busy: 1, spinning: 2, idle: 1 } })],
  ['input', finding(work, { ...io, several: { atATime: 2, savesNs } })],
  ['requests', finding(work, { ...io, waits: 'others', call: 'poll', threads: 2.5, held: [waiting] })],
  ['sleep', finding(work, { ...io, waits: 'sleep', call: null })],
  ['child processes', finding(work, { ...io, waits: 'children', call: 'waitpid' })],
  [
    'other processes',
    finding(join_, {
      form: 'processes',
      calls: [
        { entity: join_, ns: 0.5 * s },
        { entity: table, ns: 0.2 * s },
      ],
      further: 1,
      startNs: 0.1 * s,
      messageNs: 0.2 * s,
      collectiveNs: 0.5 * s,
      savesNs: 0.8 * s,
    }),
  ],
  [
    'the start of other processes',
    finding(join_, {
      form: 'processes',
      calls: [{ entity: join_, ns: 0.5 * s }],
      further: 0,
      startNs: 0.5 * s,
      messageNs: 0,
      collectiveNs: 0,
      savesNs: 0.5 * s,
    }),
  ],
  [
    "the package's own work",
    finding(work, {
      form: 'package-work',
      events: { what: 'threads', count: 1_234_567, workNs: 80 },
      savesNs,
      coarser,
    }),
  ],
  [
    'one switch',
    finding(table, { form: 'package-work', events: { what: 'switches', count: 1, workNs: 800 }, savesNs, coarser }),
  ],
  [
    'wake-ups',
    finding(table, {
      form: 'wake-ups',
      waits: 400_000,
      workNs: 5 * us,
      objects: [table, join_],
      again: null,
      savesNs,
      coarser,
    }),
  ],
  [
    'a lock that is handed on all the time',
    finding(table, {
      form: 'hand-overs',
      takenIn: [],
      objects: [table],
      waits: { count: 400_000, workNs: 5 * us },
      handingShare: 0.42,
      leastNs: savesNs,
      mostNs: 2 * savesNs,
      aloneNs: null,
    }),
  ],
  [
    'locks whose waits nobody counts; one thread would do',
    finding(table, {
      form: 'hand-overs',
      takenIn: [],
      objects: [table, join_],
      waits: null,
      handingShare: 0.7,
      leastNs: savesNs,
      mostNs: savesNs,
      aloneNs: savesNs,
    }),
  ],
  [
    'a lock that is taken very often',
    finding(table, {
      form: 'lock-churn',
      objects: [table],
      by: work,
      counts: { times: 12_000_000, waits: 0, eachNs: 50, freeNs: 6 },
      share: 0.6,
      leastNs: savesNs,
      mostNs: 2 * savesNs,
      rarer: 10,
    }),
  ],
  [
    'locks that one thread takes very often',
    finding(table, {
      form: 'lock-churn',
      objects: [table, join_],
      by: null,
      counts: { times: 12_000_000, waits: 1, eachNs: 8, freeNs: 6 },
      share: 0.3,
      leastNs: savesNs,
      mostNs: savesNs,
      rarer: 10,
    }),
  ],
  [
    "a run-time library's own locks",
    finding(work, {
      form: 'lock-churn',
      objects: [],
      by: work,
      counts: null,
      share: 0.3,
      leastNs: savesNs,
      mostNs: savesNs,
      rarer: 10,
    }),
  ],
  [
    'wake-ups for nothing',
    finding(table, {
      form: 'wake-ups',
      waits: 100_000,
      workNs: 24 * us,
      objects: [table],
      again: { condition: table, count: 60_000, waits: 100_000 },
      savesNs,
      coarser,
    }),
  ],
  ['short threads', finding(setup, { ...shortThreads, inlineNs: null })],
  ['short threads, that one thread would do sooner', finding(setup, { ...shortThreads, inlineNs: ms })],
  [
    'OpenMP, small pieces',
    finding(work, { form: 'openmp', library: 'OpenMP', calls: [setup], excludes: false, waitsNs: 0, savesNs, coarser }),
  ],
  [
    'OpenMP, locks',
    finding(work, {
      form: 'openmp',
      library: 'OpenMP',
      calls: [],
      excludes: true,
      waitsNs: 0.1 * s,
      savesNs,
      coarser,
    }),
  ],
  ['more threads than CPUs, one spins', finding(0, oversubscribed)],
  [
    'more threads than CPUs, several spin and are woken',
    finding(0, {
      ...oversubscribed,
      spinners: { threads: 2, object: table },
      woken: { threads: 1, object: table },
      cpuWait: { waitNs: 2 * s, ownNs: s },
      fewer: { savesNs, mostNs: 0.4 * s },
      blocking: 0.1 * s,
    }),
  ],
  [
    'more threads than CPUs, no harm',
    finding(
      0,
      { ...oversubscribed, harmful: false, spinners: null },
      { processorUse: { busy: 4, spinning: 0, idle: 0 } },
    ),
  ],
  [
    'code to make faster',
    finding(
      work,
      {
        form: 'optimize',
        within: { entity: setup, ns: 0.2 * s },
        beside: { entity: setup, ns: 0.9 * s, main },
        mostNs: savesNs,
        calledNs: savesNs / 2,
        even: { part: 0.2, finding: 0 },
        together: 2,
        handedOn: false,
      },
      { processorUse: { busy: 4, spinning: 0, idle: 0 } },
    ),
  ],
  [
    'kernel: memory by the allocator',
    finding(work, {
      form: 'kernel-work',
      work: 'memory',
      called: setup,
      faults: 123_456,
      again: 0.9,
      allocator: true,
      mapping: 0.1,
      takes: true,
      calls: null,
      leastNs: savesNs / 4,
      savesNs,
    }),
  ],
  [
    'kernel: first touches of memory',
    finding(work, {
      form: 'kernel-work',
      work: 'memory',
      called: null,
      faults: 1,
      again: 0,
      allocator: false,
      mapping: 0,
      takes: false,
      calls: null,
      leastNs: savesNs / 4,
      savesNs,
    }),
  ],
  [
    'kernel: small writes',
    finding(work, {
      form: 'kernel-work',
      work: 'write',
      called: null,
      faults: null,
      again: null,
      allocator: false,
      mapping: 0,
      takes: false,
      calls: { count: 1_000_000, bytesEach: 16 },
      leastNs: savesNs / 4,
      savesNs,
    }),
  ],
];

const written = (options: { ascii: boolean }): string =>
  all
    .map(([title, one]) => {
      const { text, remedy } = findingSentences(model, one, options);
      return `${title}\n  ${text}\n  ${remedy}\n`;
    })
    .join('\n');

test('every form of evidence in sentences', (t) => {
  const file = join(root, 'test/unit/render/golden/findings.txt');
  if (process.env['QUARTZ_UPDATE_GOLDENS']) writeFileSync(file, written({ ascii: false }));
  t.is(written({ ascii: false }), readFileSync(file, 'utf8'));
});

test('in ASCII, and in a model with few snapshots', (t) => {
  t.regex(written({ ascii: true }), /^[\n\x20-\x7e]*$/);
  t.regex(
    findingSentences({ ...model, samples: 30 }, all[0]![1], { ascii: true }).text,
    /With so few snapshots it is between 400 ms and 600 ms \(95 %\)\.$/,
  );
});

test('one is one: no "1 threads", no "1 of them are"', (t) => {
  t.notRegex(written({ ascii: false }), /\b1 (threads|times|waits|acquisitions|switches|CPUs|were|have|wait|spin)\b/);
});
