/** The cost of instructions: which ones are shown, and that the sums are complete. */
import test from 'ava';
import {
  buildModel,
  codeProcedures,
  disassemblyOf,
  instructionsIn,
  type CodePiece,
  type Model,
} from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

const ms = 1e6;
function modelOf(version = 20): Model {
  const builder = new ProfileBuilder({ processors: 2, head: { version } }).stretch(1000 * ms, [
    run('t', ['main', 'work']),
  ]);
  builder.describe('work', { address: 0x1000, file: '/src/a.c', line: 3 });
  const raw = builder.build();
  const work = raw.entities.findIndex(({ name }) => name === 'work');
  return buildModel({
    ...raw,
    instructions:
      version < 20
        ? raw.instructions
        : {
            address: Float64Array.of(0x1014, 0x1004, 0x1028),
            procedure: Uint32Array.of(work, work, work),
            count: Float64Array.of(600, 399, 1),
            ns: Float64Array.of(600 * ms, 300 * ms, ms),
            nptPs: Float64Array.of(600e9, 150e9, 1e9),
            spinNs: Float64Array.of(0, 99 * ms, 0),
          },
  });
}
/** Fifteen instructions of four bytes: five of line 4, the rest of line 9. */
const piece: CodePiece = {
  start: 0x1000,
  error: '',
  instructions: Array.from({ length: 15 }, (_, k) => ({
    address: 0x1000 + 4 * k,
    text: `op ${k}`,
    file: '/src/a.c',
    line: k >= 3 && k < 8 ? 4 : 9,
    loops: k < 8 ? [{ address: 0x1000, file: '/src/a.c', line: 3 }] : [],
    polls: k < 2,
  })),
};
const work = (model: Model): number =>
  codeProcedures(model, model.entities.find(({ name }) => name === 'work')!.id)[0]!;

test('the hottest lines with what stands beside the costly instructions', (t) => {
  const model = modelOf();
  const { rows, cost, errors } = disassemblyOf(model, work(model), [piece]);
  t.deepEqual(errors, []);
  t.deepEqual(cost, { nptNs: 751 * ms, ns: 901 * ms, spinNs: 99 * ms, samples: 1000 });
  t.is(
    rows.reduce((sum, row) => sum + row.samples, 0),
    1000,
  );
  t.deepEqual(
    rows.filter(({ hottest }) => hottest).map(({ text, nptNs, line }) => [text, nptNs / ms, line]),
    [['op 5', 600, 4]],
  );
  t.deepEqual(
    rows.map(({ text }) => text),
    Array.from({ length: 15 }, (_, k) => `op ${k}`).filter((_, k) => k < 15),
  );
});

test('of one file alone, and without code', (t) => {
  const model = modelOf();
  t.deepEqual(disassemblyOf(model, work(model), [piece], '/src/other.c').rows, []);
  const gone = { start: 0x1000, error: 'binary no longer there', instructions: [] };
  const { rows, errors, cost } = disassemblyOf(model, work(model), [gone, gone]);
  t.deepEqual([rows, errors, cost.samples], [[], ['binary no longer there'], 1000]);
});

test('an older profile has none', (t) => {
  t.is(instructionsIn(modelOf()), 'there');
  t.is(instructionsIn(modelOf(19)), 'older');
  t.deepEqual(codeProcedures(modelOf(19), 1), []);
});
