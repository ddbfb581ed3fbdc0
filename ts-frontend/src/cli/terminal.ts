/** What the terminal can show, from the environment and the options. */
import type { RenderOptions } from '../render/index.js';
import { wholeNumber, type Arguments, type Option } from './command.js';

export const displayOptions: readonly Option[] = [
  { name: 'top', value: 'N', help: 'rows of a table at most (20); 0 shows all' },
  { name: 'width', value: 'N', help: "columns to fit into (the terminal's; 120 where there is none)" },
  { name: 'ascii', help: 'no characters beyond ASCII (the default where the locale is not UTF-8)' },
];

const narrowest = 40;

function utf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return /utf-?8/i.test(locale ?? '');
}

/** Whether the terminal draws Braille patterns: the console of Linux has 512 characters, these not among them. */
export const hasBraille = (): boolean => !/^(linux|vt\d|ansi|cons)/.test(process.env['TERM'] ?? '');

export function display(args: Arguments): RenderOptions {
  const { env, stdout } = process;
  const terminal = stdout.isTTY;
  const known = terminal && stdout.columns > 0 ? stdout.columns : Number(env['COLUMNS']);
  const columns = wholeNumber(args, 'width', 1, 10_000) ?? (known > 0 ? known : terminal ? 80 : 120);
  return {
    width: Math.max(narrowest, columns),
    colour: terminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    ascii: args.has('ascii') || !utf8(env),
    top: wholeNumber(args, 'top', 0, 1_000_000) ?? 20,
  };
}
