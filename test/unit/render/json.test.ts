/** Every report as JSON conforms to the schema in the repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { abi, buildModel, costNames, derivedMetric, noPaths, viewOf } from '../../../ts-frontend/src/model/index.js';
import { contextViews, reportJson, sourceJson, viewJson } from '../../../ts-frontend/src/render/index.js';
import { root } from '../../support/root.js';
import { empty, example } from './example.js';
import { model } from './finding-examples/base.js';
import { costlyWork } from './finding-examples/costly-work.js';
import { missingWork } from './finding-examples/missing-work.js';
import { waits } from './finding-examples/waiting.js';

const schema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  schema,
);

interface Report {
  schema: string;
  elapsedNs: number;
  entities: {
    id: number;
    name: string;
    kind: string;
    nptNs: number;
    byBusyNs: number[];
    waitOverlap?: object;
    meanwhile?: object;
  }[];
  findings: { processorUse: object; meanwhile: object }[];
}
const json = (raw: ReturnType<typeof example>): Report =>
  JSON.parse([...reportJson(buildModel(raw), '0.1.0')].join('')) as Report;

test('a report is valid, and its numbers are those of the run', (t) => {
  const report = json(example());
  t.true(validate(report), JSON.stringify(validate.errors, null, 1));
  t.is(report.schema, 'quartz-report-3');
  t.is(report.elapsedNs, 2e9);
  const setup = report.entities.find(({ name }) => name === 'setup')!;
  t.deepEqual([setup.kind, setup.nptNs, setup.byBusyNs], ['procedure', 1e9, [1e9, 0, 0, 0]]);
  report.entities.forEach((entity, index) => {
    t.is(entity.id, index);
  });
});

test('fields that were renamed are still there under the names of the version before', (t) => {
  const { findings, entities } = json(example());
  t.true(findings.length > 0 && entities.some(({ waitOverlap }) => waitOverlap !== undefined));
  for (const finding of findings) t.deepEqual(finding.meanwhile, finding.processorUse);
  for (const entity of entities) t.deepEqual(entity.meanwhile, entity.waitOverlap);
  const { slowdown } = json(example()) as unknown as { slowdown: Record<string, number> };
  t.is(slowdown['turnsNs'], slowdown['timerNs']);
});

test('calls of procedures are not known without hooks, even where nothing shows procedures', (t) => {
  const calls = (head: object): (number | null)[] => {
    const { entities } = json(example({ publisher: 'pthread', ...head })) as unknown as {
      entities: { kind: string; name: string; calls: number | null }[];
    };
    return entities.filter(({ kind, name }) => kind === 'procedure' && name === 'main').map((main) => main.calls);
  };
  t.deepEqual(calls({ paths: { ...noPaths, hooks: true } }), [0]);
  for (const seen of [{}, { waits: true }, { running: true }])
    t.deepEqual(calls({ paths: { ...noPaths, ...seen } }), [null]);
});

test('work and span are there if they were recorded', (t) => {
  const spanOf = (change: object): { parallelism: number } | null => {
    const report = json(example(change));
    t.true(validate(report), JSON.stringify(validate.errors, null, 1));
    return (report as unknown as { workSpan: { parallelism: number } | null }).workSpan;
  };
  t.is(spanOf({}), null);
  t.is(spanOf({ spanRecorded: true, workNs: 4e9, spanNs: 1.6e9 })?.parallelism, 2.5);
});

test('a report of nothing is valid', (t) => {
  t.true(validate(json(empty())), JSON.stringify(validate.errors, null, 1));
});

test('the schema refuses what is no report', (t) => {
  const report = json(example());
  t.false(validate({ ...report, schema: 'other' }));
  t.false(validate({ ...report, elapsedNs: '2' }));
  t.false(validate({ ...report, entities: [{ id: 0 }] }));
});

interface Part {
  description?: string;
  const?: unknown;
  $ref?: string;
  properties?: Record<string, Part>;
  items?: Part;
  $defs?: Record<string, Part>;
}
/** Fields without a description, neither their own nor that of what they refer to. */
function undescribed(part: Part, path = ''): string[] {
  const fields = Object.entries(part.properties ?? {}).flatMap(([name, field]) => [
    ...((field.description ?? field.const ?? field.$ref ?? '') === '' ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ]);
  const kinds = Object.entries(part.$defs ?? {}).flatMap(([name, kind]) => undescribed(kind, name));
  return [...fields, ...(part.items ? undescribed(part.items, path) : []), ...kinds];
}

test('the schema describes each field', (t) => {
  t.deepEqual(undescribed(schema), []);
});

test('the schema has all kinds of entities', (t) => {
  const { rawKind } = (schema as { $defs: { entity: { properties: { rawKind: { enum: string[] } } } } }).$defs.entity
    .properties;
  t.deepEqual([...rawKind.enum].sort(), Object.keys({ ...abi.objectKinds, ...abi.otherKinds }).sort());
});

const viewSchema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/view.schema.json'), 'utf8')) as object;
const sourceSchema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/source.schema.json'), 'utf8')) as object;
test('lines of a source file are valid', (t) => {
  const valid = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(sourceSchema);
  const costs = Float64Array.from(costNames, (_, k) => k);
  const file = {
    path: '/a.c',
    total: costs,
    self: costs,
    lines: [{ line: 3, total: costs, self: costs, onPathNs: 5 }],
  };
  const model = buildModel(example());
  t.true(valid(JSON.parse(sourceJson(model, file, '0.1.0'))), JSON.stringify(valid.errors, null, 1));
  const cost = { nptNs: 2, ns: 3, spinNs: 1, samples: 4 };
  const at = { address: 0x1234, file: '', line: 0, loops: [{ address: 0x1230, file: '/a.c', line: 2 }], polls: true };
  const row = { ...cost, ...at, text: 'pause', hottest: true, gap: false };
  const code = [{ procedure: 1, cost, errors: ['binary no longer there'], rows: [row] }];
  t.true(valid(JSON.parse(sourceJson(model, file, '0.1.0', code))), JSON.stringify(valid.errors, null, 1));
});

const validateView = new Ajv2020({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
}).compile(viewSchema);
for (const view of contextViews)
  test(`the view ${view} is valid, whole or in part`, (t) => {
    const model = buildModel(example());
    const query = { view, sort: 'npt', metrics: [derivedMetric(model, 'par = time / npt')] } as const;
    for (const most of [0, 3]) {
      const text = viewJson(model, viewOf(model, view), query, '0.1.0', most);
      const json = JSON.parse(text) as { complete: boolean; rows: { parent: number; par: number; nptNs: number }[] };
      t.true(validateView(json), JSON.stringify(validateView.errors, null, 1));
      t.is(json.complete, most === 0);
      t.is(json.rows[0]?.nptNs, model.root.nptNs);
      t.is(json.rows[0]?.par, model.root.parallelism);
      json.rows.forEach(({ parent }, index) => {
        t.true(parent < index);
      });
    }
  });

test('the facts of every form of evidence are as the schema says', (t) => {
  for (const [title, finding] of [...missingWork, ...waits, ...costlyWork]) {
    const text = [...reportJson({ ...model, findings: [finding] }, '0.1.0')].join('');
    t.true(validate(JSON.parse(text)), `${title}: ${JSON.stringify(validate.errors?.slice(-3))}`);
  }
});
