/** Who may use whom (docs/architecture.md): read from the includes and imports of every source. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

const files = sources();
const native = /\.(c|cc|h|hh|hpp|S)$/;

/** What a source names, as paths from the root where it is a file of ours. */
function uses(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const names = file.endsWith('.ts')
    ? [
        ...text.matchAll(
          /^\s*(?:import|export)\b(?:[^'"`;=]*?\bfrom\s*|\s*)['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
        ),
      ].map((match) => match[1] ?? match[2]!)
    : [...text.matchAll(/^\s*#\s*include\s+["<]([^">]+)[">]/gm)].map((match) => match[1]!);
  return names.map((name) => {
    if (name.startsWith('.')) return normalize(join(dirname(file), name)).replace(/\.js$/, '.ts');
    const beside = normalize(join(dirname(file), name));
    return files.includes(beside) ? beside : name;
  });
}

/** The table of docs/architecture.md, "Who may use whom". */
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const table = new Map<string, string[]>();
for (const row of page
  .slice(page.indexOf('## Who may use whom'), page.indexOf('## Where a new thing goes'))
  .matchAll(/^\| `([^`]+)` \|([^|]*)\|$/gm))
  table.set(
    row[1]!,
    [...row[2]!.matchAll(/`([^`]+)`/g)].map((name) => name[1]!),
  );

const covered = /^(abi|symbols|publisher|threadlib|pthread-layer|mpi-layer|sampler|ts-frontend|tui|examples|bench)\//;
const fileOf = (name: string): string => (name.startsWith('quartz/') ? `threadlib/include/${name}` : name);
const folderOf = (name: string): string => dirname(fileOf(name));
const code = files.filter((file) => native.test(file) || (file.endsWith('.ts') && !file.endsWith('.d.ts')));
const all = code.filter((file) => covered.test(file));
const isTest = (folder: string): boolean => folder.startsWith('test/');

test('each folder of sources stands in the table', (t) => {
  t.true(table.size > 40);
  t.deepEqual(
    [...new Set(all.map(folderOf))].filter((folder) => !table.has(folder)),
    [],
  );
  t.deepEqual(
    [...table.keys()].filter((folder) => !all.some((file) => folderOf(file) === folder)),
    [],
    'folders that are gone',
  );
});

test('the table has no circle: each folder uses what stands above it', (t) => {
  const order = [...table.keys()];
  for (const [folder, may] of table)
    for (const other of may.filter((one) => !isTest(one)))
      t.true(order.indexOf(other) >= 0 && order.indexOf(other) < order.indexOf(folder), `${folder} may use ${other}`);
});

for (const [folder, may] of table) {
  test(`${folder} uses only ${may.length > 0 ? may.join(', ') : 'itself'}`, (t) => {
    t.pass();
    for (const file of all.filter((one) => folderOf(one) === folder)) {
      for (const name of uses(file)) {
        const other = folderOf(name);
        t.true(other === folder || !files.includes(fileOf(name)) || may.includes(other), `${file} uses ${name}`);
      }
    }
  });
}

test('what several tests share uses no test', (t) => {
  for (const file of files.filter((one) => one.startsWith('test/support/') && code.includes(one)))
    for (const name of uses(file).map(fileOf))
      t.false(name.startsWith('test/') && !name.startsWith('test/support/'), `${file} uses ${name}`);
});

/** A native file without its ending: x.c and x.h are one unit, which may not need itself by way of others. */
const unitOf = (file: string): string => (native.test(file) ? file.replace(native, '') : file);

test('nothing uses itself by way of others, tests included: x.c and x.h are one', (t) => {
  const used = new Map<string, Set<string>>();
  for (const file of code) {
    const unit = unitOf(file);
    const others = used.get(unit) ?? new Set();
    used.set(unit, others);
    for (const other of uses(file).map((name) => unitOf(fileOf(name)))) if (other !== unit) others.add(other);
  }
  const clear = new Set<string>(); // on no circle, and nothing that they use is
  const circle = (file: string, way: readonly string[]): readonly string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (clear.has(file)) return [];
    for (const other of used.get(file) ?? []) {
      const found = circle(other, [...way, file]);
      if (found.length > 0) return found;
    }
    clear.add(file);
    return [];
  };
  for (const unit of used.keys()) t.deepEqual(circle(unit, []), []);
});

test('model and rendering do no I/O and look at no clock', (t) => {
  for (const file of all.filter((one) => /^ts-frontend\/src\/(model|render)\//.test(one))) {
    for (const name of uses(file))
      t.regex(name, /^ts-frontend\/src\/(model|render)\/|^get-east-asian-width$/, `${file} imports ${name}`);
    t.notRegex(
      readFileSync(join(root, file), 'utf8'),
      /(process\.|console\.|Date\.now|performance\.|Math\.random)/,
      file,
    );
  }
});
