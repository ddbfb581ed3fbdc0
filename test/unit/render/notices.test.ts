/**
 * The sentence of each notice: the facts are made by hand, so that a golden contains the wording, whatever the model
 * finds.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { buildModel, type LossNotice, type Model, type Notice } from '../../../ts-frontend/src/model/index.js';
import { head } from '../../../ts-frontend/src/render/parts/head.js';
import { noticeLine } from '../../../ts-frontend/src/render/notices/index.js';
import { root } from '../../support/root.js';
import { example } from './example.js';

const s = 1e9;
const model = buildModel(example());
const [work, table, join_] = [3, 4, 10];

const cpuWait = { form: 'cpu-wait', waitNs: s, runNs: 4 * s, share: 0.2, ownNs: 0.1 * s, othersNs: 0.8 * s } as const;
const pace = {
  form: 'pace',
  thread: 5,
  count: 119,
  everyNs: 0.0167 * s,
  everySdNs: 0.0002 * s,
  lengthNs: 0.013 * s,
  lengthSdNs: 0.0015 * s,
} as const;
const loss = (what: LossNotice['what'], count: number, of: number | null = null): Notice => ({
  form: 'loss',
  what,
  count,
  of,
});
const all: Notice[] = [
  { form: 'no-snapshot' },
  { form: 'few-snapshots', snapshots: 25, margin: 0.2 },
  { ...cpuWait, who: 'threads', cause: 'others', cpus: 2 },
  { ...cpuWait, who: 'threads', cause: 'own', ownNs: 0.9 * s, cpus: 2 },
  { ...cpuWait, who: 'processors', cause: 'own', ownNs: 0.9 * s, cpus: 1 },
  { form: 'many-threads', ns: 0.6 * s, runnable: 3.1, cpus: 2 },
  { ...pace, setsTime: false },
  { ...pace, setsTime: true },
  { form: 'child-processes', childrenNs: 3 * s, ownNs: s, profiled: false },
  { form: 'child-processes', childrenNs: 3 * s, ownNs: s, profiled: true },
  { form: 'left-processes', started: 1, ownNs: 0.004 * s },
  { form: 'waiting-loop', entity: table, ns: 0.5 * s, lock: true },
  { form: 'waiting-loop', entity: join_, ns: 0.5 * s, lock: false },
  {
    form: 'waiting-teams',
    library: 'OpenMP',
    entities: [table, join_],
    ns: 0.5 * s,
    advice: { pieces: 'larger', threads: 'fewer' },
  },
  { form: 'waiting-teams', library: 'TBB', entities: [join_], ns: 0.5 * s, advice: { pieces: null, threads: null } },
  { form: 'lock-churn', lock: table, by: work, times: 20_000_000, eachNs: 100, totalNs: 2 * s },
  { form: 'waits-again', condition: table, count: 60_000, waits: 100_000 },
  { form: 'no-procedure', hooks: true },
  { form: 'no-procedure', hooks: false },
  { form: 'nothing-ran', ns: s, asleep: true, waiting: [], calls: [] },
  { form: 'nothing-ran', ns: s, asleep: false, waiting: [], calls: [] },
  {
    form: 'nothing-ran',
    ns: s,
    asleep: false,
    waiting: [{ entity: table, threads: 2 }],
    calls: [{ name: 'sigwait', threads: 2.5 }],
  },
  { form: 'nothing-stands-out', leastNs: 0.02 * s, workShare: 0.95 },
  { form: 'unexplained', ns: 0.3 * s },
  loss('torn-copies', 800, 80_000),
  loss('invalid-records', 2),
  loss('deep-calls', 3, 1024),
  loss('calls', 5),
  loss('threads', 6),
  loss('shared-records', 7),
  loss('names', 8),
  loss('runnable-detail', 9),
  loss('cut-stacks', 10),
  loss('grouped-threads', 11),
  { form: 'skipped-snapshots', skipped: 1000, due: 4000 },
  { form: 'close-findings', other: 1, firstNs: 2e8, secondNs: 1.9e8, code: false },
  { form: 'close-findings', other: 2, firstNs: 2e8, secondNs: 1.9e8, code: true },
  { form: 'unmeasured', what: ['hooks'] },
  { form: 'unmeasured', what: ['hooks', 'locks', 'threads made'] },
  { form: 'forbidden', what: 'samples' },
  { form: 'forbidden', what: 'some-samples' },
  { form: 'forbidden', what: 'samples-beside-hooks' },
  { form: 'forbidden', what: 'signal-samples' },
  { form: 'forbidden', what: 'memory' },
  { form: 'forbidden', what: 'calls' },
  { form: 'forbidden', what: 'memory-outside' },
  { form: 'forbidden', what: 'calls-outside' },
  { form: 'outside', holders: true, attached: true },
  { form: 'outside', holders: false, attached: true },
  { form: 'outside', holders: true, attached: false },
  { form: 'no-hooks' },
  { form: 'unnamed', share: 0.25, missing: 'names', stripped: true, detail: 'stripped', module: '/usr/lib/libz.so.1' },
  { form: 'unnamed', share: 0.25, missing: 'places', stripped: false, detail: 'no debug information', module: '' },
];

const written = (options: { ascii: boolean }): string =>
  all.map((notice) => `${notice.form}\n  ${noticeLine(model, notice, options)}\n`).join('');

test('every notice in a sentence', (t) => {
  const file = join(root, 'test/unit/render/golden/notices.txt');
  if (process.env['QUARTZ_UPDATE_GOLDENS']) writeFileSync(file, written({ ascii: false }));
  t.is(written({ ascii: false }), readFileSync(file, 'utf8'));
});

test('a higher rate is not advised where the sampler gets no CPU in time', (t) => {
  const late = buildModel(example({ snapshots: 50, skippedTicks: 19_950 }));
  t.is(late.fewer?.reason, 'late');
  const line = noticeLine(late, { form: 'few-snapshots', snapshots: 50, margin: 0.14 }, { ascii: false });
  t.regex(line, /; let the program run longer$/);
});

test('threads of the program with a real-time class over which the sampler has no precedence are the reason', (t) => {
  const raw = example({ snapshots: 50, skippedTicks: 19_950 });
  const limits = (realtime: number, outranked: number): Model =>
    buildModel({
      ...raw,
      cpuLimits: { ...raw.cpuLimits, realtime: Uint32Array.of(realtime), outranked: Uint32Array.of(outranked) },
    });
  const said = (model: Model): string => head(model, { ascii: true, colour: false, top: 0, width: 1000 }).join('\n');
  t.regex(said(limits(99, 0)), /had to wait for a CPU, because threads of the program have real-time priority 99,/);
  t.regex(said(limits(100, 0)), /threads of the program have class SCHED_DEADLINE, and it may not have a higher one/);
  t.notRegex(said(limits(99, 1)), /real-time/);
  t.notRegex(said(limits(0, 0)), /real-time/);
});
