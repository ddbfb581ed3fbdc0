/** What a program would show with its CPUs to itself keeps what was seen of who waits while who runs. */
import test from 'ava';
import type { RawProfile } from '../../../ts-frontend/src/model/index.js';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import {
  costsBesideIdle,
  prepareWaitOverlap,
  waitersBeside,
} from '../../../ts-frontend/src/model/evidence/wait-overlap.js';
import { isDisturbed, undisturbed } from '../../../ts-frontend/src/model/evidence/undisturbed.js';
import { ProfileBuilder, ready, run, spin, wait, woken } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

/** One of two workers is kept from its CPU for nine of ten seconds, while main waits for both. */
function recorded(): RawProfile {
  const main = wait('main', ['main', 'join:end']);
  return new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 12 * second, cpuWaitNs: 9 * second },
  })
    .stretch(9 * second, [main, run('w1', ['main', 'work']), ready('w2', ['main', 'work'])])
    .stretch(second, [main, run('w1', ['main', 'work']), run('w2', ['main', 'work'])])
    .stretch(second, [main, run('w1', ['main', 'work'])])
    .build();
}

/** How many threads waited on average while one of two processors ran `work`, by the pairs. */
function waiters(raw: RawProfile): { mean: number; ns: number } {
  const costs = costsBesideIdle(raw);
  const members = Array.from(costs.keys()).filter((node) => costs[node]! > 0);
  const [mean = 0] = waitersBeside(prepareWaitOverlap(raw), members).values();
  return { mean, ns: members.reduce((sum, node) => sum + costs[node]!, 0) };
}

test('no more threads wait than did', (t) => {
  const raw = recorded();
  t.true(isDisturbed(raw));
  const before = waiters(raw);
  t.is(before.ns, 10 * second);
  t.true(Math.abs(before.mean - 1) < 1e-9, `${before.mean}`);
  const after = waiters(undisturbed(raw, () => false));
  t.true(Math.abs(after.ns - second) < 1e-3 * second, `${after.ns / second} s are left in which one runs alone`);
  t.true(Math.abs(after.mean - 1) < 1e-9, `${after.mean}`);
});

test('who has been woken for a lock, and waits for a CPU, would not have worked beside who has it', (t) => {
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 2 * second },
  })
    .stretch(2 * second, [run('w1', ['main', 'work']), { ...woken('w2', ['main', 'condition:turn']), state: 'ready' }])
    .build();
  const turn = raw.entities.findIndex(({ kind }) => kind === 'condition');
  const twoBusyNs = (isLock: boolean): number => {
    const { busy, ns } = undisturbed(raw, (id) => isLock && id === turn).balance;
    return ns.reduce((sum, its, k) => sum + (busy[k] === 2 ? its : 0), 0);
  };
  t.deepEqual([twoBusyNs(true), twoBusyNs(false)], [0, 2 * second]);
});

test('who comes late because others had its CPU has no larger share; who has more to do has, there too', (t) => {
  const end = spin('main', ['main', 'futex(barrier):GOMP_barrier at a.c:9']);
  const main = run('main', ['main', 'work']),
    w = run('w', ['main', 'work']);
  for (const [more, isUneven] of [
    [0, false],
    [2, true],
  ] as const) {
    const builder = new ProfileBuilder({
      processors: 2,
      head: { publisher: 'pthread', cpuRunNs: (4 + 2 * more) * second, cpuWaitNs: second },
    })
      .stretch(second, [main, w])
      .stretch(0.5 * second, [main, ready('w', ['main', 'work'])])
      .stretch(0.5 * second, [end, ready('w', ['main', 'work'])])
      .stretch(0.5 * second, [end, w]);
    if (more > 0) builder.stretch(more * second, [end, w]);
    const { findings } = buildModel(builder.build());
    t.is(
      findings.some(({ kind }) => kind === 'imbalance'),
      isUneven,
    );
  }
});
