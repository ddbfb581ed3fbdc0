/** The icicle graph in the terminal: widths are elapsed time, fill characters show how few processors were busy. */
import test from 'ava';
import { aloneness, buildModel, flameOf, type Model } from '../../../ts-frontend/src/model/index.js';
import { flameReport, type RenderOptions } from '../../../ts-frontend/src/render/index.js';
import { serialThenParallel } from '../../support/example-profiles.js';
import { ProfileBuilder, run } from '../../support/profile-builder.js';

const options: RenderOptions = { width: 40, colour: false, ascii: true, top: 20 };
const modelOf = (builder: ProfileBuilder): Model => buildModel(builder.build(), { compensate: false });
/** The rows of bars. */
const barsOf = (model: Model, entity: number, more: Partial<RenderOptions> = {}): string[] =>
  flameReport(model, flameOf(model, entity), { ...options, ...more })
    .split('\n\n')[1]!
    .trimEnd()
    .split('\n');
const idOf = (model: Model, name: string): number => model.entities.find((one) => one.name === name)!.id;

test('as wide as the elapsed time; what ran alone and what ran beside others are distinguished', (t) => {
  const model = modelOf(serialThenParallel());
  const [, main, parts] = barsOf(model, 0);
  t.is(main, `main ${'-'.repeat(34)}`); // 2.5 of 4 on average
  t.is(parts, `a ${'#'.repeat(17)} b ${'.'.repeat(17)}`);
  t.regex(barsOf(model, 0, { ascii: false })[2]!, /^a █{17} b ·{17}$/);
  for (const line of flameReport(model, flameOf(model, 0), options).split('\n')) t.true(line.length <= 40, line);
});

test('focus: all contexts of a procedure as one, its own calls counted once', (t) => {
  const model = modelOf(
    new ProfileBuilder({ processors: 1 })
      .stretch(3e9, [run('t', ['main', 'one', 'work', 'leaf'])])
      .stretch(1e9, [run('t', ['main', 'two', 'work', 'again', 'work', 'leaf'])]),
  );
  const id = idOf(model, 'work');
  const root = flameOf(model, id);
  t.is(root.nptNs, model.entities[id]!.nptNs);
  t.deepEqual(
    root.open().map(({ entity, nptNs }) => [model.entities[entity]!.name, nptNs]),
    [
      ['leaf', 3e9],
      ['again', 1e9],
    ],
  );
  t.is(barsOf(model, id)[1], `leaf ${'.'.repeat(24)} again ...`);
});

test('rows at most, and what is said then; a hostile name moves no cursor', (t) => {
  const deep = modelOf(
    new ProfileBuilder({ processors: 1 }).stretch(1e9, [
      run(
        't',
        Array.from({ length: 50 }, (_, k) => `f${k}\u001b[2J`),
      ),
    ]),
  );
  const text = flameReport(deep, flameOf(deep, 0), options);
  t.regex(text, /There are more contexts below; --top 0\s+shows all/);
  t.notRegex(text, /\u001b/);
  t.is(barsOf(deep, 0).length, 20);
  t.is(barsOf(deep, 0, { top: 0 }).length, 51);
});

test('bars end where their caller ends: where all widths are rounded, none reaches into the next one', (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const builder = new ProfileBuilder({ processors: 1 });
    for (let k = 1; k <= 15; k++)
      builder.stretch(1e6 + ((k * seed * 7919) % 9973) * 1e3, [run('t', ['main', `f${k}`, `g${k}`, `h${k}`])]);
    const rows = barsOf(modelOf(builder), 0);
    for (const row of rows) t.true(row.length <= 40, row);
    const starts = (row: string, letter: string): number[] =>
      [...row.matchAll(new RegExp(`${letter}\\d`, 'g'))].map(({ index }) => index);
    t.deepEqual(starts(rows[3]!, 'g'), starts(rows[2]!, 'f'));
    t.deepEqual(starts(rows[4]!, 'h'), starts(rows[2]!, 'f'));
  }
});

test('five steps from alone to all processors', (t) => {
  t.deepEqual(
    [1, 1.7, 2.5, 3.3, 4].map((busy) => aloneness(busy, 4)),
    [0, 1, 2, 3, 4],
  );
  t.is(aloneness(1, 1), 4);
  t.is(aloneness(0.5, 4), 0);
});

test('nothing at work', (t) => {
  const empty = modelOf(new ProfileBuilder({ processors: 2 }));
  t.regex(flameReport(empty, flameOf(empty, 0), options), /Nothing was seen at work/);
});
