/** Reports for other tools: Markdown, notes, SARIF, and the brief one. */
import test from 'ava';
import { buildModel, compare, type Model } from '../../../ts-frontend/src/model/index.js';
import { briefJson, comparisonMarkdown, markdown, notes, sarif } from '../../../ts-frontend/src/render/index.js';
import { lockRing, serialThenParallel } from '../../support/example-profiles.js';
import { ProfileBuilder, run, wait } from '../../support/profile-builder.js';

const options = { width: 100, colour: false, ascii: false, top: 20 };
const modelOf = (builder: ProfileBuilder): Model => buildModel(builder.build(), { compensate: false });
const model = modelOf(serialThenParallel().describe('a', { file: '/src/my prog/a#1.c', line: 7 }));

test('notes: as compilers write them, relative to where the sources are', (t) => {
  const lines = notes(model, '/src', options).trimEnd().split('\n');
  t.is(lines.length, model.findings.length);
  t.regex(lines[0]!, /^my prog\/a#1\.c:7: note: a \(a#1\.c:7\),.* costs 1\.00 s .*\. Do less there/);
  t.regex(notes(model, '/elsewhere', options), /^\/src\/my prog\/a#1\.c:7: note: /);
  t.notRegex(notes(model, '/src/my', options), /^ prog/m);
  const bad = modelOf(serialThenParallel().describe('a', { name: 'a\nb.c:1: error: ', file: '/x.c', line: 1 }));
  t.is(notes(bad, '/', options).trimEnd().split('\n').length, bad.findings.length);
});

test('sarif: a result a finding, with a rule and a place', (t) => {
  const log = JSON.parse(sarif(model, '/src', '1.2.3')) as {
    version: string;
    runs: {
      tool: { driver: { rules: { id: string }[] } };
      results: { ruleId: string; ruleIndex: number; level: string; message: { text: string }; locations: object[] }[];
    }[];
  };
  t.is(log.version, '2.1.0');
  const [{ tool, results }] = log.runs as [(typeof log.runs)[0]];
  t.deepEqual(
    results.map(({ ruleId }) => ruleId),
    model.findings.map(({ kind }) => kind),
  );
  for (const { ruleId, ruleIndex, message } of results) {
    t.is(tool.driver.rules[ruleIndex]!.id, ruleId);
    t.true(message.text.length > 40);
  }
  t.deepEqual(results[0]!.locations, [
    { physicalLocation: { artifactLocation: { uri: 'my%20prog/a%231.c' }, region: { startLine: 7 } } },
  ]);
  t.regex(sarif(model, '/x', '1'), /"uri": "file:\/\/\/src\/my%20prog\/a%231\.c"/);
});

test('markdown: findings and a table; names mark nothing up', (t) => {
  const text = markdown(modelOf(lockRing(wait)), options);
  t.regex(text, /^## What limits this program\n\n1\. /);
  t.regex(text, /\n\| --: \|/);
  const bad = markdown(
    modelOf(serialThenParallel().describe('a', { name: '<img src=x>|`*_[x](javascript:1)' })),
    options,
  );
  t.notRegex(bad, /<img|[^\\][|`*_[]x/);
  const rows = bad.split('\n').filter((line) => line.startsWith('|'));
  const columns = new Set(rows.map((line) => line.match(/(?<!\\)\|/g)!.length));
  t.is(columns.size, 1);
  t.regex(comparisonMarkdown(compare(model, model), options), /^## What changed\n\n\*\*Elapsed time/);
});

test('brief: at most 8 KB, whatever names and however many procedures there are', (t) => {
  const builder = new ProfileBuilder({ processors: 4 });
  for (let k = 0; k < 400; k++)
    builder.stretch(1e7 + k, [run('t', ['main', `${'outer<inner<ü>>::'.repeat(40)}procedure${k}`])]);
  const text = briefJson(modelOf(builder), '1');
  t.true(Buffer.byteLength(text) <= 8192, `${Buffer.byteLength(text)}`);
  const large = JSON.parse(text) as {
    complete: boolean;
    procedures: { nptNs: number }[];
    findings: { text: string }[];
  };
  t.false(large.complete);
  t.true(large.procedures.length > 10 && large.findings.length > 0);
  const small = JSON.parse(briefJson(model, '1')) as typeof large & { elapsedNs: number };
  t.true(small.complete);
  t.is(small.elapsedNs, 2e9);
  t.is(small.procedures[0]!.nptNs, 2e9);
});
