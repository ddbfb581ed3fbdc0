/** CPUs that a program's threads may not use: their affinity, and the limit of a control group. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { kernelUsageText } from '../../../ts-frontend/src/render/wording/kernel-usage.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import { lacking, needing, skip } from '../../support/capabilities.js';
import { factsOf } from '../../support/facts.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

/** The first CPU that this process may use. */
const firstCpu = (): string =>
  /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';

/** Recorded by a command that begins with these words. */
async function recorded(how: 'one' | 'own' | 'free', ...before: string[]): Promise<Model> {
  const file = temporaryFile('profile.quartz');
  const [command = sampler, ...rest] = [
    ...before,
    ...[sampler, 'record', '-q', '-o', file, '--', program('confined'), how],
  ];
  const { status, stderr } = await start(command, rest).ended;
  if (status !== 0) throw new Error(stderr);
  return openModel(file);
}

needing('cpus:2')('threads that are pinned to one CPU: that comes first, and no two are busy', async (t) => {
  const model = await recorded('one');
  const [finding] = model.findings;
  const { cpus, confinedNs } = factsOf(finding, 'confined');
  t.is(cpus, 1);
  t.true(confinedNs >= 0.7 * model.elapsedNs, `${confinedNs / 1e6} of ${model.elapsedNs / 1e6} ms`);
  t.true(Math.abs(finding!.savingNs - confinedNs / 2) <= 0.02 * confinedNs); // two threads, one CPU
  t.true((model.balance.byBusyNs[2] ?? 0) <= 0.1 * model.elapsedNs, model.balance.byBusyNs.join());
});

needing('cpus:2')('threads that may use a CPU each, by their affinity or without it, are not confined', async (t) => {
  for (const how of ['own', 'free'] as const) {
    const model = await recorded(how);
    t.is(model.cpuLimits?.confined ?? null, null, how);
    t.false(
      model.findings.some(({ kind }) => kind === 'cpu-limit'),
      how,
    );
  }
});

needing('cpus:2', 'tool:taskset')(
  'a process that is confined as a whole: the head says how many CPUs there are',
  async (t) => {
    const model = await recorded('free', 'taskset', '-c', firstCpu());
    t.is(model.processors, 1);
    t.is(model.cpuLimits?.allowed, 1);
    t.regex(kernelUsageText(model, { ascii: true }), /^CPUs: [\d.]+ of 1 used \(the machine has \d+/);
  },
);

/** A new control group with the limit of half a CPU, and how a process gets into it; null: not possible here. */
function limitedGroup(): { folder: string; members: string } | null {
  const name = `quartz-test-${process.pid}`;
  const v1 = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpu,cpuacct'].find((base) =>
    existsSync(join(base, 'cpu.cfs_period_us')),
  );
  const folder = join(v1 ?? '/sys/fs/cgroup', name);
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  try {
    const write = (name: string, value: string): void => {
      if (!existsSync(join(folder, name))) throw new Error('no controller');
      writeFileSync(join(folder, name), value);
    };
    write(v1 === undefined ? 'cpu.max' : 'cpu.cfs_quota_us', v1 === undefined ? '50000 100000' : '50000');
    // so that it reaches the limit beside other programs, too
    write(v1 === undefined ? 'cpu.weight' : 'cpu.shares', v1 === undefined ? '10000' : '262144');
    return { folder, members: join(folder, 'cgroup.procs') };
  } catch {
    rmdirSync(folder);
    return null;
  }
}

test.serial('a limit of half a CPU for two threads that want one each', async (t) => {
  const group = lacking('root') === undefined ? limitedGroup() : null;
  if (group === null) {
    skip(t, 'no control group with a limit of CPUs can be made here');
    return;
  }
  try {
    const model = await recorded('free', 'sh', '-c', `echo $$ > ${group.members} && exec "$@"`, 'sh');
    t.is(model.cpuLimits?.quota, 0.5);
    const { cpuWait, cpuLimits } = model;
    t.true((cpuLimits?.throttledPeriods ?? 0) > 0, JSON.stringify(cpuLimits));
    t.true(cpuWait.limitNs + cpuWait.othersNs + cpuWait.ownNs <= cpuWait.waitNs);
    // 600 ms of processor time at half a CPU
    const throttled = model.findings.find(({ facts }) => facts.form === 'throttled');
    t.truthy(throttled, JSON.stringify(cpuLimits));
    t.true(
      throttled!.savingNs <= model.elapsedNs - 0.25e9,
      `${throttled!.savingNs / 1e6} of ${model.elapsedNs / 1e6} ms`,
    );
    t.regex(kernelUsageText(model, { ascii: true }), /its control group may use 0\.50/);
  } finally {
    // members leave it when they end
    for (let k = 0; k < 100 && existsSync(group.folder); k++)
      try {
        rmdirSync(group.folder);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
  }
});
