/**
 * Reports on trees of processes with known numbers. Other programs affect all compared times in the same way: sums, the
 * kernel's own count, and what the programs measure themselves.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { sum } from '../../../ts-frontend/src/tree/numbers.js';
import { readTree, type RawTree } from '../../../ts-frontend/src/tree/tree-file.js';
import { buildTree, type TreeModel } from '../../../ts-frontend/src/tree/tree-model.js';
import { treeJson } from '../../../ts-frontend/src/tree/tree-text.js';
import { needing } from '../../support/capabilities.js';
import { treeSchemaErrors } from '../../support/json-schema.js';
import { root } from '../../support/root.js';
import { command, directory, quartz, run, type Said } from '../../support/run-quartz.js';

const parts = join(root, 'build/test/end-to-end/sampler/tree_parts');
const observing = needing('perf_event_open');

interface Recorded {
  model: TreeModel;
  said: Said;
  file: string;
}

async function record(t: ExecutionContext, ...program: string[]): Promise<Recorded> {
  return recordBy(t, [command], program);
}

async function recordBy(t: ExecutionContext, [first, ...words]: string[], program: string[]): Promise<Recorded> {
  const cwd = directory();
  const said = await run(first!, [...words, 'run', '--tree', '-o', 'tree.quartztree', '--', ...program], { cwd });
  const file = join(cwd, 'tree.quartztree');
  const raw = readTree(file);
  if (typeof raw === 'string') throw new Error(`${raw}: ${said.stderr}`);
  holds(t, raw);
  const model = buildTree(raw);
  t.is(treeSchemaErrors(treeJson(model, { width: 100, colour: false, ascii: false, top: 0 })), '');
  return { model, said, file };
}

/** Sums that hold for every tree (docs/reference/trees.md). */
function holds(t: ExecutionContext, raw: RawTree): void {
  t.is(sum(raw.byBusy), raw.elapsedNs);
  t.is(sum(raw.spans.map(([ns]) => ns)), raw.elapsedNs);
  t.is(sum(raw.kinds.flatMap(({ path }) => path)), raw.elapsedNs);
  for (const [busy, ns] of raw.byBusy.entries()) t.is(sum(raw.kinds.map(({ byBusy }) => byBusy[busy] ?? 0)), busy * ns);
  const model = buildTree(raw);
  const npt = sum(model.kinds.map(({ nptNs }) => nptNs));
  t.true(Math.abs(npt - model.nptNs) < 1000, `NPT of the kinds is ${npt}, something ran for ${model.nptNs}`);
  if (raw.lost > 0) return;
  const kernelNs = raw.userNs + raw.systemNs;
  // What a process takes to start before it is observed is missing; the first one's longest, on a loaded machine.
  const bound = 0.03 * kernelNs + 1e6 * raw.processCount + 3e6 + 3000 * raw.switches;
  t.true(Math.abs(model.runNs - kernelNs) < bound, `${model.runNs} ns, the kernel says ${kernelNs}`);
}

const kind = (model: TreeModel, name: string, forked = false) =>
  model.kinds.find((one) => one.name === name && one.forked === forked);

observing('one after the other and beside each other: processor time, NPT and the path', async (t) => {
  const spin = (ms: number): string => `${parts} spin ${ms}`;
  const { model, said } = await record(t, 'sh', '-c', `${spin(120)}; ${spin(200)} & ${spin(200)} & wait; exit 3`);
  t.is(said.status, 3);
  t.true(said.stdout.includes('What limits it'));
  const spinning = kind(model, 'tree_parts');
  t.is(spinning?.processes, 3);
  t.true(Math.abs((spinning?.runNs ?? 0) - 520e6) < 30e6);
  // The first process and one of the two others are on the path.
  const onPath = model.path.find(({ name }) => name === 'tree_parts');
  t.true(Math.abs((onPath?.ranNs ?? 0) - 320e6) < 30e6, `${onPath?.ranNs} ns`);
  t.is(model.raw.kinds.find(({ name, forked }) => name === 'sh' && forked)?.became, 3);
});

needing(
  'perf_event_open',
  'root',
  'mounts',
  'tool:unshare',
  'file:/proc/self/ns/time',
)("in a time namespace, whose clock is not the one of the kernel's records", async (t) => {
  const ahead = ['unshare', '--time', '--monotonic', '100000', '--fork', command];
  const { model } = await recordBy(t, ahead, ['sh', '-c', `${parts} spin 100; exit 0`]);
  t.true((kind(model, 'tree_parts')?.runNs ?? 0) > 90e6);
});

observing('one process at a time: few jobs, and nothing of it where as many run as there are CPUs', async (t) => {
  const { model } = await record(t, 'sh', '-c', `for k in 1 2 3 4 5 6; do ${parts} spin 30; done`);
  const few = model.findings.find((one) => one.kind === 'few-jobs');
  if (model.raw.cpus > 1) t.like(few, { parent: 'sh', most: 1, children: 6 });
  t.is(model.raw.families[0]?.most, 1);
  const all = `seq 12 | xargs -P ${model.raw.cpus} -n 1 sh -c '${parts} spin 20' x`;
  const beside = await record(t, 'sh', '-c', all);
  t.is(
    beside.model.findings.find((one) => one.kind === 'few-jobs' && one.parent.startsWith('xargs')),
    undefined,
  );
});

const waited = (model: TreeModel, wait: string, pid: number): number =>
  sum(model.waits.filter((row) => row.wait === wait && row.holderPid === pid).map(({ ns }) => ns));

/** Waits are sampled about every 10 ms: that much is unknown at the beginning and at the end. */
const near = (ns: number, truthNs: number): boolean => Math.abs(ns - truthNs) < 0.2 * truthNs + 100e6;

observing('a mutex that processes share: who holds it, and how long the other one waits', async (t) => {
  const { model, said } = await record(t, parts, 'lock', '400');
  const [holder = 0, ns = 0] = said.stdout.split(/\s/).map(Number);
  const found = waited(model, 'lock', holder);
  t.true(near(found, ns), `${found} of ${ns} ns`);
});

observing('a thread that another one joins is no semaphore that processes share', async (t) => {
  const { model, said } = await record(t, parts, 'join', '400');
  const ns = Number(said.stdout.split(/\s/)[1]);
  const of = (wait: string): number => sum(model.waits.filter((row) => row.wait === wait).map((row) => row.ns));
  t.true(near(of('threads'), ns), `${of('threads')} of ${ns} ns`);
  t.is(of('shared'), 0);
});

observing('a pre-fork server with one slow worker', async (t) => {
  const { model, said } = await record(t, parts, 'prefork', '800');
  const [slow = 0, ns = 0] = said.stdout.split(/\s/).map(Number);
  // The parent waits for it and, through the parent, the other worker.
  const found = waited(model, 'socket', slow);
  t.true(near(found / 2, ns), `${found} of twice ${ns} ns`);
  t.true(model.findings.some((one) => one.kind === 'waited-for' && one.pid === slow));
});

observing('time in which nothing runs: who went on after it, and what that process had slept for', async (t) => {
  const { model, said } = await record(t, 'sh', '-c', `${parts} spin 50; sleep 0.6; ${parts} spin 50`);
  const asleep = model.findings.find((one) => one.kind === 'asleep');
  t.true(asleep !== undefined && asleep.costNs > 450e6 && asleep.costNs < 700e6, JSON.stringify(model.findings));
  t.like(asleep?.sleepers[0], { name: 'sleep', wait: 'sleep' });
  t.regex(
    said.stdout.replace(/\s+/g, ' '),
    /Nothing ran for .*, until a process went on that had slept: sleep for a timer \(/,
  );
  const busy = await record(t, parts, 'spin', '200');
  t.false(busy.model.findings.some((one) => one.kind === 'asleep'));
});

observing('a pipe with a slow stage', async (t) => {
  const { model } = await record(t, 'sh', '-c', `${parts} spin 800 | cat | cat`);
  const slow = model.raw.processes.find((one) => model.raw.kinds[one.kind]?.name === 'tree_parts');
  const runNs = (slow?.endNs ?? 0) - (slow?.beginNs ?? 0);
  const found = waited(model, 'pipe-read', slow?.pid ?? 0);
  t.true(near(found / 2, runNs), `${found} of twice ${runNs} ns`);
  const onPath = model.path.find(({ name }) => name === 'tree_parts');
  t.true((onPath?.ranNs ?? 0) > 700e6);
});

observing('many short processes: what it takes to start them', async (t) => {
  const { model } = await record(t, 'sh', '-c', 'k=0; while [ $k -lt 150 ]; do /bin/true; k=$((k + 1)); done');
  t.is(model.raw.processCount, 151);
  t.is(kind(model, 'true')?.processes, 150);
  const found = model.findings.find((one) => one.kind === 'start-up');
  const otherPrograms = model.raw.starvedNs / model.raw.elapsedNs > 0.5; // in that case it takes little time
  if (found?.kind !== 'start-up') t.true(otherPrograms);
  else t.true(found.costNs > 0 && found.costNs < found.mostNs && found.mostNs <= model.nptNs);
  const few = await record(t, parts, 'spin', '50');
  t.false(few.model.findings.some((one) => one.kind === 'start-up'));
});

observing('a damaged file is refused with one line', async (t) => {
  const { file } = await record(t, 'true');
  const bytes = readFileSync(file);
  const refused = async (name: string, damaged: Uint8Array, why: RegExp): Promise<void> => {
    const cwd = directory();
    writeFileSync(join(cwd, name), damaged);
    const said = await quartz(['tree', name], { cwd });
    t.is(said.status, 125);
    t.regex(said.stderr, why);
    t.is(said.stderr.trimEnd().split('\n').length, 1);
  };
  await refused('cut.quartztree', bytes.subarray(0, -10), /^quartz: cut\.quartztree is damaged: it was cut/);
  const other = Buffer.from(bytes);
  other[200] = (other[200] ?? 0) ^ 1;
  await refused('bit.quartztree', other, /is damaged: its checksum is wrong/);
  await refused('text.quartztree', Buffer.from('hello\n'), /is no file of a tree/);
  const endless = await quartz(['tree', '/dev/zero']);
  t.deepEqual([endless.status, endless.stdout], [125, '']);
  t.regex(endless.stderr, /^quartz: \/dev\/zero is not a file; [^\n]+\n$/);
  const none = await quartz(['tree'], { cwd: directory() });
  t.is(none.status, 125);
  t.regex(none.stderr, /there is no \*\.quartztree/);
});

observing('exit codes: of the program, of signals, of what cannot be executed', async (t) => {
  const cwd = directory();
  const status = async (...program: string[]): Promise<number | null> =>
    (await quartz(['record', '--tree', '-q', '--', ...program], { cwd })).status;
  t.is(await status('sh', '-c', 'exit 7'), 7);
  t.is(await status('sh', '-c', 'kill -TERM $$'), 143);
  t.is(await status('./not-there'), 127);
});

observing('with --children there are a tree and a profile of each process', async (t) => {
  const cwd = directory();
  const program = join(root, 'build/test/end-to-end/pthread-layer/spin');
  const words = ['run', '--tree', '--children', '--', 'sh', '-c', `${program} & ${program}; wait; exit 3`];
  const { status, stdout, stderr } = await quartz(words, { cwd });
  t.is(status, 3, stderr);
  const files = readdirSync(cwd);
  t.deepEqual(
    files.filter((name) => name.endsWith('.quartztree')),
    ['sh.quartztree'],
  );
  t.is(files.filter((name) => /^spin-\d+\.quartz$/.test(name)).length, 2, files.join());
  // the report is of the tree, which counts the processes once, and not the sampler that records them
  t.regex(stdout, /\bspin\b/);
  t.notRegex(stdout, /quartz-sampler/);
  const json = JSON.parse((await quartz(['tree', '--json'], { cwd })).stdout) as { kinds: { name: string }[] };
  t.deepEqual([...new Set(json.kinds.map(({ name }) => name))].sort(), ['sh', 'spin']);
});

observing('JSON has what the text says, as the schema describes it', async (t) => {
  const { file } = await record(t, 'sh', '-c', `${parts} spin 50; true`);
  const { stdout, status } = await quartz(['tree', file, '--json']);
  t.is(status, 0);
  t.is(treeSchemaErrors(stdout), '');
  const json = JSON.parse(stdout) as { kinds: { nptNs: number }[]; nptNs: number };
  t.true(json.kinds.length >= 2 && json.nptNs > 0);
});
