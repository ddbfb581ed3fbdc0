/** Options of the commands that show a profile. Apart from what shows it, which a command loads when it runs: help needs none of it. */
import type { Option } from './command.js';
import { displayOptions } from './terminal.js';

export const formatOptions: readonly Option[] = [
  { name: 'raw', help: 'numbers as measured: the cost of the hooks is not taken out' },
  { name: 'csv', help: 'the table as comma-separated values, times in ns' },
  { name: 'json', help: 'the whole report as JSON (docs/json.md)' },
  ...displayOptions,
];
