/** The help text of one command; its examples come first. */
import { optionsOf, type Command } from './command.js';
import { flagsOf, options, type OptionName } from './options.js';

const columns = 120;

/** Breaks the text into lines of at most `width` columns. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.flatMap(([left, right]) =>
    wrapped(right, columns - width - 4).map((line, k) => `  ${(k === 0 ? left : '').padEnd(width)}  ${line}`),
  );
}

/** The help of each option, in one or more lines. */
export const optionRows = (names: readonly OptionName[]): string[] =>
  rows(
    names.map((name) => {
      const { short, value, alone, help } = options[name];
      const written = value === undefined ? '' : alone === undefined ? ` ${value}` : `[=${value}]`;
      const flags = flagsOf(name).map((flag) => `--${flag}${written}`);
      return [`${short === undefined ? '    ' : `-${short}, `}${flags.join(', ')}`, help];
    }),
  );

export const helpOf = (command: Command): string =>
  [
    'Examples',
    ...rows(command.examples),
    '',
    'Usage',
    `  quartz ${command.name} ${command.usage}`.trimEnd(),
    '',
    ...command.about.split('\n').flatMap((paragraph) => wrapped(paragraph, columns)),
    '',
    'Options',
    ...optionRows(optionsOf(command)),
    '',
  ].join('\n');
