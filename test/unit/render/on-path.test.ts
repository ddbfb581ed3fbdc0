/** The share of the critical path that an entity is on: in tables, sentences, JSON and CSV, if a path was recorded. */
import test from 'ava';
import { buildModel, timePathOf, viewOf, type Model } from '../../../ts-frontend/src/model/index.js';
import {
  contextReport,
  pathReport,
  proceduresCsv,
  report,
  reportJson,
  viewCsv,
} from '../../../ts-frontend/src/render/index.js';
import { ProfileBuilder, run } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

/**
 * Three seconds alone in `a`, one in which two threads run `b`; the path goes through `a`, then through one of these.
 */
function recorded(pathNs = 4 * second, through = 'a'): Model {
  const raw = new ProfileBuilder({ processors: 2, head: { pathNs } })
    .stretch(3 * second, [run('main', ['main', 'a'])])
    .stretch(second, [run('w1', ['main', 'b']), run('w2', ['main', 'b'])])
    .build();
  const node = (name: string): number => raw.stacks.entity.indexOf(raw.entities.findIndex((one) => one.name === name));
  if (pathNs > 0)
    raw.onPath = {
      stack: Uint32Array.of(node(through), node('b')),
      thread: Uint32Array.of(0, 0),
      object: Uint32Array.of(0, 0),
      state: Uint8Array.of(0, 0),
      arrival: Uint8Array.of(0, 0),
      inferred: Uint8Array.of(0, 0),
      count: Float64Array.of(3000, 1000),
      ns: Float64Array.of(3 * second, second),
    };
  return buildModel(raw);
}
const options = { width: 160, top: 20, colour: false, ascii: true };

test('tables have a column of it, findings a sentence', (t) => {
  const text = report(recorded(), 'procedures', options);
  t.regex(text, /on path/);
  t.regex(text, /3\.00 s .* 75\.0 % .* a$/m);
  t.regex(text, /It is on 75\.0 % of the critical path\./);
  for (const view of ['tree', 'callers', 'flat'] as const) {
    const query = { view, sort: 'npt', metrics: [] } as const;
    t.regex(contextReport(recorded(), viewOf(recorded(), view), query, { ...options, width: 120 }), /on path/, view);
  }
  // and no sentence if the path goes through others
  t.notRegex(report(recorded(4 * second, 'b'), 'procedures', options), /of the critical path\./);
});

test('JSON and CSV have the time', (t) => {
  const json = JSON.parse([...reportJson(recorded(), '0')].join('')) as {
    entities: { name: string; kind: string; onPathNs: number | null }[];
    findings: { kind: string; name: string; onPathNs: number | null }[];
  };
  const of = (name: string): unknown => json.entities.find((one) => one.name === name)?.onPathNs;
  t.deepEqual([of('main'), of('a'), of('b')], [4 * second, 3 * second, second]);
  t.is(json.findings.find(({ name }) => name === 'a')?.onPathNs, 3 * second);
  const [head, ...rows] = proceduresCsv(recorded()).trimEnd().split('\r\n');
  t.regex(head ?? '', /,on_path_ns$/);
  t.regex(rows.find((row) => row.startsWith('procedure,a,')) ?? '', /,3000000000$/);
});

test('views of calling contexts have it of each context, and of what it calls', (t) => {
  const model = recorded();
  const query = { view: 'tree', sort: 'onPath', metrics: [] } as const;
  const text = contextReport(model, viewOf(model, 'tree'), query, options);
  t.regex(text, /on path/);
  t.regex(text, /100 % .* main$/m);
  t.regex(text, /75\.0 % .* a$/m);
  const [head = '', ...rows] = viewCsv(model, viewOf(model, 'tree'), query, 0).trimEnd().split('\r\n');
  const column = (name: string): number => head.split(',').indexOf(name);
  const row = rows.find((one) => one.includes(',main,'))!.split(',');
  t.deepEqual([row[column('on_path_ns')], row[column('on_path_self_ns')]], ['4000000000', '0']);
});

test('without a path there is no column, no sentence and no number', (t) => {
  const text = report(recorded(0), 'procedures', options);
  t.notRegex(text, /on path|critical path/);
  t.true([...reportJson(recorded(0), '0')].join('').includes('"onPathNs":null'));
});

test('a path that mostly waits for processors may be another one', (t) => {
  const text = (publisher: 'pthread' | 'threadlib', ready: number): string => {
    const { raw } = recorded();
    const head = { ...raw.head, publisher };
    const onPath = {
      ...raw.onPath,
      state: Uint8Array.of(1, 4),
      ns: Float64Array.of((4 - ready) * second, ready * second),
    };
    const model = buildModel({ ...raw, head, onPath });
    return pathReport(model, timePathOf(model)!, options);
  };
  t.regex(text('pthread', 1), /for 25\.0 % of the path its thread could have run, but had no processor/);
  t.notRegex(text('pthread', 0.5), /first yields/);
  t.notRegex(text('threadlib', 1), /first yields/);
});
