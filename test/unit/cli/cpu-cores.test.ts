/** Which CPUs share a core, from what the kernel's files say. */
import test from 'ava';
import { numbersOf, shareCores } from '../../../ts-frontend/src/cli/run/cpu-cores.js';

const machine =
  (allowed: string, siblings: readonly string[]) =>
  (file: string): string => {
    if (file === '/proc/self/status') return `Name:\tx\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`;
    const cpu = /cpu(\d+)\/topology\/thread_siblings_list$/.exec(file)?.[1];
    const list = siblings[Number(cpu)];
    if (list === undefined) throw new Error('ENOENT');
    return `${list}\n`;
  };

test('lists of numbers as the kernel writes them', (t) => {
  t.deepEqual(numbersOf('0-2,5,7-8\n'), [0, 1, 2, 5, 7, 8]);
  t.deepEqual(numbersOf(''), []);
});

test('CPUs that may be used share a core, or not; where the kernel does not say, it is not known', (t) => {
  const pairs = ['0,2', '1,3', '0,2', '1,3'];
  t.true(shareCores(machine('0-3', pairs)));
  t.false(shareCores(machine('0-1', pairs)));
  t.false(shareCores(machine('2', pairs)));
  t.is(shareCores(machine('0-3', ['0'])), null);
  t.is(
    shareCores(() => ''),
    null,
  );
});
