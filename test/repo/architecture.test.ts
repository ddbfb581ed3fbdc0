/** Who may use whom (docs/architecture.md): read from the includes and imports of every source. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { root } from '../known-answers/programs.js';
import { sources } from '../support/sources.js';

const files = sources();
const under = (directory: string, kind: RegExp): string[] => files.filter((file) => file.startsWith(`${directory}/`) && kind.test(file));
const native = /\.(c|cc|h|hh|hpp|S)$/;

/** What a source names, as paths from the root where it is a file of ours. */
function uses(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const names = file.endsWith('.ts')
    ? [...text.matchAll(/^\s*(?:import|export)\b(?:[^'"`;=]*?\bfrom\s*|\s*)['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm)].map((match) => match[1] ?? match[2]!)
    : [...text.matchAll(/^\s*#\s*include\s+["<]([^">]+)[">]/gm)].map((match) => match[1]!);
  return names.map((name) => {
    if (name.startsWith('.')) return normalize(join(dirname(file), name)).replace(/\.js$/, '.ts');
    const beside = normalize(join(dirname(file), name));
    return files.includes(beside) ? beside : name;
  });
}

const rooms = ['abi', 'publisher', 'threadlib', 'pthread-layer', 'symbols', 'sampler', 'examples', 'bench', 'test'];
const roomOf = (name: string): string | undefined => rooms.find((room) => name.startsWith(`${room}/`)) ?? (name.startsWith('quartz/') ? 'threadlib' : undefined);

const allowed: Record<string, string[]> = {
  abi: ['abi'],
  publisher: ['publisher', 'threadlib', 'abi'],
  threadlib: ['threadlib', 'publisher', 'abi'],
  'pthread-layer': ['pthread-layer', 'publisher', 'abi'],
  symbols: ['symbols'],
  sampler: ['sampler', 'abi', 'symbols'],
  examples: ['examples', 'threadlib'],
};
for (const [room, may] of Object.entries(allowed)) {
  test(`${room} includes only ${may.join(', ')}`, (t) => {
    const sources = under(room, native);
    t.true(sources.length > 0);
    for (const file of sources) {
      for (const name of uses(file)) {
        const other = roomOf(name);
        t.true(other === undefined || may.includes(other), `${file} includes ${name}`);
      }
    }
  });
}

test('examples include the public interface alone', (t) => {
  for (const file of under('examples', native)) for (const name of uses(file)) t.notRegex(name, /^(threadlib\/src|abi)\//, `${file} includes ${name}`);
});

test('the addon includes only abi and symbols', (t) => {
  for (const file of under('ts-frontend/addon', native)) {
    for (const name of uses(file)) t.true([undefined, 'abi', 'symbols'].includes(roomOf(name)), `${file} includes ${name}`);
  }
});

test('the model imports itself alone: no I/O, no clock', (t) => {
  for (const file of under('ts-frontend/src/model', /\.ts$/)) {
    for (const name of uses(file)) t.regex(name, /^ts-frontend\/src\/model\//, `${file} imports ${name}`);
    t.notRegex(readFileSync(join(root, file), 'utf8'), /\b(process\.|Date\.now|performance\.|console\.|Math\.random)/, file);
  }
});

test('rendering sees the model alone', (t) => {
  for (const file of under('ts-frontend/src/render', /\.ts$/)) {
    for (const name of uses(file)) t.regex(name, /^ts-frontend\/src\/(model|render)\//, `${file} imports ${name}`);
    t.notRegex(readFileSync(join(root, file), 'utf8'), /\b(process\.|console\.)/, file);
  }
});
