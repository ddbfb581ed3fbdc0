/** Declaration of a command (usage, options, examples) and parsing of its arguments. */
import { parseArgs } from 'node:util';
import { usage } from './failure.js';
import { didYouMean } from './nearest.js';
import { accepts, flagOf, flagsOf, numberOf, options as known, wantsOf, type OptionName } from './options.js';
import { defined, item } from '../model/index.js';

export interface Arguments {
  has: (name: OptionName) => boolean;
  text: (name: OptionName) => string | undefined;
  texts: (name: OptionName) => readonly string[]; // of an option that may be repeated: all its values, in order
  number: (name: OptionName) => number | undefined; // undefined: not given; parse() has checked the bounds
  words: string[]; // arguments that are not options
  dashes: boolean; // whether `--` came first: then the words are a program's command line
}

export interface Command {
  name: string;
  usage: string; // what follows "quartz NAME" in the usage line
  about: string; // paragraphs, separated by line breaks
  examples: readonly (readonly [string, string])[]; // pairs: a command line, and what it does
  options: readonly OptionName[];
  /** The first word that is not an option begins a program's command line; nothing after it is parsed as an option. */
  program?: boolean;
  most?: number; // the maximum number of words; ignored if `program` is set
  run: (args: Arguments) => Promise<number> | number;
}

/** The options that a command accepts: its own, and those that all commands accept. */
export const optionsOf = (command: Command): readonly OptionName[] => [...command.options, 'help'];

const helpFor = (command: Command): string => `see "quartz ${command.name} --help"`;

function unknownOption(command: Command, written: string): Error {
  const what = `${command.name} has no option "${written}"`;
  if (written === '-p')
    return usage(what, 'to record a process that runs already, write: quartz attach PID, or quartz top -p PID');
  const names = optionsOf(command).flatMap((name) => flagsOf(name).map((flag) => `--${flag}`));
  return usage(what, didYouMean(written.replace(/^-+/, '--'), names, helpFor(command)));
}

/** Throws a usage failure, which names the accepted values, if the value is not acceptable. */
function checkValue(command: Command, name: OptionName, value: string | undefined): void {
  const option = known[name];
  const flag = flagOf(name);
  if (option.kind === 'switch') {
    if (value !== undefined) throw usage(`--${flag} takes no value`, helpFor(command));
  } else if (value === undefined) {
    if (option.alone !== undefined) return;
    throw usage(`--${flag} needs a value`, `write --${flag} ${defined(option.value)}`);
  } else if (!accepts(option, value)) {
    const remedy = option.kind === 'choice' ? didYouMean(value, option.of, helpFor(command)) : helpFor(command);
    throw usage(`--${flag} needs ${wantsOf(option)}, not ${value === '' ? '""' : value}`, remedy);
  }
}

/** Parses the arguments by the command's declaration; throws a usage failure that explains the mistake. */
export function parse(command: Command, argv: readonly string[]): Arguments {
  const names = optionsOf(command);
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false, // parseArgs would throw messages of several lines
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      names.flatMap((name) => {
        const { kind, short, alone } = known[name];
        const type = kind === 'switch' || alone !== undefined ? ('boolean' as const) : ('string' as const);
        return flagsOf(name).map((flag, k) => [flag, { type, ...(short === undefined || k > 0 ? {} : { short }) }]);
      }),
    ),
  });
  const found = new Map<OptionName, string[]>();
  const words: string[] = [];
  let dashes = false;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') {
      dashes = words.length === 0;
      words.push(...argv.slice(token.index + 1));
      break;
    }
    if (token.kind === 'positional') {
      words.push(token.value);
      if (!command.program) continue;
      words.push(...argv.slice(token.index + 1));
      break;
    }
    const name = names.find((one) => flagsOf(one).includes(token.name));
    if (name === undefined) throw unknownOption(command, token.rawName);
    // in `--top --`, the value is missing: parseArgs would take `--` as the value
    const value = token.value === '--' && !token.inlineValue ? undefined : token.value;
    checkValue(command, name, value);
    found.set(name, [...(found.get(name) ?? []), value ?? known[name].alone ?? '']);
  }
  for (const name of found.keys()) {
    const other = names.find((one) => one === known[name].excludes);
    if (other !== undefined && found.has(other))
      throw usage(`--${name} and --${other} exclude each other`, 'choose one');
  }
  if (!found.has('help') && !command.program && words.length > (command.most ?? 0))
    throw usage(`${command.name} does not know what to do with "${item(words, command.most ?? 0)}"`, helpFor(command));
  const text = (name: OptionName): string | undefined => found.get(name)?.at(-1);
  return {
    has: (name) => found.has(name),
    text,
    texts: (name) => found.get(name) ?? [],
    number: (name) => (found.has(name) ? numberOf(known[name], defined(text(name))) : undefined),
    words,
    dashes,
  };
}
