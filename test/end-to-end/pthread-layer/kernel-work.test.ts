/** The kernel's work for a program is reported by procedure and by reason, with the usual remedy. */
import { statfsSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { findEntities, KernelWork, type Finding, type Model } from '../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program, unsampled } from './helpers.js';

interface Recorded {
  model: Model;
  finding: Finding | undefined;
  remedy: string;
}

async function recordCase(t: ExecutionContext, what: string): Promise<Recorded | undefined> {
  const file = temporaryFile('profile.quartz');
  const ended = await start(sampler, ['record', '-q', '-o', file, '--', program('kernel_work'), what]).ended;
  t.is(ended.status, 0, ended.stderr);
  const model = openModel(file);
  const why = unsampled(model) ?? (model.head.paths.kernel ? undefined : 'the kernel gives no samples of its own work');
  if (why !== undefined) {
    t.pass(why);
    return undefined;
  }
  const finding = model.findings.find(({ kind }) => kind === 'kernel');
  return { model, finding, remedy: finding ? findingSentences(model, finding, { ascii: true }).remedy : '' };
}

const systemOf = (model: Model, name: string): number =>
  Math.max(0, ...findEntities(model, name).map((id) => model.entities[id]!.systemNs ?? 0));

test('memory that malloc and free take from the system again and again: the thresholds', async (t) => {
  const reported = await recordCase(t, 'malloc');
  if (!reported) return;
  const { model, finding, remedy } = reported;
  t.is(finding?.name, 'fill_blocks');
  t.like(finding?.facts, { form: 'kernel-work', work: 'memory', allocator: true });
  t.regex(remedy, /MALLOC_TRIM_THRESHOLD_/);
  const usage = model.kernelUsage!;
  t.true(
    Math.abs((model.root.systemNs ?? 0) - usage.systemNs) <= 0.2 * usage.systemNs + 50e6,
    `${model.root.systemNs} ns by samples, ${usage.systemNs} ns by the kernel's count`,
  );
  t.true(systemOf(model, 'free') > 0);
});

test('memory that is mapped for each use: keep it', async (t) => {
  const reported = await recordCase(t, 'map');
  if (!reported) return;
  t.is(reported.finding?.name, 'map_each');
  t.like(reported.finding?.facts, { form: 'kernel-work', work: 'memory', allocator: false });
  t.regex(reported.remedy, /Keep mapped memory/);
});

test('writes of few bytes: more at a time', async (t) => {
  const reported = await recordCase(t, 'write');
  if (!reported) return;
  const { model, finding, remedy } = reported;
  t.is(finding?.name, 'write_lines');
  t.like(finding?.facts, { form: 'kernel-work', work: 'write' });
  t.regex(remedy, /Write more per call/);
  const calls = model.kernelUsage?.calls;
  if (calls) t.true(calls.writes >= 1_000_000 && calls.writes < 1_010_000, `${calls.writes} writes`);
});

test('calls for sockets are no reads and writes, of which alone the kernel has counts', async (t) => {
  const reported = await recordCase(t, 'send');
  if (!reported) return;
  const { model, finding } = reported;
  t.is(finding?.name, 'pass_message');
  t.like(finding?.facts, { form: 'kernel-work', work: 'calls', calls: null });
  for (const { facts, name } of model.findings)
    if (facts.form === 'kernel-work' && facts.work !== 'calls') t.is(name, 'log_line', facts.work);
});

/** The type of a file system without a device (statfs(2)). */
const tmpfs = 0x01021994;

test('writes that end when they are on the device are recognized by how the file was opened', async (t) => {
  const reported = await recordCase(t, 'sync');
  if (!reported) return;
  const { head } = reported.model;
  if (head.paths.noCalls || statfsSync('/tmp').type === tmpfs) {
    t.pass('no device, or in which calls threads sleep may not be read here');
    return;
  }
  t.deepEqual([head.writesThrough, head.writesElsewhere], [true, false]);
});

test('futex calls by syscall() are what waiting and waking take, no calls to make fewer of', async (t) => {
  const reported = await recordCase(t, 'wake');
  if (!reported) return;
  if (process.arch !== 'x64') {
    t.pass('the caller of syscall() is looked at on x86-64 alone');
    return;
  }
  const { model, finding } = reported;
  t.is(finding, undefined);
  const { kernel, ns } = model.raw.tuples;
  const sum = (kind: number): number => ns.reduce((all, one, k) => all + (kernel[k] === kind ? one : 0), 0);
  t.true(sum(KernelWork.futex) > 10 * sum(KernelWork.call), `${sum(KernelWork.futex)} ${sum(KernelWork.call)}`);
});
