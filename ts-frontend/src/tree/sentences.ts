/** The findings of a tree as sentences. */
import type { RenderOptions } from '../render/format/options.js';
import { clean } from '../render/format/text.js';
import { count, percent, time } from '../render/format/units.js';
import type { TreeWait } from './tree-file.js';
import type { TreeFinding, TreeModel } from './tree-model.js';

const phrases: Record<TreeWait, string> = {
  unknown: 'something that was not observed',
  children: 'the end of a child process',
  'pipe-read': 'data from a pipe',
  'pipe-write': 'room in a pipe',
  socket: 'a socket',
  lock: 'a mutex that processes share',
  shared: 'a semaphore or condition that processes share',
  threads: 'threads of its own process',
  semaphore: 'a System V semaphore',
  'file-lock': 'a lock on a file',
  events: 'any of several descriptors',
  sleep: 'a timer',
  device: 'a device or a file',
  flush: 'what it wrote to reach the disk',
  other: 'something else',
};

type Asleep = Extract<TreeFinding, { kind: 'asleep' }>;

export const waitPhrase = (wait: TreeWait): string => phrases[wait];

export interface Sentences {
  text: string;
  remedy: string;
}

/** "python3 pool.py (process 4711)" */
const named = (name: string, pid: number | null, options: RenderOptions): string =>
  pid === null ? clean(name, options) : `${clean(name, options)} (process ${pid})`;

/** Who slept for what: the processes that went on first; if these are not known, those on the path. */
function sleepOf({ sleepers, causes }: Asleep, options: RenderOptions): string {
  if (causes.length === 0)
    return `, and no process of the tree is known to have caused that: on the path, ${sleepers
      .map(({ name, wait, ns }) => `${clean(name, options)} slept for ${waitPhrase(wait)} (${time(ns, options)})`)
      .join(', ')}`;
  const names = [...new Set(causes.map(({ name }) => name))].map((name) => {
    const waits = causes
      .filter((cause) => cause.name === name)
      .map(({ wait, ns }) => `for ${waitPhrase(wait)} (${time(ns, options)})`);
    return `${clean(name, options)} ${waits.join(', ')}`;
  });
  return `, until a process went on that had slept: ${names.join('; ')}`;
}

export function treeSentences({ raw, runNs }: TreeModel, finding: TreeFinding, options: RenderOptions): Sentences {
  const say = (ns: number): string => time(ns, options);
  const ofRun = (ns: number): string => `${percent(ns, raw.elapsedNs)} of the elapsed time`;
  switch (finding.kind) {
    case 'serial': {
      const who = finding.names.map(({ name, ns }) => `${clean(name, options)} (${say(ns)})`).join(', ');
      return {
        text: `One process ran alone for ${say(finding.costNs)} (${ofRun(finding.costNs)}): ${who}.`,
        remedy: `Spread over ${raw.cpus} CPUs, that work would save at most ${say(finding.savingNs)}.`,
      };
    }
    case 'few-jobs': {
      const atATime = finding.most === 1 ? 'one process at a time' : `at most ${finding.most} processes at a time`;
      return {
        text:
          `${named(finding.parent, finding.pid, options)} had ${atATime}, ${count(finding.children)} in all, for ` +
          `${say(finding.costNs)} (${ofRun(finding.costNs)}); it may use ${finding.cpus} CPUs.`,
        remedy:
          `Start ${finding.cpus} at a time (make -j${finding.cpus}, xargs -P ${finding.cpus}): where they do not ` +
          `depend on each other, that saves at most ${say(finding.savingNs)}.`,
      };
    }
    case 'last-process':
      return {
        text:
          `At the end, ${named(finding.name, finding.pid, options)} ran alone for ${say(finding.costNs)} ` +
          `(${ofRun(finding.costNs)}), after everything that had run beside it had ended.`,
        remedy: `Start it first, or divide its work: that saves at most ${say(finding.savingNs)}.`,
      };
    case 'start-up':
      return {
        text:
          `${count(finding.processes)} processes were started. That takes ${say(finding.costNs)} to ` +
          `${say(finding.mostNs)} of the elapsed time (up to ${percent(finding.runNs, runNs)} of the processor time).`,
        remedy:
          'Start fewer processes that each do more: pass many files to one, keep one running, use built-in commands.',
      };
    case 'waited-for': {
      const who = finding.waits
        .slice(0, 3)
        .map(({ waiter, wait, ns }) => `${clean(waiter, options)} for ${waitPhrase(wait)} (${say(ns)})`)
        .join(', ');
      return {
        text:
          `Other processes waited for ${named(finding.name, finding.pid, options)} while CPUs were unused, for ` +
          `${say(finding.costNs)} (${ofRun(finding.costNs)}): ${who}.`,
        remedy: 'Make it faster, give it less to do, or run more processes of its kind.',
      };
    }
    case 'asleep':
      return {
        text: `Nothing ran for ${say(finding.costNs)} (${ofRun(finding.costNs)})${sleepOf(finding, options)}.`,
        remedy:
          (finding.causes.some(({ wait }) => wait === 'flush')
            ? 'Write to the disk less often, more at a time (one flush for several changes). '
            : '') +
          'Input and output, timers, or other programs end such sleep: do other work meanwhile, or wait less. A ' +
          'server at rest looks the same.',
      };
  }
}
