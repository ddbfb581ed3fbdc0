/**
 * Reads the expected answers in the heads of the programs in test/known-answers/threadlib-programs: the lines that
 * begin with `expect`, in the language of test/known-answers/threadlib-programs/README.md. A line that cannot be parsed
 * is an error.
 */
import { readFileSync } from 'node:fs';

/** How an answer names an entity: by kind and name, or by kind and the place (a line that contains `mark`). */
export interface Which {
  kind: string;
  name: string;
  line: number;
} // name '' = by line; kind 'root' = the whole program
export interface Amount {
  metric: string;
  relation: '=' | '<' | '>' | '<=' | '>=';
  value: number;
}
export interface Answers {
  processors: number;
  arguments: string[];
  exitStatus: number;
  signal: number;
  end: string; // '' = the program exits or is killed as declared
  manual: boolean; // recorded by other tests only
  untraced: boolean; // its trace would be too large, or would be of several programs
  amounts: { which: Which; amounts: Amount[] }[];
  head: Amount[]; // numbers of the profile's head
  nothingRan: number | undefined; // share of elapsed time with b = 0
  orders: { metric: string; falling: Which[] }[];
  findings: { place: 'first' | 'some' | 'no'; kind: string; entity: Which | undefined }[];
  calls: { caller: string; callee: string; count: number }[];
  callers: { callee: string; callers: string[] }[];
  holders: { which: Which; procedure: string; share: number }[];
  absent: string[];
}

const kinds = ['procedure', 'thread', 'lock', 'barrier', 'condition', 'semaphore', 'channel', 'join', 'sleep', 'loop'];

function amount(text: string): Amount {
  const match = /^(\w+) +(?:(<=|>=|<|>) *)?(-?\d+(?:\.\d+)?)$/.exec(text.trim());
  if (!match) throw new Error(`not a metric and a number: "${text}"`);
  return { metric: match[1]!, relation: (match[2] ?? '=') as Amount['relation'], value: Number(match[3]) };
}

export function readAnswers(path: string): Answers {
  const source = readFileSync(path, 'utf8').split('\n');
  const answers: Answers = {
    processors: 0,
    arguments: [],
    exitStatus: 0,
    signal: 0,
    end: '',
    manual: false,
    untraced: false,
    amounts: [],
    head: [],
    nothingRan: undefined,
    orders: [],
    findings: [],
    calls: [],
    callers: [],
    holders: [],
    absent: [],
  };
  /** "lock ring", "lock at MARK", "root", or a name alone (kind ''). */
  const which = (text: string): Which => {
    const words = text.trim();
    if (words === 'root') return { kind: 'root', name: '', line: 0 };
    const kind = kinds.find((one) => words.startsWith(`${one} `)) ?? '';
    const name = words.slice(kind.length).trim();
    const mark = /^at (\w+)$/.exec(name);
    if (!mark) return { kind, name, line: 0 };
    const line = source.findIndex((one) => one.includes(`/* ${mark[1]} */`)) + 1;
    if (line === 0) throw new Error(`no line is marked ${mark[1]}`);
    return { kind, name: '', line };
  };
  const read = (text: string): void => {
    const rule = (pattern: RegExp, then: (...parts: string[]) => void): boolean => {
      const match = pattern.exec(text);
      if (match) then(...match.slice(1));
      return match !== null;
    };
    const known =
      rule(/^P (\d+)$/, (p) => {
        answers.processors = Number(p);
      }) ||
      rule(/^argument (\S+)$/, (argument) => {
        answers.arguments.push(argument);
      }) ||
      rule(/^exit (\d+)$/, (status) => {
        answers.exitStatus = Number(status);
      }) ||
      rule(/^signal (\d+)$/, (signal) => {
        answers.signal = Number(signal);
      }) ||
      rule(/^end (\w+)$/, (end) => {
        answers.end = end!;
      }) ||
      rule(/^manual$/, () => {
        answers.manual = true;
      }) ||
      rule(/^untraced$/, () => {
        answers.untraced = true;
      }) ||
      rule(/^nothing ran ([\d.]+)$/, (share) => {
        answers.nothingRan = Number(share);
      }) ||
      rule(/^head (.+)$/, (one) => {
        answers.head.push(amount(one));
      }) ||
      rule(/^order (\w+): (.+)$/, (metric, names) => {
        answers.orders.push({ metric: metric, falling: names.split(' > ').map(which) });
      }) ||
      rule(/^finding 1: (\S+)(?: (.+))?$/, (kind, entity) => {
        answers.findings.push({ place: 'first', kind: kind, entity: entity ? which(entity) : undefined });
      }) ||
      rule(/^(some|no) finding: (\S+)(?: (.+))?$/, (place, kind, entity) => {
        answers.findings.push({
          place: place as 'some' | 'no',
          kind: kind,
          entity: entity ? which(entity) : undefined,
        });
      }) ||
      rule(/^calls (.+) -> (.+) (\d+)$/, (caller, callee, count) => {
        answers.calls.push({ caller: caller, callee: callee, count: Number(count) });
      }) ||
      rule(/^callers (.+): (.+)$/, (callee, names) => {
        answers.callers.push({ callee: callee, callers: names.split(', ').sort() });
      }) ||
      rule(/^holders (.+): (.+)$/, (entity, list) => {
        for (const one of list.split(', ')) {
          const match = /^(\w+) ([\d.]+)$/.exec(one);
          if (!match) throw new Error(`not a procedure and a share: "${one}"`);
          answers.holders.push({ which: which(entity), procedure: match[1]!, share: Number(match[2]) });
        }
      }) ||
      rule(/^absent: (.+)$/, (name) => {
        answers.absent.push(name);
      }) ||
      rule(
        /^((?:root|procedure|thread|lock|barrier|condition|semaphore|channel|join|sleep|loop)\b.*?): (\w+ .+)$/,
        (entity, amounts) => {
          answers.amounts.push({ which: which(entity), amounts: amounts.split(', ').map(amount) });
        },
      );
    if (!known) throw new Error(`not understood: "expect ${text}"`);
  };
  for (const [index, line] of source.entries()) {
    const match = /^(?: \*|\/\/) expect (.+)$/.exec(line);
    if (!match) continue;
    try {
      read(match[1]!.trim());
    } catch (error) {
      throw new Error(`${path}:${index + 1}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (answers.processors === 0) throw new Error(`${path}: says nothing of P`);
  return answers;
}
