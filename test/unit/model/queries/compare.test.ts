/** Two profiles side by side: changes, their intervals, findings gone and new. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { buildModel, compare, type Comparison, type EntityChange } from '../../../../ts-frontend/src/model/index.js';
import { comparisonCsv, comparisonJson, comparisonReport } from '../../../../ts-frontend/src/render/index.js';
import { root } from '../../../support/root.js';
import { ProfileBuilder as Builder, run } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const workers = ['w#1', 'w#2', 'w#3', 'w#4'];
/** `read` alone for some time, then `solve` on four processors; in a version that was changed it is called `parse`. */
const version = (readNs: number, reader = 'read', processors = 4): ReturnType<typeof buildModel> =>
  buildModel(
    new Builder({ processors })
      .stretch(readNs, [run('main', ['main', reader])])
      .stretch(
        second,
        workers.map((thread) => run(thread, ['main', 'solve'])),
      )
      .call('main', reader, 3)
      .call('main', 'solve', 4)
      .build(),
  );
const rowOf = ({ entities }: Comparison, name: string): EntityChange =>
  entities.find((row) => row.name === name && row.kind === 'procedure')!;
const look = { width: 90, colour: false, ascii: true, top: 20 };

test('what got less, what stayed, and what limits the program no more', (t) => {
  const comparison = compare(version(second), version(0.002 * second));
  t.is(comparison.elapsedChangeNs, -0.998 * second);
  const read = rowOf(comparison, 'read');
  t.is(Math.round(read.changeNs), -0.998 * second);
  t.true(read.certain && read.ci95.lowNs < read.changeNs && read.changeNs < read.ci95.highNs && read.ci95.highNs < 0);
  const solve = rowOf(comparison, 'solve');
  t.is(Math.round(solve.changeNs), 0);
  t.false(solve.certain);
  t.true(Math.abs(comparison.entities[0]!.changeNs) >= Math.abs(comparison.entities[1]!.changeNs));
  const [gone] = comparison.findings;
  t.deepEqual([gone!.before!.name, gone!.before!.kind, gone!.after], ['read', 'serial', null]);
  t.deepEqual(comparison.cautions, []);
  const text = comparisonReport(comparison, look);
  t.regex(text, /Elapsed time: 2\.00 s -> 1\.00 s \(-998 ms, -49\.9 %\)/);
  t.regex(text, /1\. gone: serial code \(read\); it cost 1\.00 s/);
  t.regex(text, /-998 ms {2}\+-\d+ {2}less/);
});

test('entities and findings of one version only; a profile compared with itself', (t) => {
  const renamed = compare(version(second), version(second, 'parse'));
  t.is(rowOf(renamed, 'read').after, null);
  t.is(rowOf(renamed, 'parse').before, null);
  t.deepEqual(
    renamed.findings.map(({ before, after }) => [before?.name, after?.name]),
    [
      ['read', undefined],
      ['solve', 'solve'],
      [undefined, 'parse'],
    ],
  );
  const same = compare(version(second), version(second));
  t.true(same.entities.every((row) => row.changeNs === 0 && !row.certain));
  t.true(same.findings.every(({ before, after }) => before!.costNs === after!.costNs));
  t.regex(comparisonReport(same, look), /largest first\n\n {2}none/);
  t.regex(comparisonReport(same, look), /Elapsed time: [^\n]* \(0\)\.\n/);
});

test('what is seen once in one of the two proves nothing', (t) => {
  const rare = compare(version(0, 'read'), version(1e6, 'read'));
  t.false(rowOf(rare, 'read').certain);
});

test('locks without a name whose place has moved are the same if their users are, or if there is no other', (t) => {
  const locks = (queueLine: number, logLine: number): ReturnType<typeof buildModel> =>
    buildModel(
      new Builder({ processors: 2 })
        .stretch(second, [run('w1', ['main', 'put', 'mutex:queue']), run('w2', ['main', 'note', 'mutex:log'])])
        .describe('mutex:queue', { name: '', file: 'a.c', line: queueLine })
        .describe('mutex:log', { name: '', file: 'a.c', line: logLine })
        .call('put', 'mutex:queue', 10)
        .call('note', 'mutex:log', 20)
        .build(),
    );
  const pairs = ({ entities }: Comparison): string[] =>
    entities
      .filter(({ kind }) => kind === 'lock')
      .map(({ before, after }) => `${before?.name} -> ${after?.name}`)
      .sort();
  const both = ['mutex at a.c:10 -> mutex at a.c:12', 'mutex at a.c:20 -> mutex at a.c:25'];
  t.deepEqual(pairs(compare(locks(10, 20), locks(12, 25))), both);
  t.deepEqual(pairs(compare(locks(10, 20), locks(10, 25))), ['mutex at a.c:10 -> mutex at a.c:10', ...both.slice(1)]);
});

test('other processors are cautioned about', (t) => {
  t.deepEqual(compare(version(second), version(second, 'read', 8)).cautions, [
    { form: 'processors', before: 4, after: 8 },
  ]);
});

test('JSON is as the schema says, CSV has a line for each entity', (t) => {
  const comparison = compare(version(second), version(second, 'parse'));
  const schema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/compare.schema.json'), 'utf8')) as object;
  const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);
  t.true(validate(JSON.parse(comparisonJson(comparison))), JSON.stringify(validate.errors));
  const rows = comparisonCsv(comparison).trim().split('\r\n');
  t.is(rows.length, 1 + comparison.entities.length);
  t.regex(
    rows.find((row) => row.includes('procedure,parse'))!,
    /^procedure,parse,,0,1000000000,/,
  );
});
