/**
 * Known time paths of programs that wait by the kernel's futex through syscall(): C++'s objects in headers, Rust's, and
 * calls by hand. The path is known, nothing of it is inferred; waits are counted.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { KernelWork, timePathOf, workSpanOf, type Entity, type Model } from '../../ts-frontend/src/model/index.js';
import { needing, skip } from '../support/capabilities.js';
import { record } from '../support/record.js';
import { root } from '../support/root.js';
import { temporaryDirectory } from '../support/temporary.js';
import { checkCase, forked, handedOver, type Case } from './path-cases.js';

const cxx = join(root, 'build/test/known-answers/path-programs/path_futex');
const rust = join(temporaryDirectory(), 'waits');
let isRustBuilt = false;
function buildRust(): void {
  if (isRustBuilt) return;
  execFileSync('rustc', ['-O', '-g', join(root, 'test/known-answers/path-programs/waits.rs'), '-o', rust], {
    stdio: 'pipe',
  });
  isRustBuilt = true;
}

const rounds = 60; // in path-programs/futex.cc

const waited = ({ rawKind, object, members }: Entity): boolean =>
  rawKind === 'futex' && members.length === 0 && (object?.contended ?? 0) > 0;

/** Each wait at a futex is counted, and none of the path is inferred from what else ran. */
function judgeFutexes(t: ExecutionContext, model: Model, names: RegExp): void {
  for (const entity of model.entities.filter(waited)) {
    t.true(entity.object?.waitsCounted, entity.name);
    t.false(entity.object?.counted, 'how often nobody had to wait is not known');
    t.regex(entity.name, names);
  }
  // A busy machine lets threads look for each other in loops of sched_yield, which are recognized and inferred.
  const { waitNs, runNs } = model.cpuWait;
  if (waitNs > runNs) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  const most = waitNs < 0.1 * runNs ? 0.03 : 0.2;
  const inferredNs = timePathOf(model)?.inferredNs ?? Infinity;
  t.true(inferredNs <= most * model.elapsedNs, `${inferredNs / 1e6} of ${model.elapsedNs / 1e6} ms are inferred`);
}

const inTurns: Case['shares'] = { ping: [0.35, 0.65], pong: [0.35, 0.65] };
const late: Case['shares'] = { late: [0.8, 1], early: [0, 0.2] };
const locked: Case['shares'] = { locked: [0.7, 1], outside: [0, 0.3] };
const unparked: Case['shares'] = { longer: [0.5, 0.78], after: [0.22, 0.5], shorter: [0, 0.08] };
const cases: [string, Case, RegExp][] = [
  ['std::barrier', { name: '', args: 'barrier', shares: late }, /^std::barrier::arrive_and_wait at futex\.cc:\d+$/],
  [
    'std::latch',
    { name: '', args: 'latch', shares: forked, inTurn: ['before', 'longer', 'after'] },
    /::at_latch\(\)::done$/,
  ],
  [
    'std::counting_semaphore',
    { name: '', args: 'semaphore', shares: handedOver },
    /^std::counting_semaphore::acquire at futex\.cc:\d+$/,
  ],
  // 60 rounds of two threads; the first one need not wait.
  [
    'std::atomic::wait',
    { name: '', args: 'value', shares: inTurns, futexWaits: 119 },
    /^std::atomic<int>::wait at futex\.cc:\d+$/,
  ],
  ['calls by hand', { name: '', args: 'hand', shares: late }, /::word$/],
  [
    'the first of several words',
    { name: '', args: 'any', shares: { late: [0.7, 0.9], produce: [0.1, 0.3], early: [0, 0.05] } },
    /::words$/,
  ],
  [
    'waiters that are moved to another word',
    { name: '', args: 'moved', shares: { longer: [0.5, 0.78], after: [0.22, 0.5] } },
    /word$/,
  ],
  [
    'a wait that its deadline ends',
    {
      name: '',
      args: 'deadline',
      shares: { after: [0.85, 1], shorter: [0, 0.1] },
      least: { state: 'blocked', ms: 280 },
    },
    /word$/,
  ],
];
for (const [what, one, names] of cases)
  needing(
    `file:${cxx}`,
    'perf_event_open',
    'process_vm_readv',
  )(what, async (t) => {
    judgeFutexes(t, (await checkCase(t, cxx, one)).model, names);
  });

/** With the names that Rust's procedures have. */
const inRust = (shares: Case['shares']): Case['shares'] =>
  Object.fromEntries(Object.entries(shares).map(([name, range]) => [`waits::${name}`, range]));
const rustCases: [string, Case, RegExp][] = [
  ['Mutex', { name: '', args: 'mutex', shares: locked }, /Mutex::lock\w* at waits\.rs:\d+$/],
  ['RwLock', { name: '', args: 'rwlock', shares: locked }, /RwLock::write\w* at waits\.rs:\d+$/],
  ['Condvar', { name: '', args: 'condvar', shares: inTurns }, /(Condvar::wait|Mutex::lock\w*) at waits\.rs:\d+$/],
  ['a channel', { name: '', args: 'channel', shares: handedOver }, /::recv at waits\.rs:\d+$/],
  ['park', { name: '', args: 'park', shares: unparked }, /park at waits\.rs:\d+$/],
];
for (const [what, one, names] of rustCases)
  needing(
    'tool:rustc',
    'perf_event_open',
    'process_vm_readv',
  )(`Rust: ${what}`, async (t) => {
    buildRust();
    judgeFutexes(t, (await checkCase(t, rust, { ...one, shares: inRust(one.shares) })).model, names);
  });

needing(`file:${cxx}`)('calls that find another value are no waits', async (t) => {
  const { model } = await record(cxx, { args: ['at-once'] });
  const word = model.entities.find(({ rawKind, name }) => rawKind === 'futex' && name.endsWith('word'));
  t.deepEqual([word?.object?.contended, word?.object?.acquisitions, word?.object?.waitNs], [0, 1000, 0]);
});

needing(`file:${cxx}`)('each wait by hand is counted once, and timed', async (t) => {
  const { model } = await record(cxx, { args: ['hand'] });
  const word = model.entities.find(({ rawKind, name }) => rawKind === 'futex' && name.endsWith('::word'));
  const { contended = 0, waitNs = 0 } = word?.object ?? {};
  t.true(contended > 0 && contended <= 60, `${contended} waits of 60 rounds`);
  // Asleep by snapshots and by the waits' own clocks; both have what it takes until a woken thread runs.
  const asleepNs = word?.states.blocked.ns ?? 0;
  t.true(waitNs > 0.7 * asleepNs - 5e6, `${waitNs / 1e6} ms, by snapshots ${asleepNs / 1e6}`);
  t.true(model.findings.every(({ facts }) => facts.form !== 'lock'));
});

needing(
  `file:${cxx}`,
  'perf_event_open',
  'x86-64',
)("what the kernel does for a wait that the layer makes is the futex's, and threads hand on", async (t) => {
  const { model } = await record(cxx, { args: ['turns'] });
  if (!model.head.paths.kernel) {
    skip(t, 'the kernel gives no samples of its own work');
    return;
  }
  const { tuples } = model.raw;
  const sum = (work: number): number => tuples.ns.reduce((ns, its, k) => ns + (tuples.kernel[k] === work ? its : 0), 0);
  t.true(sum(KernelWork.futex) > 5 * sum(KernelWork.call), `${sum(KernelWork.futex)} ${sum(KernelWork.call)}`);
  if (model.cpuWait.waitNs >= 0.1 * model.cpuWait.runNs) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  // Whether handing on or waking takes more of that differs between machines.
  const waits = model.findings.reduce(
    (most, { facts }) =>
      Math.max(
        most,
        facts.form === 'hand-overs' ? (facts.waits?.count ?? 0) : 0,
        facts.form === 'wake-ups' ? facts.waits : 0,
      ),
    0,
  );
  t.true(waits > 1000 && waits <= 60_000, `${waits} waits (${model.findings.map(({ facts }) => facts.form).join()})`);
});

needing(`file:${cxx}`)('work and span: a thread goes on after the one that wakes it', async (t) => {
  // 20 and 4 units, the latter beside the former.
  const { model, file } = await record(cxx, { args: ['hand'], span: true });
  const parallelism = workSpanOf(model)?.parallelism ?? 0;
  t.true(parallelism > 1.05 && parallelism < 1.4, `${parallelism} (${file})`);
  // Those of C++ look for each other in a loop before they sleep: on a busy machine they hardly sleep, and the order of
  // those that do not is not seen.
  for (const [args, low, high] of [
    ['value', 0.95, 1.25], // in turns
    ['semaphore', 1.1, 1.5], // 20 units, 15 of them one after the other
  ] as const) {
    const its = await record(cxx, { args: [args], span: true });
    const { waitNs, runNs } = its.model.cpuWait;
    const slept = its.model.entities.filter(waited).reduce((sum, { object }) => sum + (object?.contended ?? 0), 0);
    if (waitNs >= 0.1 * runNs || slept < rounds / 2) {
      skip(t, 'other programs had the CPUs');
      continue;
    }
    const known = workSpanOf(its.model)?.parallelism ?? 0;
    t.true(known > low && known < high, `${args}: ${known} (${its.file})`);
  }
});
