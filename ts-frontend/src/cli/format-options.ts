/**
 * Options of the commands that show a profile. Apart from what shows it, which a command loads when it runs: help needs
 * none of it.
 */
import type { RenderOptions } from '../render/index.js';
import type { Arguments, Option } from './command.js';
import { usage } from './failure.js';
import { display, displayOptions } from './terminal.js';

export const formatOptions: readonly Option[] = [
  { name: 'raw', help: 'numbers as measured: the cost of the hooks is not taken out' },
  { name: 'csv', help: 'the table as comma-separated values, times in ns' },
  { name: 'json', help: 'the whole report as JSON (docs/reference/json.md)' },
  ...displayOptions,
];

/** How to show it. Wrong options are told, before a program runs or a large file is read. */
export function formatOf(args: Arguments): RenderOptions {
  if (args.has('csv') && args.has('json')) throw usage('--csv and --json exclude each other', 'choose one');
  return display(args);
}
