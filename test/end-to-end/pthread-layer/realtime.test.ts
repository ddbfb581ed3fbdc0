/** Programs whose threads have a real-time class: the sampler takes precedence over them. */
import test from 'ava';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { skip } from '../../support/capabilities.js';
import { sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

const highest = 99;

for (const priority of [10, highest])
  test.serial(`threads of real-time priority ${priority} that keep all CPUs busy: snapshots are taken`, async (t) => {
    const file = temporaryFile('profile.quartz');
    const { status } = await start(sampler, [...['record', '-q', '-o', file, '--', program('realtime'), `${priority}`]])
      .ended;
    if (status === 77) {
      skip(t, 'this user may not have real-time priority');
      return;
    }
    t.is(status, 0);
    const { head, balance, cpuLimits } = openProfile(file);
    t.is(cpuLimits.realtime[0], priority);
    t.is(cpuLimits.outranked[0], 1);
    // No thread sleeps for 600 ms: without precedence there are hardly any while they work. With it there are as many
    // as they cost, of which the machine decides.
    const busy = balance.busy.reduce((sum, b, k) => sum + (b > 0 ? (balance.count[k] ?? 0) : 0), 0);
    t.true(busy >= 30, `${busy} of ${head.snapshots} in ${head.elapsedNs / 1e6} ms`);
  });
