/** The page of a profile: its numbers are the model's, names cannot inject markup, and nothing is fetched. */
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { htmlPage } from '../../../ts-frontend/src/html/document.js';
import { escapeProse } from '../../../ts-frontend/src/html/drawing/escape.js';
import { barsOf, childrenOf } from '../../../ts-frontend/src/html/drawing/flame.js';
import type { PageData } from '../../../ts-frontend/src/html/data/page-data.js';
import { bottlesOf } from '../../../ts-frontend/src/html/sections/bottles.js';
import { buildModel, compare, type Model } from '../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { threadNumbers } from '../../../ts-frontend/src/render/wording/names.js';
import { lockRing, pipeline, second, serialThenParallel } from '../../support/example-profiles.js';
import { ProfileBuilder, run, wait } from '../../support/profile-builder.js';

const assets = { script: 'console.log("</script>")', style: 'p{color:red}' };
const modelOf = (builder: ProfileBuilder): Model => buildModel(builder.build(), { compensate: false });
const pageOf = (model: Model, before: Model | null = null): string =>
  htmlPage(model, before === null ? null : compare(before, model), '0', assets);
const dataOf = (page: string): PageData =>
  JSON.parse(/<script type="application\/json" id="data">(.*)<\/script>/.exec(page)![1]!) as PageData;
const near = (t: ExecutionContext, got: number, wanted: number, what: string, slack: number): void => {
  t.true(Math.abs(got - wanted) <= slack, `${what}: ${got}, wanted ${wanted}`);
};

for (const [name, builder] of [
  ['serial, then parallel', serialThenParallel()],
  ['a lock', lockRing(wait)],
  ['a pipeline', pipeline()],
] as const)
  test(`sums in the page are the model's: ${name}`, (t) => {
    const model = modelOf(builder);
    const data = dataOf(pageOf(model));
    const { flame, entities, figures } = data;
    near(t, flame.nptNs[0]!, model.root.nptNs, 'the whole', 1);
    near(t, flame.timeNs[0]!, model.root.processorTimeNs, 'processor time', 1);
    const children = childrenOf(flame);
    flame.nptNs.forEach((ns, node) => {
      t.true(children[node]!.reduce((sum, one) => sum + flame.nptNs[one]!, 0) <= ns + children[node]!.length);
    });
    // No bar extends beyond the one above it.
    const bars = new Map(barsOf(flame, children, 0, 0).map((bar) => [bar.node, bar]));
    t.is(bars.size, flame.nptNs.length);
    for (const { node, x, width } of bars.values()) {
      const up = bars.get(flame.parent[node]!)!;
      t.true(x >= up.x - 1e-9 && x + width <= up.x + up.width + 1e-9);
    }
    for (const figure of figures) {
      const sum = figure.layers.reduce((all, { ns }) => all + ns.reduce((one, more) => one + more, 0), 0);
      near(t, sum, figure.nptNs, entities[figure.entity]!.name, 40);
    }
    const whole = bottlesOf(model).reduce((sum, { nptNs }) => sum + nptNs, 0);
    near(t, whole, model.root.nptNs, 'bottles', 1);
    // The numbers of threads are the same as in all views.
    const threads = model.entities.filter(({ rawKind, thread, nptNs }) => rawKind === 'thread' && thread && nptNs > 0);
    const numberOf = threadNumbers(
      model,
      threads.map(({ id }) => id),
    );
    const numbers = new Set(threads.map(({ id }) => numberOf(id)));
    for (const { name } of bottlesOf(model)) t.true(numbers.has(/( #\d+)?$/.exec(name)![0]), name);
  });

test('without scripts: findings in the words of the report, a caption for each table, a text for each picture', (t) => {
  const model = modelOf(lockRing(wait));
  const page = pageOf(model);
  t.true(model.findings.length > 0);
  for (const finding of model.findings) {
    const { text, remedy } = findingSentences(model, finding, { ascii: false });
    t.true(page.includes(`<li><p>${escapeProse(text)}</p><p class="remedy">${escapeProse(remedy)}</p></li>`));
  }
  t.is(page.match(/<table/g)!.length, page.match(/<caption>[^<]/g)!.length);
  t.is(page.match(/<svg/g)!.length, page.match(/<svg [^>]*role="img" aria-label="[^"]/g)!.length);
  t.regex(page, /<html lang="en">/);
  t.is(page.match(/<h1>/g)!.length, 1);
  t.regex(page, /<g data-n="1" [^>]*><rect [^>]*><text [^>]*>main</);
});

test('what a reader must know first stands before the findings, as in the report', (t) => {
  const raw = lockRing(wait).build();
  const crashed = { ...raw, head: { ...raw.head, endReason: 'signal' as const, exitStatus: 11 } };
  t.regex(
    pageOf(buildModel(crashed, { compensate: false })),
    /<p>The program was killed by signal 11 \(SIGSEGV\)[^<]*<\/p><ol class="findings">/,
  );
  t.false(pageOf(modelOf(lockRing(wait))).includes('The program was killed'));
});

test('content policy: nothing is fetched, and only what the page brings with it runs', (t) => {
  const page = pageOf(modelOf(serialThenParallel()));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
  const sha = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  t.regex(policy, /^default-src 'none';/);
  t.true(policy.includes(`script-src ${sha(/<script>([\s\S]*)<\/script>\n<\/body>/.exec(page)![1]!)}`));
  t.true(policy.includes(`style-src ${sha(/<style>([\s\S]*)<\/style>/.exec(page)![1]!)}`));
  t.notRegex(policy, /unsafe/);
  t.notRegex(page, /(src|href)="(?!#)/, 'a link out of the page');
  t.notRegex(page, /<[^>]* (style|on\w+)="/, 'what the policy forbids');
});

test('hostile names are shown, and do nothing', (t) => {
  const bad = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'&\u2028\u202e<!--`;
  const builder = new ProfileBuilder({
    processors: 2,
    head: { program: `/tmp/${bad.replaceAll('/', '')}`, arguments: bad },
  })
    .stretch(1e9, [run('t', ['main', 'named'])])
    .stretch(1e9, [run('t', ['main', 'mutex:named']), wait('w', ['main', 'mutex:named'])])
    .describe('named', { name: bad, file: `/src/${bad}`, line: 3 })
    .describe('mutex:named', { name: bad })
    .describe('thread:w', { name: bad });
  const model = modelOf(builder);
  const page = pageOf(model, model);
  t.is(page.match(/<script/g)!.length, 2);
  t.is(page.match(/<\/script/g)!.length, 2);
  t.notRegex(page, /<img|<!--|\u2028|\u202e/);
  t.true(dataOf(page).entities.some(({ name }) => name.startsWith('</script><script>alert(1)')));
});

test('two profiles: what changed, node by node', (t) => {
  const before = modelOf(serialThenParallel());
  const after = modelOf(
    new ProfileBuilder({ processors: 4 })
      .stretch(5e8, [run('main', ['main', 'a'])])
      .stretch(1e9, [run('main', ['main', 'fresh'])]),
  );
  const page = pageOf(after, before);
  const { flame, entities } = dataOf(page);
  const changeOf = (name: string): number =>
    flame.changeNs![flame.entity.findIndex((entity) => entities[entity]!.name === name)]!;
  near(t, changeOf('a'), -5e8, 'a', 1);
  near(t, changeOf('fresh'), 1e9, 'fresh', 1);
  near(t, flame.changeNs![0]!, after.root.nptNs - before.root.nptNs, 'the whole', 1);
  t.regex(page, /<h2>What changed<\/h2>/);
});

test('a large profile: below 300 KB, and it is said that something is left out', (t) => {
  const builder = new ProfileBuilder({ processors: 64 });
  for (let k = 0; k < 3000; k++)
    builder.stretch(
      1e6 + k,
      Array.from({ length: 1 + (k % 64) }, (_, thread) =>
        run(`worker ${thread}`, [
          'main',
          `stage_number_${k % 50}`,
          `${'space<of<templates>>::'.repeat(4)}procedure_${k}`,
          `leaf_${thread}`,
        ]),
      ),
    );
  const page = pageOf(modelOf(builder));
  t.true(page.length < 290e3, `${page.length} bytes`);
  t.regex(page, /The smallest contexts are not drawn/);
});

test('deep contexts with long names, each wide enough to be drawn: below 300 KB, the widest are drawn', (t) => {
  const builder = new ProfileBuilder({ processors: 2 });
  const levels = 60;
  for (let branch = 0; branch < 60; branch++) {
    const stack = Array.from(
      { length: levels },
      (_, level) => `net/http.(*persistConn).readLoop.func${branch}.${level}`,
    );
    builder.stretch(1e7 * (1 + (branch % 7)), [run('main', ['main', ...stack])]);
  }
  const page = pageOf(modelOf(builder));
  t.true(Buffer.byteLength(page) < 300e3, `${Buffer.byteLength(page)} bytes`);
  const { flame } = dataOf(page);
  const drawn = new Set([...page.matchAll(/<g data-n="(\d+)"/g)].map(([, node]) => Number(node)));
  t.true(drawn.size > 100 && drawn.size < flame.parent.length, `${drawn.size} of ${flame.parent.length}`);
  const least = Math.min(...[...drawn].map((node) => flame.nptNs[node]!));
  for (const node of drawn) t.true(node === 0 || drawn.has(flame.parent[node]!), 'its caller is drawn');
  t.true(least > 0);
  t.regex(page, /The smallest contexts are not drawn/);
});

test('the other parts are large: below 300 KB, for what the script gets is less then', (t) => {
  const builder = new ProfileBuilder({ processors: 64 });
  const long = (what: string, k: number): string => `${what}_${k}<${'std::basic_string<char32_t>,'.repeat(3)}${k}>`;
  for (let k = 0; k < 1200; k++)
    builder.stretch(
      1e6 + 1000 * k,
      Array.from({ length: 1 + (k % 40) }, (_, at) =>
        run(long('thread', at), ['main', long('stage', k % 50), long('procedure', k), long('leaf', at)]),
      ),
    );
  const model = modelOf(builder);
  const nodes = (page: string): number => dataOf(page).flame.parent.length;
  const large = htmlPage(model, null, '0', { ...assets, style: ' '.repeat(100e3) });
  t.true(Buffer.byteLength(large) < 300e3, `${Buffer.byteLength(large)} bytes`);
  t.true(nodes(large) > 50 && nodes(large) < nodes(pageOf(model)));
  t.regex(large, /The smallest contexts are not drawn/);
});

test('a profile without a snapshot has a page', (t) => {
  const page = pageOf(modelOf(new ProfileBuilder({ processors: 1 })));
  t.notRegex(page, /NaN|undefined|Infinity/);
});

test('work and span: predictions as a curve and a table; without them the page says how to record them', (t) => {
  t.regex(pageOf(modelOf(pipeline())), /<h2>Work and span<\/h2><p>work and span were not recorded, [^<]*record --span/);
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', spanRecorded: true, workNs: 3 * second, spanNs: second, levelNs: second },
  })
    .stretch(second, [run('main', ['main'])])
    .stretch(second, [run('w1', ['worker']), run('w2', ['worker'])]);
  const raw = { ...builder.build(), levels: { ns: Float64Array.of(3 * second) } };
  const page = pageOf(buildModel(raw, { compensate: false }));
  const [, points = ''] = /<polyline class="curve p0" points="([^"]*)"/.exec(page)!;
  const at = points.split(' ').map((point) => Number(point.split(',')[1]));
  t.is(at.length, 11, 'a point for each power of two up to 1,024');
  // Three seconds of work, one of span: 3 s, 1.5 s, 1 s, and no less; lower on the page is less time.
  t.true(at[0]! < at[1]! && at[1]! < at[2]! && at[2] === at[10]);
  t.regex(page, /<td>1<\/td><td>3\.00 s<\/td>.*<td>2<\/td><td>1\.50 s<\/td>.*<td>4<\/td><td>1\.00 s<\/td>/);
});
