/** Which rows of a view are shown, and in what order, by columns and by metrics of the user's own. */
import test from 'ava';
import {
  buildModel,
  derivedMetric,
  viewOf,
  type AmountName,
  type DerivedMetric,
  type Model,
} from '../../../ts-frontend/src/model/index.js';
import { orderOf, shownRows } from '../../../ts-frontend/src/render/views/view-rows.js';
import { ProfileBuilder, run } from '../../support/profile-builder.js';

const second = 1e9;
/** `serial` takes 2 s alone; `both` 3 s on two processors, of which 2 s of one of them are in `inner`. */
const model = (): Model =>
  buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(2 * second, [run('main', ['main', 'serial'])])
      .stretch(2 * second, [run('main', ['main', 'both', 'inner']), run('w', ['main', 'both'])])
      .stretch(second, [run('main', ['main', 'both']), run('w', ['main', 'both'])])
      .build(),
  );
function shown(sort: AmountName | DerivedMetric, most = 0): string[] {
  const its = model();
  return shownRows(viewOf(its, 'tree'), orderOf(sort), most).rows.map(({ row, depth, hot }) => {
    const name = row.subject.kind === 'entity' ? (its.entities[row.subject.entity]?.name ?? '') : '';
    return `${' '.repeat(depth)}${hot ? '>' : ''}${depth === 0 ? '' : name}`;
  });
}
const by = (definition: string): DerivedMetric => derivedMetric(model(), `m = ${definition}`);

test('by a column, siblings and the hot path are those of the column', (t) => {
  t.deepEqual(shown('npt'), ['>', ' >main', '  >both', '   inner', '  serial']);
  t.deepEqual(shown('idle'), ['>', ' >main', '  >serial', '  both', '   inner']);
});

test('a metric that is a sum of columns is like a column', (t) => {
  t.deepEqual(shown(by('idle + spin / 2')), shown('idle'));
  t.deepEqual(shown(by('2 * idle / processors')), shown('idle'));
  t.deepEqual(shown(by('idle'), 3), ['>', ' >main', '  >serial']);
});

test('a ratio orders the rows, but those shown and the hot path are those of NPT', (t) => {
  // serial: all of it with another processor idle
  t.deepEqual(shown(by('idle / time')), ['>', ' >main', '  serial', '  >both', '   inner']);
  t.deepEqual(shown(by('idle / time'), 3), ['>', ' >main', '  >both']);
});

test("differences, and rows' own parts, are no sums", (t) => {
  for (const [definition, adds] of [
    ['npt + idle', true],
    ['npt - idle', false],
    ['-npt', false],
    ['npt_self', false],
    ['max(npt, idle)', false],
    ['(2 + 1) * npt', true],
    ['(1 - 3) * npt', false],
    ['-3 * npt', false],
    ['npt * npt / time', false],
    ['elapsed + npt', false],
  ] as const)
    t.is(by(definition).adds, adds, definition);
  // of 2.5 s below `main`, `both` has 2 of which `inner` has 1 itself; `main` has none
  t.deepEqual(shown(by('npt_self')).slice(2), ['  serial', '  >both', '   inner']);
});
