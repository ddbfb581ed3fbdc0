/** Statically linked programs, which contain the C library: its procedures are recognized nevertheless. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { directory, quartz, run } from '../../support/run-quartz.js';
import { openModel, sampler, start } from '../../support/record.js';
import { unsampled } from './helpers.js';

const source = `
#include <pthread.h>
#include <time.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void update_table(void) {
  pthread_mutex_lock(&table);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  pthread_mutex_unlock(&table);
}
__attribute__((noinline)) static void *work(void *unused) {
  for (int k = 0; k < 20; k++) update_table();
  return unused;
}
int main(void) {
  pthread_t threads[3];
  for (int k = 0; k < 3; k++) pthread_create(&threads[k], NULL, work, NULL);
  for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
  return 0;
}
`;

for (const how of ['-static', '-static-pie'])
  test.serial(`${how}: the C library's procedures are not the program's`, async (t) => {
    const cwd = directory();
    writeFileSync(join(cwd, 'held.c'), source);
    const built = await run('cc', ['-g', '-O1', how, '-pthread', '-o', 'held', 'held.c'], { cwd });
    t.is(built.status, 0, built.stderr);
    const file = join(cwd, 'held.quartz');
    const ended = await start(sampler, ['record', '-q', '-o', file, '--', join(cwd, 'held')]).ended;
    t.is(ended.status, 0, ended.stderr);
    const refused = await quartz(['path', file]);
    t.regex(refused.stderr, /no time path was recorded: .* watched from outside.*link it dynamically/s);
    const model = openModel(file);
    if (unsampled(model) !== undefined || !model.head.paths.waits) return t.pass('nothing is seen from outside here');
    const procedures = model.entities.filter(({ kind, id }) => kind === 'procedure' && id !== 0);
    const originOf = (name: string): string | undefined => procedures.find((one) => one.name === name)?.origin;
    t.is(originOf('update_table'), 'own', procedures.map(({ name }) => name).join(' '));
    t.is(originOf('work'), 'own');
    const others = procedures.filter(({ name }) => !['update_table', 'work', 'main'].includes(name));
    t.deepEqual(
      others.filter(({ origin, name }) => origin === 'own' && name !== '_start').map(({ name }) => name),
      [],
    );
    t.is(originOf('start_thread'), undefined, 'paths begin with the program');
    // Holders of the lock while others waited; a snapshot may see a holder when it has just acquired the lock.
    const holders = model.raw.blame;
    let elsewhereNs = 0,
      allNs = 0;
    for (let k = 0; k < holders.ns.length; k++) {
      const names: string[] = [];
      for (let n = holders.stack[k]!; n !== 0; n = model.raw.stacks.parent[n]!)
        names.push(model.entities[model.raw.stacks.entity[n]!]!.name);
      allNs += holders.ns[k]!;
      if (names.length > 0 && !names.includes('update_table')) elsewhereNs += holders.ns[k]!;
    }
    t.true(elsewhereNs <= 0.05 * allNs, `${elsewhereNs} of ${allNs} ns`);
  });
