#!/usr/bin/env node
/**
 * Writes what the sampler and the shell know of options, from the one definition, ts-frontend/src/cli/option-table.ts.
 * Needs the compiled front end (npm run build).
 *
 *     node scripts/option-table.js           writes sampler/control/option_table.inc, and a function of bin/quartz
 *     node scripts/option-table.js --check   exits with 1 where they differ from the definition
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionRows } from '../dist/ts-frontend/src/cli/help.js';
import { flagOf, optionNames, options, wantsOf } from '../dist/ts-frontend/src/cli/options.js';
import { command as run } from '../dist/ts-frontend/src/commands/run.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const made = 'Made by scripts/option-table.js from ts-frontend/src/cli/option-table.ts; change those.';

/** The rows of the sampler's table, and its part of the help, as macros. */
function samplerTable() {
  const string = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const idOf = (name) => `OPTION_${name.toUpperCase().replaceAll('-', '_')}`;
  const names = optionNames.filter((name) => options[name].sampler !== undefined);
  const rows = names.map((name) => {
    const { kind, short, least = 0, most = 0, sampler } = options[name];
    const attach = sampler === 'attach' ? 1 : 0;
    const letter = short === undefined ? 0 : `'${short}'`;
    const wants = string(wantsOf(options[name]));
    const of = `VALUE_${kind.toUpperCase().replaceAll('-', '_')}, ${least}, ${most}`;
    const first = `  row(${idOf(name)}, ${string(name)}, ${letter}, ${of}, ${attach},`;
    return first.length + wants.length + 4 <= 120 ? `${first} ${wants})` : `${first} \\\n      ${wants})`;
  });
  return [
    `/* ${made} */`,
    '/* row(id, name, letter or 0, kind of value, least, most, of attach alone, what it wants) */',
    `#define OPTION_TABLE(row) \\\n${rows.join(' \\\n')}`,
    `#define OPTION_HELP \\\n${optionRows(names)
      .map((line) => `  ${string(`${line}\n`).replace('\n', '\\n')}`)
      .join(' \\\n')}`,
    '',
  ].join('\n');
}

/** What the shell knows: which words of `quartz record` and `quartz run` are options, and whether a value follows. */
function shellFunction() {
  const written = (names, tail = '') =>
    names.flatMap((name) => {
      const { short } = options[name];
      return [...(short === undefined || tail !== '' ? [] : [`-${short}`]), `--${flagOf(name)}${tail}`];
    });
  const recording = run.options.filter((name) => options[name].sampler !== undefined);
  const reporting = run.options.filter((name) => options[name].sampler === undefined);
  const switches = (names) => names.filter((name) => options[name].kind === 'switch');
  const optional = (names) => names.filter((name) => options[name].alone !== undefined);
  const valued = (names) => names.filter((name) => options[name].kind !== 'switch' && !optional([name]).length);
  const line = (names, kind) => {
    const whole = `    ${names.join(' | ')}) kind=${kind} ;;`;
    const half = Math.ceil(names.length / 2);
    return whole.length <= 120 ? whole : `${line(names.slice(0, half), kind)}\n${line(names.slice(half), kind)}`;
  };
  return [
    `# ${made}`,
    "# Sets kind: of the sampler's (record-) and of the report's options (report-), `value` where one follows.",
    'kind_of_option() {',
    '  case $1 in',
    line(written(switches(recording)), 'record-switch'),
    line(written(valued(recording)), 'record-value'),
    line(
      [
        ...written([...switches(reporting), ...optional(reporting)]),
        ...written([...valued(reporting), ...optional(reporting)], '=*'),
      ],
      'report-switch',
    ),
    line(written(valued(reporting)), 'report-value'),
    '    *) kind=unknown ;;',
    '  esac',
    '}',
  ].join('\n');
}

const shell = join(root, 'ts-frontend/bin/quartz');
const marked = /# Made by scripts\/option-table\.js[\s\S]*?\n\}/;
const files = [
  [join(root, 'sampler/control/option_table.inc'), samplerTable()],
  [shell, readFileSync(shell, 'utf8').replace(marked, () => shellFunction())],
];
for (const [file, text] of files) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(
      `${file} differs from ts-frontend/src/cli/option-table.ts; run: node scripts/option-table.js\n`,
    );
    process.exitCode = 1;
  } else {
    writeFileSync(file, text);
  }
}
