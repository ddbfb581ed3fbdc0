/** Too little work for the processors: serial code, uneven division, pipelines. */
import type { Finding, SerialFacts, TooFewThreadsFacts, UnevenFacts } from '../../../../ts-frontend/src/model/index.js';
import { finding, join_, main, ms, s, savesNs, setup, table, waiting, work, worker } from './base.js';

const tooFew: TooFewThreadsFacts = {
  form: 'too-few-threads',
  threads: 8,
  atOnce: 2,
  many: false,
  waiting: null,
  parts: [],
  spreadNs: savesNs,
  goroutines: null,
  even: null,
  faster: null,
};
const uneven: UnevenFacts = {
  form: 'uneven-division',
  code: work,
  barrier: null,
  slowest: null,
  last: null,
  threads: 4,
  atOnce: 4,
  callers: [],
  waiting: null,
  parts: [],
  many: false,
  among: 4,
  evenNs: 0.2 * s,
  evenMostNs: 0.2 * s,
  openmp: false,
  pool: false,
  spreadNs: null,
  faster: null,
};

export const serial: SerialFacts = {
  form: 'serial',
  loop: null,
  oneAtATime: null,
  most: null,
  succession: null,
  again: null,
  siblings: null,
  worker: null,
  callers: [],
  itself: false,
  waiting: null,
  parts: [],
  spreadNs: 0.375 * s,
  smaller: [],
  allNs: 0,
  inAll: null,
  pieces: [],
  only: false,
  backgroundNs: 0,
  teamNs: null,
};

export const missingWork: [string, Finding][] = [
  [
    'serial',
    finding(setup, {
      ...serial,
      loop: 'sum.c:12',
      callers: [1],
      itself: true,
      waiting,
      parts: [work],
      smaller: [{ entity: work, costNs: 9 * ms }],
    }),
  ],
  [
    'a thread with all the work, and others that begin alike',
    finding(setup, { ...serial, siblings: { threads: 3, start: main } }),
  ],
  [
    'serial, bound by a longer thread, with other programs',
    finding(
      setup,
      { ...serial },
      { bound: { thread: main, outsideNs: 1.9 * s, mostNs: 0.1 * s }, othersMayCause: true },
    ),
  ],
  [
    'serial, in several procedures, of a team that gains nothing',
    finding(setup, { ...serial, allNs: 1.2 * s, inAll: { costNs: 1.5 * s, spreadNs: 0.75 * s }, teamNs: 0.2 * s }),
  ],
  [
    'serial, all that a thread runs alone, in several procedures',
    finding(worker, {
      ...serial,
      waiting,
      pieces: [
        { entity: setup, costNs: 0.2 * s },
        { entity: work, costNs: 0.15 * s },
      ],
    }),
  ],
  [
    'serial, all of the only thread, beside compilation',
    finding(worker, { ...serial, pieces: [{ entity: setup, costNs: 0.28 * s }], only: true, backgroundNs: 0.3 * s }),
  ],
  ['serial, of a team that takes as long', finding(setup, { ...serial, teamNs: 0 })],
  ['a held lock', finding(table, { ...serial, callers: [1, 3] })],
  [
    'one of two threads has nearly all of it',
    finding(setup, { ...serial, oneAtATime: 2, most: { thread: worker, share: 0.97 } }),
  ],
  ['too few goroutines, which pass on values', finding(work, { ...tooFew, goroutines: 'channels' })],
  ['too few goroutines, or a lock', finding(work, { ...tooFew, goroutines: 'unknown' })],
  [
    'too few threads',
    finding(
      work,
      {
        form: 'too-few-threads',
        threads: 2,
        atOnce: 2,
        many: false,
        waiting: { entity: join_, threads: 2 },
        parts: [setup],
        spreadNs: savesNs,
        goroutines: null,
        even: { threads: 2, savesNs: 0.1 * s },
        faster: { entity: setup, ns: 0.9 * s, busyNs: 0 },
      },
      { advice: { pieces: 'smaller', threads: 'more' } },
    ),
  ],
  ['the same beside other advice', finding(work, tooFew)],
  [
    'uneven division, a slow thread',
    finding(
      worker,
      { ...uneven, slowest: { thread: worker, workNs: 0.4 * s, meanNs: 0.2 * s }, spreadNs: 0.3 * s },
      { advice: { pieces: 'smaller', threads: 'more' } },
    ),
  ],
  [
    'uneven division, before a barrier, beside other advice',
    finding(join_, { ...uneven, barrier: join_, last: worker, spreadNs: 0.3 * s }),
  ],
  [
    'uneven division of many pieces',
    finding(
      work,
      {
        ...uneven,
        threads: 100,
        atOnce: 9,
        many: true,
        callers: [1],
        faster: { entity: setup, ns: 1.5 * s, busyNs: 0.5 * s },
      },
      { advice: { pieces: 'smaller', threads: null } },
    ),
  ],
  ['threads too small', finding(setup, { form: 'small-threads', spawns: 1, workNs: 900, ready: 1, savesNs })],
  [
    'the slowest stage',
    finding(
      work,
      {
        form: 'slowest-stage',
        code: work,
        stage: { thread: worker, workNs: s },
        next: { thread: main, workNs: 0.4 * s },
        objects: [table, join_, table],
        savesNs,
        fasterNs: 600 * ms,
      },
      { advice: { pieces: null, threads: 'more' } },
    ),
  ],
  [
    'the same beside other advice',
    finding(work, {
      form: 'slowest-stage',
      code: work,
      stage: { thread: worker, workNs: s },
      next: { thread: main, workNs: 0.4 * s },
      objects: [table],
      savesNs,
      fasterNs: 600 * ms,
    }),
  ],
  [
    'passed data',
    finding(
      work,
      { form: 'passed-data', objects: [table], code: work, awaited: null, savesNs },
      { advice: { pieces: 'smaller', threads: null } },
    ),
  ],
  [
    'passed data beside other advice',
    finding(work, { form: 'passed-data', objects: [table], code: work, awaited: null, savesNs }),
  ],
  [
    'work that is handed out piece by piece',
    finding(work, {
      form: 'passed-data',
      objects: [table],
      code: work,
      awaited: { thread: main, object: table, idle: 2.5 },
      savesNs,
    }),
  ],
];
