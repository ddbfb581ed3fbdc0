/** Contenders run alternately; one that fails or is missing is reported, and the others continue. */
import test from 'ava';
import type { Bench, Contender, RowPlan } from '../../../bench/harness/bench.js';
import type { Recorded } from '../../../bench/harness/recorded_ratios.js';
import { rowText } from '../../../bench/harness/report_text.js';
import { measure } from '../../../bench/harness/trial.js';

const effort = { rounds: 7, seconds: 60, note: () => undefined };
const nothing: Recorded = { ratios: [], figures: [] };

function contender(name: string, ns: readonly number[], more: Partial<Contender> = {}): Contender {
  let round = 0;
  return { name, peer: name !== 'quartz', take: () => Promise.resolve({ ns: ns[round++ % ns.length]! }), ...more };
}
const bench = (contenders: readonly Contender[], targets: RowPlan['targets'], more: Partial<RowPlan> = {}): Bench => ({
  name: 'test',
  title: 'Test',
  isolates: 'nothing',
  plan: () => ({ trials: [{ contenders, rows: [{ id: 'row', what: 'a thing', unit: 'ns', targets, ...more }] }] }),
});

test('the ratio to the best peer, and its verdict', async (t) => {
  const { rows } = await measure(
    bench(
      [contender('quartz', [10]), contender('slow', [50]), contender('fast', [20])],
      [
        { ours: 'quartz', against: 'best peer', most: 0.6 },
        { ours: 'quartz', against: 'best peer', most: 0.5, ahead: true },
        { ours: 'quartz', most: 9 },
      ],
    ),
    effort,
  );
  const [within, level, absolute] = rows[0]!.targets;
  t.is(within!.against, 'fast');
  t.is(within!.ratio!.value, 0.5);
  t.is(within!.verdict, 'met');
  t.is(level!.verdict, 'missed');
  t.is(absolute!.verdict, 'missed');
});

test('a target that the interval straddles is met or missed within noise', async (t) => {
  const noisy = [8, 9, 10, 11, 12, 13, 14];
  const { rows } = await measure(
    bench(
      [contender('quartz', noisy)],
      [
        { ours: 'quartz', most: 12 },
        { ours: 'quartz', most: 10 },
      ],
    ),
    effort,
  );
  t.deepEqual(
    rows[0]!.targets.map((one) => one.verdict),
    ['met within noise', 'missed within noise'],
  );
});

test('a missing peer is reported as missing, with the recorded ratio and its date', async (t) => {
  const { rows } = await measure(
    bench(
      [contender('quartz', [10]), contender('argobots', [], { missing: 'not found' })],
      [{ ours: 'quartz', against: 'argobots', most: 0.4 }],
    ),
    effort,
  );
  t.is(rows[0]!.targets[0]!.verdict, 'not measured');
  const recorded: Recorded = {
    ratios: [
      {
        date: '2026-11-20',
        machine: 'm',
        entries: [{ row: 'row', ours: 'quartz', against: 'argobots', ratio: 0.31, low: 0.3, high: 0.33 }],
      },
    ],
    figures: [{ date: '2026-11-19', machine: 'other', entries: [{ row: 'row', against: 'argobots', value: 38 }] }],
  };
  const text = rowText(rows[0]!, recorded);
  t.regex(
    text,
    /argobots +- +missing: not found; recorded 2026-11-20: quartz at 0\.31 of it; on another machine, 2026-11-19: 38\.0 ns/,
  );
  t.regex(text, /at most 0\.4 of argobots: 0\.31 \[0\.30, 0\.33\] recorded 2026-11-20 +NOT MEASURED/);
  t.regex(rowText(rows[0]!, nothing), /missing: not found/);
});

test('a contender that fails is reported, and the others go on', async (t) => {
  const failing = contender('broken', [], { take: () => Promise.reject(new Error('it broke\nin two lines')) });
  const { rows } = await measure(bench([failing, contender('quartz', [10])], []), effort);
  const [broken, quartz] = rows[0]!.contenders;
  t.like(broken, { failed: 'it broke in two lines' });
  t.true('samples' in quartz! && quartz.samples.length === 7);
});

test('a benchmark that cannot be planned is reported, and throws nothing', async (t) => {
  const { rows, failed } = await measure(
    {
      ...bench([], []),
      plan: () => {
        throw new Error('no compiler');
      },
    },
    effort,
  );
  t.deepEqual(rows, []);
  t.is(failed, 'no compiler');
});

test('a value may be what is added to that of another contender', async (t) => {
  const { rows } = await measure(
    bench([contender('plain', [5]), contender('quartz', [7])], [], { value: (of, one) => of(one) - of('plain') }),
    effort,
  );
  t.deepEqual(
    rows[0]!.contenders.map((one) => ('samples' in one ? one.value : NaN)),
    [0, 2],
  );
});

test('each round begins with another contender', async (t) => {
  const order: string[] = [];
  const noting = (name: string): Contender => ({
    name,
    peer: true,
    take: () => {
      order.push(name);
      return Promise.resolve({ ns: 1 });
    },
  });
  await measure(bench([noting('a'), noting('b')], []), { ...effort, rounds: 2 });
  t.deepEqual(order, ['a', 'b', 'b', 'a']);
});

test('a row may leave out contenders that others are compared with', async (t) => {
  const { rows } = await measure(
    bench([contender('plain', [5]), contender('quartz', [7])], [], {
      value: (of, one) => of(one) / of('plain'),
      shown: ['quartz'],
    }),
    effort,
  );
  t.deepEqual(
    rows[0]!.contenders.map((one) => [one.name, 'samples' in one ? one.value : NaN]),
    [['quartz', 1.4]],
  );
});
