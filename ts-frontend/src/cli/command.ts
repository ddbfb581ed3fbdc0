/** What a command says of itself, and how its arguments are read. */
import { usage } from './failure.js';
import { didYouMean } from './nearest.js';

export interface Option {
  name: string; // long, without --
  short?: string; // without -
  value?: string; // what the help calls its value; absent: a switch
  help: string;
}

export interface Arguments {
  has: (name: string) => boolean;
  value: (name: string) => string | undefined;
  words: string[]; // what is not an option
  dashes: boolean; // the words follow --: they are a program's command line, whatever they look like
}

export interface Command {
  name: string;
  usage: string; // after "quartz NAME"
  about: string;
  examples: readonly (readonly [string, string])[]; // command line, what it does
  options: readonly Option[];
  /** The first word that is not an option begins a program's command line, which is taken as it stands. */
  program?: boolean;
  most?: number; // words at most, where there is no program
  run: (args: Arguments) => Promise<number> | number;
}

const helpOption: Option = { name: 'help', short: 'h', help: 'this help' };

/** Reads arguments as the command defines them; throws a usage failure that says what was meant. */
export function parse(command: Command, argv: readonly string[]): Arguments {
  const options = [...command.options, helpOption];
  const found = new Map<string, string>();
  const words: string[] = [];
  let dashes = false;
  const help = `see "quartz ${command.name} --help"`;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === '--') {
      dashes = words.length === 0;
      words.push(...argv.slice(index + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      if (!command.program) continue;
      words.push(...argv.slice(index + 1));
      break;
    }
    const long = word.startsWith('--');
    const equals = long ? word.indexOf('=') : -1;
    const name = long ? word.slice(2, equals < 0 ? undefined : equals) : word.slice(1, 2);
    const option = options.find((one) => (long ? one.name === name : one.short === name));
    if (!option && name === 'p' && !long)
      throw usage(
        `${command.name} has no option "-p"`,
        'to record a process that runs already, write: quartz attach PID, or quartz top -p PID',
      );
    if (!option) {
      throw usage(
        `${command.name} has no option "${long ? `--${name}` : word}"`,
        didYouMean(
          `--${name}`,
          options.map((one) => `--${one.name}`),
          help,
        ),
      );
    }
    const attached = equals >= 0 ? word.slice(equals + 1) : !long && word.length > 2 ? word.slice(2) : undefined;
    if (option.value === undefined) {
      if (attached !== undefined) throw usage(`--${option.name} takes no value`, help);
      found.set(option.name, '');
      continue;
    }
    const value = attached ?? argv[++index];
    if (value === undefined || (attached === undefined && value === '--'))
      throw usage(`--${option.name} needs a value`, `write --${option.name} ${option.value}`);
    found.set(option.name, value);
  }
  if (!found.has('help') && !command.program && words.length > (command.most ?? 0)) {
    throw usage(`${command.name} does not know what to do with "${words[command.most ?? 0]!}"`, help);
  }
  return { has: (name) => found.has(name), value: (name) => found.get(name), words, dashes };
}

/** A whole number that an option gives, within bounds. */
export function wholeNumber(args: Arguments, name: string, least: number, most: number): number | undefined {
  const text = args.value(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw usage(`--${name} ${text} is not a whole number from ${least} to ${most}`, 'give one');
  }
  return value;
}

/** The help of one command: examples first. */
export function helpOf(command: Command): string {
  const rows = (pairs: readonly (readonly [string, string])[]): string[] => {
    const width = Math.max(...pairs.map(([left]) => left.length));
    return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
  };
  const options = [...command.options, helpOption].map(
    (option) =>
      [
        `${option.short ? `-${option.short}, ` : '    '}--${option.name}${option.value ? ` ${option.value}` : ''}`,
        option.help,
      ] as const,
  );
  return [
    'Examples',
    ...rows(command.examples),
    '',
    'Usage',
    `  quartz ${command.name} ${command.usage}`,
    '',
    command.about,
    '',
    'Options',
    ...rows(options),
    '',
  ].join('\n');
}
