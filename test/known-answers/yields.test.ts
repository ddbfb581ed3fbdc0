/**
 * Waits by sched_yield, where the CPU is taken by the thread that is waited for: they are waits, for what the thread
 * looks for again, and not threads that are ready; who lets them go is on the time path.
 */
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { timePathOf, type Entity, type Model } from '../../ts-frontend/src/model/index.js';
import { needing } from '../support/capabilities.js';
import { skipsWithoutCpus } from '../support/had-cpus.js';
import { record } from '../support/record.js';
import { root } from '../support/root.js';

const program = join(root, 'build/test/known-answers/path-programs/path_yields');

/** The procedure's share of the time path. */
function onPath(model: Model, name: string): number {
  const path = timePathOf(model);
  const id = model.entities.findIndex((one) => one.kind === 'procedure' && one.name === name);
  const row = path?.entities.find(({ entity }) => entity === id);
  return (row?.onPathNs ?? 0) / Math.max(1, path?.lengthNs ?? 0);
}

/** While one thread works, the other one waits there. */
function judgeWaits(t: ExecutionContext, model: Model, at: readonly Entity[]): void {
  const blockedNs = at.reduce((sum, { states }) => sum + states.blocked.ns, 0);
  const spinningNs = at.reduce((sum, { states }) => sum + states.spinning.ns, 0);
  t.true(blockedNs > 0.5 * model.elapsedNs, `${blockedNs / 1e6} of ${model.elapsedNs / 1e6} ms`);
  t.true(spinningNs < 0.2 * model.elapsedNs, `${spinningNs / 1e6} of ${model.elapsedNs / 1e6} ms`);
}

needing(`file:${program}`)('yields before a futex are part of the wait, and have its predecessor', async (t) => {
  const { model } = await record(program, { args: ['futex'] });
  const words = model.entities.filter(({ rawKind, members }) => rawKind === 'futex' && members.length === 0);
  const contended = words.reduce((sum, { object }) => sum + (object?.contended ?? 0), 0);
  t.true(contended >= 100 && contended <= 500, `${contended} waits of 300`);
  // Who lacks a CPU is ready, not blocked.
  if (skipsWithoutCpus(t, model)) return;
  judgeWaits(t, model, words);
  // 300 and 150 times 20 units, beside 150 times 5.
  const longer = onPath(model, 'longer') + onPath(model, 'begins');
  t.true(longer > 0.7, `${longer}`);
  t.true((timePathOf(model)?.inferredNs ?? Infinity) < 0.1 * model.elapsedNs);
});

needing(`file:${program}`)(
  'a lock that is tried and yielded for is waited for; its holder is on the path',
  async (t) => {
    const { model } = await record(program, { args: ['polls'] });
    const locks = model.entities.filter(({ rawKind, name }) => rawKind === 'mutex' && name.includes('table'));
    if (skipsWithoutCpus(t, model)) return;
    judgeWaits(t, model, locks);
    t.true(onPath(model, 'inside') > 0.65, `${onPath(model, 'inside')}`);
  },
);
