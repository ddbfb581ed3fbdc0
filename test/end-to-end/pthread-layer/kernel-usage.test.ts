/**
 * Figures in a report's head that plain tools show, too, are the kernel's: the program prints what the kernel counted.
 */
import test from 'ava';
import { kernelUsageText } from '../../../ts-frontend/src/render/wording/kernel-usage.js';
import type { KernelUsage, Model } from '../../../ts-frontend/src/model/index.js';
import { openModel, sampler, start, temporaryFile, underWay } from '../../support/record.js';
import { program } from './helpers.js';

/** The time before `main` and after its last statement, and the clock's granularity. */
const aroundNs = 30e6;

function usageOf(model: Model): KernelUsage {
  if (!model.kernelUsage) throw new Error('the profile has no usage');
  return model.kernelUsage;
}

test('processor times, switches and page faults are those that the kernel counts', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { stdout, stderr, status } = await start(sampler, ['record', '-q', '-o', file, '--', program('usage')]).ended;
  t.is(status, 0, stderr);
  const [userNs = 0, systemNs = 0, voluntary = 0, involuntary = 0, faults = 0] = stdout.split(' ').map(Number);
  const model = openModel(file),
    usage = usageOf(model);
  const near = (what: string, reported: number, real: number, around: number): void => {
    t.true(Math.abs(reported - real) <= 0.02 * real + around, `${what}: ${reported} reported, ${real} real`);
  };
  near('processor time', usage.userNs + usage.systemNs, userNs + systemNs, aroundNs);
  near('system time', usage.systemNs, systemNs, aroundNs);
  near('voluntary switches', usage.switches?.voluntary ?? 0, voluntary, 50);
  near('involuntary switches', usage.switches?.involuntary ?? 0, involuntary, 50);
  near('page faults', usage.faults.minor + usage.faults.major, faults, 500);
  near('CPUs used', usage.cpusUsed, (userNs + systemNs) / model.elapsedNs, 0.05);
  t.is(usage.threadsAtOnce, 2);
  const text = kernelUsageText(model, { ascii: true });
  t.regex(
    text,
    /^CPUs: [\d.]+ of \d+ used, [\d.]+ threads runnable on average; user [\d.]+ m?s, system [\d.]+ m?s; 2 threads; /,
  );
});

test('while it runs, times and faults are known; switches when recording has ended', async (t) => {
  const file = temporaryFile('profile.quartz');
  const recording = start(sampler, ['record', '-q', '-o', file, '--', program('attach_while_busy')]);
  let early: KernelUsage | undefined;
  // the kernel may count the first ms as system time
  await underWay(file, 1, ({ kernelUsage }) => ((early = kernelUsage)?.userNs ?? 0) > 0);
  recording.child.kill('SIGTERM');
  await recording.ended;
  t.is(early?.switches, null);
  t.true((early?.userNs ?? 0) > 0);
  const late = usageOf(openModel(file));
  t.true(late.userNs > 0 && late.ns > 0);
});

test('child processes are not counted in', async (t) => {
  const file = temporaryFile('profile.quartz');
  const child = program('usage');
  const command = ['sh', '-c', `${child}; exit 0`];
  const { status } = await start(sampler, ['record', '-q', '--no-follow', '-o', file, '--', ...command]).ended;
  t.is(status, 0);
  const model = openModel(file),
    usage = usageOf(model);
  t.true(model.head.childrenRunNs > 0.6e9);
  t.true(usage.userNs + usage.systemNs < 0.2e9, `${usage.userNs + usage.systemNs} ns`);
});
