/** Threads that wait for locks, input and output, other processes, each other. */
import type { Finding, IoFacts, LockFacts } from '../../../../ts-frontend/src/model/index.js';
import { finding, join_, main, ms, s, savesNs, setup, table, us, waiting, work } from './base.js';

const lock: LockFacts = {
  form: 'lock',
  allocator: false,
  takenIn: [],
  spins: false,
  exclusion: null,
  waitedFor: table,
  others: [],
  waiters: 2.4,
  woken: null,
  counted: true,
  acquisitions: 12_345,
  contended: 1,
  waitMeanNs: 2.5 * us,
  holder: work,
  holderCalls: null,
  heldEachNs: 5 * us,
  inIo: null,
  mostlyInIo: false,
  unserved: null,
  readyInstead: false,
  savesNs,
};
const io: IoFacts = {
  form: 'io',
  waits: 'device',
  mayBeSleep: false,
  call: 'read',
  threads: 1,
  held: [],
  overlapNs: 0.1 * s,
  restNs: 0,
  goesNs: 0.1 * s,
  rarerNs: null,
  several: null,
  childrenNs: null,
  started: null,
};

export const waits: [string, Finding][] = [
  ['mutual waits', finding(table, { form: 'mutual-wait', objects: [table], savesNs })],
  [
    'nothing runs',
    finding(
      table,
      {
        form: 'nothing-runs',
        waiting: [waiting, { entity: join_, threads: 2 }],
        waits: [{ entity: table, count: 1, meanNs: 20 * ms }],
      },
      { processorUse: { busy: 0, spinning: 0, idle: 4 } },
    ),
  ],
  ['a lock', finding(table, lock)],
  [
    'a lock held in input',
    finding(table, {
      ...lock,
      contended: 0,
      acquisitions: 1,
      woken: 1,
      inIo: { share: 0.96, call: setup },
      mostlyInIo: true,
      unserved: 0.5,
    }),
  ],
  ['a lock held for long', finding(table, { ...lock, heldEachNs: 2 * ms, holderCalls: setup })],
  ['a lock held for a short time', finding(table, { ...lock, heldEachNs: 0.08 * us })],
  ['a lock behind another', finding(table, { ...lock, waitedFor: join_, others: [main] })],
  ['a lock before others', finding(table, { ...lock, others: [join_] })],
  [
    'a spin lock seen from outside',
    finding(table, { ...lock, spins: true, counted: false, holder: null, readyInstead: true }),
  ],
  ['spinning', finding(join_, { form: 'spinning', savesNs }, { processorUse: { busy: 1, spinning: 2, idle: 1 } })],
  ['input', finding(work, { ...io, several: { atATime: 2, savesNs } })],
  ['requests', finding(work, { ...io, waits: 'others', call: 'poll', threads: 2.5, held: [waiting] })],
  ['sleep', finding(work, { ...io, waits: 'sleep', call: null })],
  [
    'a file lock',
    finding(work, { ...io, waits: 'file-lock', call: 'fcntl' }, { kind: 'lock-contention', change: 'wait-less' }),
  ],
  ['child processes', finding(work, { ...io, waits: 'children', call: 'waitpid' })],
  [
    'other processes',
    finding(join_, {
      form: 'processes',
      calls: [
        { entity: join_, ns: 0.5 * s },
        { entity: table, ns: 0.2 * s },
      ],
      further: 1,
      startNs: 0.1 * s,
      messageNs: 0.2 * s,
      collectiveNs: 0.5 * s,
      savesNs: 0.8 * s,
    }),
  ],
  [
    'the start of other processes',
    finding(join_, {
      form: 'processes',
      calls: [{ entity: join_, ns: 0.5 * s }],
      further: 0,
      startNs: 0.5 * s,
      messageNs: 0,
      collectiveNs: 0,
      savesNs: 0.5 * s,
    }),
  ],
];
