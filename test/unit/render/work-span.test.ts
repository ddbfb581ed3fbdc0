/** What the report on work and span says: who called what is on the span, places without a name, and more threads. */
import test from 'ava';
import { buildModel, workSpanOf, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import { whatIfKinds } from '../../../ts-frontend/src/model/profile/abi.js';
import { curveLine } from '../../../ts-frontend/src/render/path/curve.js';
import { workSpanReport } from '../../../ts-frontend/src/render/path/work-span.js';
import { ProfileBuilder, run } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

const options = { width: 120, colour: false, ascii: true, top: 20 };

/** One second of `spin` for `prepare`, then two threads in it for `crunch`, created in one line: work 3, span 2. */
function recorded(change: (named: (name: string) => number) => Partial<RawProfile> = () => ({})): RawProfile {
  const worker = ['main', 'worker', 'crunch', 'spin'];
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', spanRecorded: true, workNs: 3 * second, spanNs: 2 * second, levelNs: second },
  })
    .stretch(second, [run('main', ['main', 'prepare', 'spin'])])
    .stretch(second, [run('w1', worker), run('w2', worker)])
    .build();
  const named = (name: string): number => raw.entities.findIndex((one) => one.name === name);
  const under = (name: string): number =>
    raw.stacks.entity.findIndex((entity, n) => {
      const parent = raw.stacks.entity[raw.stacks.parent[n] ?? 0] ?? 0;
      return entity === named('spin') && parent === named(name);
    });
  return {
    ...raw,
    onSpan: {
      stack: Uint32Array.of(under('prepare'), under('crunch')),
      thread: Uint32Array.of(0, 0),
      count: Float64Array.of(1000, 1000),
      ns: Float64Array.of(1.2 * second, 0.8 * second),
    },
    levels: { ns: Float64Array.of(second, 2 * second) },
    sites: {
      site: Float64Array.of(0x1000, 0x1010),
      start: Uint32Array.of(named('worker'), 0),
      count: Float64Array.of(2, 0),
      workNs: Float64Array.of(2 * second, 0),
      spanNs: Float64Array.of(2 * second, 0),
      topCount: Float64Array.of(2, 0),
      topWorkNs: Float64Array.of(2 * second, 0),
      topSpanNs: Float64Array.of(2 * second, 0),
      caller: Uint32Array.of(named('main'), named('main')),
      merges: Float64Array.of(1, 2),
      merged: Float64Array.of(3, 2),
      lost: Float64Array.of(2, 1),
      slackNs: Float64Array.of(0.4 * second, 0.5 * second),
      leastSlackNs: Float64Array.of(0.1 * second, 0.5 * second),
      line: Uint32Array.of(7, 7),
    },
    ...change(named),
  };
}
function textOf(raw: RawProfile): string {
  const model = buildModel(raw);
  return workSpanReport(model, workSpanOf(model)!, options).replace(/\s+/g, ' ');
}
const chosen = (site: number): RawProfile['whatIf'] => [
  {
    kind: whatIfKinds.site,
    name: '',
    entity: 0,
    seen: true,
    found: true,
    missed: false,
    factor: 0,
    spanNs: second,
    workNs: second,
    site,
    sinceNs: second / 10,
  },
];

test('a procedure that has most of the span in itself is named with its callers there', (t) => {
  t.regex(textOf(recorded()), /in spin itself, called by prepare \(60\.0 %\), crunch \(40\.0 %\): make that parallel/);
  const alone = recorded();
  alone.onSpan.stack[0] = alone.onSpan.stack[1]!;
  t.regex(textOf(alone), /in spin itself, called by crunch: make that parallel/);
});

test('predictions are a curve: the time between its bounds, from 0 to the time on one processor', (t) => {
  const row = { processors: 2, ns: 5, lowNs: 3, highNs: 10 };
  t.is(curveLine(row, 23, { ascii: true }), '   |-o----|');
  t.is(curveLine(row, 23, { ascii: false }), '   ├─●────┤');
  t.is(curveLine({ ...row, ns: 23, lowNs: 23, highNs: 23 }, 23, { ascii: true }), `${' '.repeat(23)}o`);
  t.is(curveLine(row, 0, { ascii: true }), '');
});

test('answers to "what if" have a table of their own, and the curve is shown in 80 columns', (t) => {
  const model = buildModel(recorded(() => ({ whatIf: chosen(6) })));
  const text = workSpanReport(model, workSpanOf(model)!, { ...options, width: 80 });
  t.regex(text, /processors +time +at least +at most +speed-up +curve\n +1 +3\.00 s .* o\n/);
  t.regex(text, /processors +as it is +\S.* free\n +1 +3\.00 s +1\.00 s\n +2 +2\.00 s +1\.00 s\n/);
  t.true(text.split('\n').every((line) => line.length <= 80));
});

test('places that wait in one source line are one row', (t) => {
  t.regex(textOf(recorded()), / 300 ms 100 ms 3 60\.0 % 3 main \(/);
});

test('threads that share work may be more: the report says so', (t) => {
  t.regex(textOf(recorded()), /required; with more threads the span may be shorter/);
  const even = recorded();
  even.sites.topWorkNs[0] = second;
  t.notRegex(textOf(even), /with more threads/);
});

test('a place of which nothing is known has no name; one without a creator has that of its threads', (t) => {
  t.regex(textOf(recorded(() => ({ whatIf: chosen(5) }))), /If the threads created at a place whose name is not known/);
  const raw = recorded((named) => ({
    whatIf: chosen(6),
    calls: {
      site: Float64Array.of(6),
      caller: Uint32Array.of(0),
      callee: Uint32Array.of(named('worker')),
      count: Float64Array.of(2),
    },
  }));
  t.regex(textOf(raw), /If threads that run worker were free from 100 ms on/);
  t.notRegex(textOf(raw), /\?/);
});
