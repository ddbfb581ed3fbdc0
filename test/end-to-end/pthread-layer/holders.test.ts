/** Which threads held what others waited for, in programs that are not prepared for Quartz. */
import test from 'ava';
import { type Model } from '../../../ts-frontend/src/model/index.js';
import { skip } from '../../support/capabilities.js';
import { record, start } from '../../support/record.js';
import { hadCpus, near, object, program } from './helpers.js';

/**
 * Names of threads that held an object while others waited, each with its share of the waiting time. Beside other
 * programs, who waited still waits, for a CPU, when nobody holds it any more: that time does not count.
 */
function holders(model: Model, { object: { holders: all } }: ReturnType<typeof object>): Map<string, number> {
  const list = hadCpus(model) ? all : all.filter(({ thread }) => thread !== model.root.id),
    total = list.reduce((sum, { ns }) => sum + ns, 0),
    shares = new Map<string, number>();
  for (const { thread, ns } of list) {
    const name = model.entities[thread]?.name ?? '';
    shares.set(name, (shares.get(name) ?? 0) + ns / total);
  }
  return shares;
}
test.serial('holders are blamed for the waits, readers of a lock in equal parts; held times are right', async (t) => {
  const { model } = await record(program('holders'));
  const named = (name: string): ReturnType<typeof object> => object(model, name);
  for (const [name, held] of [
    ['ledger', 200e6],
    ['gate', 200e6],
    ['table', 400e6],
    ['free_lock', 200e6],
  ] as const)
    near(t, model, `${name} held`, named(name).object.holdNs, held);
  for (const name of ['ledger', 'gate'])
    t.true((holders(model, named(name)).get('keeper') ?? 0) > 0.9, JSON.stringify([...holders(model, named(name))]));
  const readers = holders(model, named('table'));
  for (const name of ['reader-0', 'reader-1'])
    t.true(Math.abs((readers.get(name) ?? 0) - 0.5) < 0.05, JSON.stringify([...readers]));
  t.deepEqual([named('ledger').object.acquisitions, named('ledger').object.contended], [8, 4]);
  t.deepEqual([named('table').object.acquisitions, named('table').object.contended], [3, 1]);
  t.deepEqual([named('gate').object.acquisitions, named('gate').object.contended], [2, 1]);
  t.deepEqual(
    [named('free_lock').object.acquisitions, named('free_lock').object.contended, named('free_lock').object.waitNs],
    [1, 0, 0],
  );
  t.deepEqual([named('tokens').object.acquisitions, named('tokens').object.contended], [1, 1]);
  near(t, model, 'waited for a token', named('tokens').states.blocked.ns, named('tokens').object.waitNs);
  t.is(named('tokens').object.holders.length, 0);
});

test.serial(
  'mutexes by the hundred thousand: counted together, the contended one by itself; memory is not in proportion',
  async (t) => {
    const { model, stdout } = await record(program('many_mutexes'));
    const alone = Number((await start(program('many_mutexes'), []).ended).stdout);
    t.true(Number(stdout) - alone < 8192, `${stdout.trim()} KiB, ${alone} KiB without Quartz`);
    const mutexes = model.entities.filter(({ kind, members }) => kind === 'lock' && members.length === 0);
    t.true(mutexes.length < 1000, String(mutexes.length));
    t.is(
      mutexes.reduce((sum, one) => sum + (one.object?.acquisitions ?? 0), 0),
      204_002,
    );
    const contended = mutexes.filter((one) => (one.object?.contended ?? 0) > 0);
    t.is(contended.length, 1);
    t.true(contended[0]!.object!.waitNs > 150e6);
    const [group] = model.entities.filter(({ kind, members }) => kind === 'lock' && members.length > 0);
    t.is(group?.object?.acquisitions, 204_002);
    t.is(model.head.callsLost, 0, 'calls of 16 places are counted');
    t.regex(group?.file ?? '', /many_mutexes\.c$/);
  },
);

test.serial('holders, in snapshots that stand for so long that each has several parts', async (t) => {
  const { model, status } = await record(program('holders'), { rateHz: 100 });
  t.is(status, 0);
  for (const name of ['ledger', 'gate']) {
    const shares = holders(model, object(model, name));
    t.true((shares.get('keeper') ?? 0) > 0.9, JSON.stringify([...shares]));
  }
});

test.serial(
  'of threads that lack a CPU, few stand in a lock that they mostly work in: its work is not theirs',
  async (t) => {
    const { model, stdout } = await record(program('one_cpu'));
    if (model.elapsedNs > 1.25 * model.cpuWait.runNs) {
      // one of its threads always needs its CPU
      skip(t, 'other programs had the CPUs');
      return;
    }
    const [inside = 0, all = 1] = stdout.trim().split(' ').map(Number);
    const { processorTimeNs } = object(model, 'ledger');
    const shown = processorTimeNs / model.root.processorTimeNs;
    t.true(Math.abs(shown - inside / all) < 0.2, `${shown} of the work holds the lock, really ${inside / all}`);
  },
);
