/** How a result is shown, by options and environment, where stdout is no terminal. */
import test from 'ava';
import { parse } from '../../../ts-frontend/src/cli/command.js';
import { display, hasBraille } from '../../../ts-frontend/src/cli/terminal.js';
import { command as report } from '../../../ts-frontend/src/commands/report.js';

const variables = ['LC_ALL', 'LC_CTYPE', 'LANG', 'COLUMNS', 'NO_COLOR', 'TERM'] as const;
type Environment = Partial<Record<(typeof variables)[number], string>>;

/** Runs with this environment, and none of the other variables. */
function within<T>(environment: Environment, what: () => T): T {
  const before = { ...process.env };
  for (const name of variables) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  try {
    return what();
  } finally {
    for (const name of variables) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  }
}

const cases: [string, Environment, string[], Partial<ReturnType<typeof display>>][] = [
  ['nothing is known', {}, [], { width: 120, ascii: true, colour: false, top: 20 }],
  ['a locale of UTF-8', { LANG: 'de_DE.UTF-8' }, [], { ascii: false }],
  ['however it is written', { LANG: 'C.utf8' }, [], { ascii: false }],
  ['another locale', { LANG: 'de_DE.ISO-8859-1' }, [], { ascii: true }],
  ['LC_ALL comes first', { LC_ALL: 'C', LC_CTYPE: 'C.UTF-8', LANG: 'C.UTF-8' }, [], { ascii: true }],
  ['LC_CTYPE before LANG', { LC_CTYPE: 'C.UTF-8', LANG: 'C' }, [], { ascii: false }],
  ['one that is empty does not count', { LC_ALL: '', LANG: 'C.UTF-8' }, [], { ascii: false }],
  ['--ascii', { LANG: 'C.UTF-8' }, ['--ascii'], { ascii: true }],
  ['the width that the shell says', { COLUMNS: '90' }, [], { width: 90 }],
  ['no number', { COLUMNS: 'wide' }, [], { width: 120 }],
  ['no width', { COLUMNS: '0' }, [], { width: 120 }],
  ['less than a row needs', { COLUMNS: '5' }, [], { width: 40 }],
  ['--width', { COLUMNS: '90' }, ['--width', '77'], { width: 77 }],
  ['no colours in a file', { TERM: 'xterm-256color' }, [], { colour: false }],
  ['--top', {}, ['--top', '3'], { top: 3 }],
];
for (const [what, environment, options, expected] of cases)
  test.serial(what, (t) => {
    t.like(
      within(environment, () => display(parse(report, options))),
      expected,
    );
  });

for (const [terminal, has] of [
  ['xterm-256color', true],
  ['tmux', true],
  ['linux', false],
  ['vt100', false],
  ['ansi', false],
] as const)
  test.serial(`Braille patterns on ${terminal}: ${has}`, (t) => {
    t.is(within({ TERM: terminal }, hasBraille), has);
  });
