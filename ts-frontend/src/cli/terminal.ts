/** What the terminal can display, determined from environment and options. */
import type { RenderOptions } from '../render/index.js';
import type { Arguments } from './command.js';
import { destination } from './destination.js';

const narrowest = 40;

function utf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return /utf-?8/i.test(locale ?? '');
}

/**
 * Whether the terminal can display Braille patterns. The Linux console's font has at most 512 characters, without them.
 */
export const hasBraille = (): boolean => !/^(linux|vt\d|ansi|cons)/.test(process.env['TERM'] ?? '');

export function display(args: Arguments): RenderOptions {
  const { env } = process;
  const to = destination();
  const terminal = 'stream' in to && (to.stream.isTTY as boolean | undefined) === true;
  const known = terminal && to.stream.columns > 0 ? to.stream.columns : Number(env['COLUMNS']);
  const columns = args.number('width') ?? (known > 0 ? known : terminal ? 80 : 120);
  return {
    width: Math.max(narrowest, columns),
    colour: terminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    ascii: args.has('ascii') || !utf8(env),
    top: args.number('top') ?? 20,
  };
}
