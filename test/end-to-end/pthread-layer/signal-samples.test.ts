/**
 * Where the kernel refuses samples (perf_event_open), the program's threads take them of themselves by signals
 * (abi/signal_samples.h), of which the program notices nothing.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { findEntities, KernelWork, type Model } from '../../../ts-frontend/src/model/index.js';
import { item } from '../../../ts-frontend/src/model/profile/columns.js';
import { root } from '../../support/root.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { dividesItsWork, hadCpus, program } from './helpers.js';

const test = needing('process_vm_readv', 'x86-64');

interface Refused {
  model: Model;
  stdout: string;
}
async function refused(t: ExecutionContext, command: readonly string[], how: readonly string[] = []): Promise<Refused> {
  const file = temporaryFile('refused.quartz');
  const { status, stdout, stderr } = await start(join(root, 'build/test/support/denied'), [
    'perf_event_open',
    sampler,
    'record',
    '-q',
    ...how,
    '-o',
    file,
    '--',
    ...command,
  ]).ended;
  t.is(status, 0, stderr);
  const model = openModel(file);
  t.true(model.head.paths.signals, 'samples by signals');
  t.false(model.head.paths.noSamples);
  return { model, stdout };
}
const ran = (model: Model, name: string): number =>
  findEntities(model, name).reduce((sum, id) => {
    const { kind, processorTimeNs } = item(model.entities, id);
    return sum + (kind === 'procedure' ? processorTimeNs : 0);
  }, 0);

test('running threads have their procedures, and the report says where the samples come from', async (t) => {
  const { model } = await refused(t, [program('paths')]);
  dividesItsWork(t, model, (name) => ran(model, name), 0.15);
  const forbidden = model.notices.flatMap((notice) => (notice.form === 'forbidden' ? [notice.what] : []));
  t.is(forbidden[0], 'signal-samples');
  // Beside other programs, threads run for less than a tick at a time, and are often not seen at any.
  t.deepEqual(forbidden.slice(1), hadCpus(model) ? [] : forbidden.slice(1).filter((what) => what === 'rare-samples'));
  t.true(model.head.runningSampleNs > 0, 'what a sample costs');
});

for (const [what, reasons] of [
  ['write', [KernelWork.write]],
  ['malloc', [KernelWork.fault, KernelWork.memory]],
] as const)
  test(`the kernel's work is distinguished from the program's: ${what}`, async (t) => {
    const { model } = await refused(t, [program('kernel_work'), what]);
    const { kernel, ns } = model.raw.tuples;
    const during = ns.reduce((sum, its, k) => sum + ((reasons as readonly number[]).includes(kernel[k]!) ? its : 0), 0);
    const { systemNs } = model.kernelUsage!;
    t.true(during > 0.7 * systemNs && during < 1.2 * systemNs + 50e6, `${during} of ${systemNs} ns`);
  });

test('calls that the signal interrupts go on, and it cannot be reset or blocked by accident', async (t) => {
  const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime: string } }).header;
  if (Number(glibcVersionRuntime.split('.')[1]) > 40) {
    skip(t, 'this C library has no numbers of system calls in its code');
    return;
  }
  const { stdout } = await refused(t, [program('interrupted'), '59']);
  t.is(stdout, '0\n');
});

for (const how of ['handles', 'waits for'])
  test(`a program that ${how} the signal gets it`, async (t) => {
    const { stdout } = await refused(t, [program('own_signal'), ...(how === 'handles' ? [] : ['wait'])]);
    const [, came, sent, unasked] = /^(\d+) of (\d+), (\d+) unasked$/m.exec(stdout)!.map(Number);
    t.true(sent! >= 30);
    t.deepEqual([came, unasked], [sent, 0]);
  });

test('a program that a shell starts, which becomes it, has samples', async (t) => {
  const { model } = await refused(t, ['sh', '-c', `${program('paths')}; exit $?`]);
  t.true(ran(model, 'fill') > 0);
});

test('a file that follows another one while the program runs has samples, too', async (t) => {
  const file = temporaryFile('rotated.quartz');
  const command = [sampler, 'record', '-q', '--rotate', '1', '-o', file, '--', program('unmarked_loops')];
  const ended = await start(join(root, 'build/test/support/denied'), ['perf_event_open', ...command]).ended;
  t.is(ended.status, 0, ended.stderr);
  const files = readdirSync(dirname(file)).filter((name) => name.includes('rotated'));
  // In the last one, or where other programs had the CPUs, there may be hardly any snapshot.
  const later = files
    .sort()
    .slice(1)
    .map((name) => openModel(join(dirname(file), name)))
    .filter(({ head }) => head.snapshots > 5);
  t.true(later.length > 0 && later.every(({ head }) => head.paths.signals), files.join(' '));
  t.true(later.some(({ head }) => head.paths.running && head.runningSamples > 0));
});
