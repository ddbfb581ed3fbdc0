/** CPUs that the program may not use, on profiles made by hand. P = 2 and kernel threads (publisher pthread). */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import type { CpuLimitColumn } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import { report, type RenderOptions } from '../../../../ts-frontend/src/render/index.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf } from '../../../support/facts.js';
import { ProfileBuilder, ready, run } from '../../../support/profile-builder.js';

const plain: RenderOptions = { width: 10_000, colour: false, ascii: true, top: 20 };

/** Two threads on one CPU for ten seconds, of which they waited for a CPU for ten. */
function modelOf(limits: Partial<Record<CpuLimitColumn, number>>): Model {
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 10 * second, cpuWaitNs: 10 * second },
  })
    .stretch(10 * second, [run('w1', ['main', 'a']), ready('w2', ['main', 'a'])])
    .build();
  const cpuLimits = { ...raw.cpuLimits };
  for (const [name, value] of Object.entries({ online: 4, allowed: 2, ...limits }))
    cpuLimits[name as CpuLimitColumn] = Float64Array.of(value);
  return buildModel({ ...raw, cpuLimits });
}

test('confined threads: the finding is first, and nobody else had the CPUs', (t) => {
  const model = modelOf({
    fewest: 1,
    confinedNs: 10 * second,
    confinedSavingNs: 5 * second,
    confinedWaitNs: 10 * second,
  });
  const [finding] = model.findings;
  t.deepEqual(factsOf(finding, 'confined'), { form: 'confined', cpus: 1, confinedNs: 10 * second });
  t.deepEqual([finding!.costNs, finding!.savingNs], [10 * second, 5 * second]);
  t.deepEqual([model.cpuWait.ownNs, model.cpuWait.limitNs, model.cpuWait.othersNs], [10 * second, 0, 0]);
  t.false(
    model.notices.some(({ form }) => form === 'cpu-wait'),
    'the finding says it',
  );
  const text = report(model, 'procedures', plain);
  t.notRegex(text, /ther programs had/);
  t.regex(text, /confined to one CPU of the 2 that the program may use/);
});

test('a control group at its limit: what it takes is not taken by other programs', (t) => {
  const model = modelOf({ quotaMilli: 500, periods: 100, throttledPeriods: 80, throttledNs: 8 * second });
  const finding = model.findings.find(({ kind }) => kind === 'cpu-limit');
  t.deepEqual(factsOf(finding, 'throttled'), {
    form: 'throttled',
    quota: 0.5,
    periods: 100,
    throttledPeriods: 80,
    throttledNs: 8 * second,
  });
  t.is(finding!.savingNs, 4 * second); // two CPUs stood still together
  t.is(model.cpuWait.limitNs, 8 * second);
  t.is(model.cpuWait.othersNs, 2 * second);
  const text = report(model, 'procedures', plain);
  t.regex(text, /^The limit of its control group kept this program from CPUs for 40\.0 %/m);
  t.regex(text, /reached in 80 of 100 periods \(80\.0 %\)/);
});

test('a limit that is hardly ever reached, or none, is no finding', (t) => {
  for (const limits of [{ quotaMilli: 500, periods: 100, throttledPeriods: 4, throttledNs: second }, {}])
    t.false(modelOf(limits).findings.some(({ kind }) => kind === 'cpu-limit'));
});

test('profiles that do not say: nothing is known', (t) => {
  t.is(modelOf({ online: 0 }).cpuLimits, null);
});
