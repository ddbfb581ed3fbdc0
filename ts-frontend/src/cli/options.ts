/** Access to the table of options (option-table.ts): names on the command line, groups, and validation of values. */
import { defined } from '../model/index.js';
import { table, type Option } from './option-table.js';

export type OptionName = keyof typeof table;
export const options: Readonly<Record<OptionName, Option>> = table;
export const optionNames = Object.keys(table) as readonly OptionName[];

/** The name of the option on the command line, without --. */
export const flagOf = (name: OptionName): string => options[name].flag ?? name;
/** All names of the option on the command line, without --. */
export const flagsOf = (name: OptionName): readonly string[] => {
  const { also } = options[name];
  return also === undefined ? [flagOf(name)] : [flagOf(name), also];
};

/** Options of the commands that record. */
export const recordingOptions = [
  'output',
  'rate',
  'cpu',
  'threads',
  'max-size',
  'span',
  'what-if',
  'timeline',
  'no-signals',
  'quiet',
] as const;
/** Options of recordings that run for days: a ring of files instead of one. */
export const continuousOptions = [
  'output',
  'rotate',
  'keep',
  'rate',
  'cpu',
  'threads',
  'max-size',
  'timeline',
  'quiet',
] as const;
/** Options for showing a table on a terminal. */
export const displayOptions = ['top', 'width', 'ascii'] as const;
/** Output formats, which exclude each other. */
export const forms = ['csv', 'json', 'markdown', 'sarif', 'notes'] as const;
/** Options of the commands that show a profile. */
export const formatOptions = ['raw', 'csv', 'json', ...displayOptions] as const;

const sizeText = (bytes: number): string => `${bytes / 2 ** 20}M`;

/** What a valid value of the option is, in words, for messages and help. */
export function wantsOf(option: Option): string {
  if (option.wants !== undefined) return option.wants;
  switch (option.kind) {
    case 'switch':
      return 'no value';
    case 'text':
      return 'a value';
    case 'pattern':
      return 'a file name, in which each % is followed by n, r, h, p, j or %';
    case 'whole':
      return `a whole number from ${option.least} to ${option.most}`;
    case 'number':
      return `a number from ${option.least} to ${option.most}`;
    case 'size':
      return `a size of at least ${sizeText(option.least)}`;
    case 'choice':
      return `${option.of.slice(0, -1).join(', ')} or ${defined(option.of.at(-1))}`;
    case 'what-if':
      return `a name, or NAME=FACTOR with a factor from 0 to ${factorMost}`;
    case 'descriptor':
      return 'the number of an open file descriptor';
  }
}

const factorMost = 1000;
const decimal = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that the text stands for, NaN if it is not a number. Does not check the bounds. */
export function numberOf(option: Option, text: string): number {
  if (option.kind === 'whole') return /^\d+$/.test(text) ? Number(text) : NaN;
  if (option.kind !== 'size') return decimal.test(text) ? Number(text) : NaN;
  const power = 'KMG'.indexOf(text.slice(-1).toUpperCase()) + 1;
  const digits = power > 0 && text !== '' ? text.slice(0, -1) : text;
  return decimal.test(digits) ? Number(digits) * 1024 ** (text === '' ? 0 : power) : NaN;
}

/** Whether the text is a valid value of the option. */
export function accepts(option: Option, text: string): boolean {
  switch (option.kind) {
    case 'pattern':
      return text !== '' && !text.replace(/%[nrhpj%]/g, '').includes('%');
    case 'choice':
      return option.of.includes(text);
    case 'whole':
    case 'number':
    case 'size': {
      const value = numberOf(option, text);
      return value >= option.least && value <= option.most;
    }
    case 'what-if': {
      const [, name = '', factor] = /^(.*?)(?:=([^=]*))?$/s.exec(text) ?? [];
      return name !== '' && (factor === undefined || (/^[\d.]/.test(factor) && inFactors(factor)));
    }
    default:
      return true;
  }
}
const inFactors = (text: string): boolean => decimal.test(text) && Number(text) <= factorMost;
