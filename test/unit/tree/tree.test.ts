/** Trees of processes made by hand: what is read and refused, NPT, and one tree for each finding. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { checksum } from '../../../ts-frontend/src/reader/profile.js';
import { treeSentences, waitPhrase } from '../../../ts-frontend/src/tree/sentences.js';
import {
  readTree,
  type RawTree,
  type TreeFamily,
  type TreeKind,
  type TreeWait,
} from '../../../ts-frontend/src/tree/tree-file.js';
import { buildTree } from '../../../ts-frontend/src/tree/tree-model.js';
import { treeJson } from '../../../ts-frontend/src/tree/tree-text.js';
import { treeSchemaErrors } from '../../support/json-schema.js';
import { root } from '../../support/root.js';
import { directory } from '../../support/run-quartz.js';

const second = 1e9;
const options = { width: 100, colour: false, ascii: false, top: 0 };

const kind = (name: string, its: Partial<TreeKind> = {}): TreeKind => ({
  name,
  forked: false,
  processes: 1,
  became: 0,
  runNs: 0,
  becameNs: 0,
  aloneNs: 0,
  ended: 1,
  leastNs: 0,
  mostNs: 0,
  shortCount: 0,
  shortNs: 0,
  byBusy: [0],
  path: [0, 0, 0],
  ...its,
});
const tree = (its: Partial<RawTree>): RawTree => ({
  program: 'make',
  arguments: 'make all',
  quartz: '0.1.0',
  endedAtNs: 0,
  status: 0,
  rootPid: 1,
  cpus: 4,
  elapsedNs: 10 * second,
  starvedNs: 0,
  heldBackNs: 0,
  userNs: 0,
  systemNs: 0,
  processCount: 1,
  aliveMost: 1,
  switches: 0,
  lost: 0,
  odd: 0,
  observerNs: 0,
  byBusy: [0, 10 * second],
  gaps: [],
  kinds: [kind('make')],
  processes: [],
  families: [],
  waits: [],
  spans: [],
  ...its,
});

/** Two make processes that each run cc, two at a time of four. */
const family = (its: Partial<TreeFamily>): TreeFamily => ({
  pid: 7,
  kind: 0,
  childKind: 1,
  most: 2,
  children: 20,
  besideNs: [second, second, 8 * second],
  ...its,
});

const written = (body: string, head = `quartz-tree 1 ${Buffer.byteLength(body)} `): string => {
  const file = join(directory(), 'a.quartztree');
  writeFileSync(file, `${head}${checksum(Buffer.from(body)).toString(16).padStart(8, '0')}\n${body}`);
  return file;
};

test('a tree is read back; one of a version that counted less has 0 there', (t) => {
  const raw = tree({ families: [family({})], kinds: [kind('make'), kind('cc', { forked: true })] });
  t.deepEqual(readTree(written(JSON.stringify(raw))), raw);
  const before = { ...tree({}), heldBackNs: undefined };
  t.deepEqual(readTree(written(JSON.stringify(before))), tree({}));
});

const good = JSON.stringify(tree({}));
const refused: readonly (readonly [what: string, file: () => string, says: RegExp])[] = [
  ['no file', () => '/nowhere/a.quartztree', /^does not exist$/],
  ['a directory', () => root, /^is not a file$/],
  ['a file of another program', () => join(root, 'package.json'), /^is no file of a tree$/],
  ['a later format', () => written(good, `quartz-tree 2 ${good.length} `), /^has format 2, which this version/],
  ['a cut file', () => written(good, `quartz-tree 1 ${good.length + 1} `), /^is damaged: it was cut/],
  ['text that is no JSON', () => written('{"program":'), /^makes no sense/],
  ...(
    [
      ['no CPU', { cpus: 0 }],
      ['a negative time', { elapsedNs: -1 }],
      ['a kind that is not there', { families: [family({ childKind: 1 })] }],
      ['a fraction as a kind', { kinds: [kind('a'), kind('b')], families: [family({ childKind: 0.5 })] }],
      [
        'an unknown wait',
        { waits: [{ kind: 0, wait: 'x' as TreeWait, holder: null, holderPid: 0, ns: 1, idleNs: 1 }] },
      ],
      ['a holder that is not there', { waits: [{ kind: 0, wait: 'lock', holder: 9, holderPid: 0, ns: 1, idleNs: 1 }] }],
      ['a span that is too short', { spans: [[1, 1, 1, 0] as unknown as RawTree['spans'][number]] }],
    ] as const satisfies readonly (readonly [string, Partial<RawTree>])[]
  ).map(([what, its]) => [what, () => written(JSON.stringify(tree(its))), /^makes no sense/] as const),
];
for (const [what, file, says] of refused)
  test(`refused: ${what}`, (t) => {
    const read = readTree(file());
    t.true(typeof read === 'string' && says.test(read), JSON.stringify(read));
  });

test('refused: a tree with another checksum', (t) => {
  const file = written(good);
  const bytes = readFileSync(file);
  bytes[bytes.length - 2] = bytes[bytes.length - 2]! ^ 1;
  writeFileSync(file, bytes);
  t.is(readTree(file), 'is damaged: its checksum is wrong');
});

test('the names of waits are those that the sampler writes, and each has a phrase', (t) => {
  const source = readFileSync(join(root, 'sampler/tree/tree_file.c'), 'utf8');
  const list = /const waits\[QZI_WAITS\] = \{([^}]*)\}/.exec(source)?.[1] ?? '';
  const names = [...list.matchAll(/"([a-z-]+)"/g)].map((match) => match[1] as TreeWait);
  t.true(names.length > 10);
  for (const wait of names) {
    const row = { kind: 0, wait, holder: null, holderPid: 0, ns: 1, idleNs: 1 };
    t.is(typeof readTree(written(JSON.stringify(tree({ waits: [row] })))), 'object', wait);
    t.truthy(waitPhrase(wait), wait);
  }
});

test('NPT divides by how many ran at the same time; what parallel work would save is an upper bound', (t) => {
  const { kinds, nptNs, nothingNs } = buildTree(
    tree({
      byBusy: [second, 5 * second, 4 * second],
      kinds: [
        kind('make', { runNs: 7 * second, byBusy: [0, 5 * second, 2 * second] }),
        kind('cc', { forked: true, runNs: 6 * second, byBusy: [0, 0, 6 * second] }),
      ],
    }),
  );
  t.deepEqual([nptNs, nothingNs], [9 * second, second]);
  const [make, cc] = kinds;
  t.deepEqual([make?.name, make?.nptNs, make?.parallelism], ['make', 6 * second, 7 / 6]);
  t.is(make?.parallelizeNs, 5 * second * (1 - 1 / 4) + 2 * second * (1 / 2 - 1 / 4));
  t.deepEqual([cc?.nptNs, cc?.parallelism], [3 * second, 2]);
});

const wait = (its: Partial<RawTree['waits'][number]>): RawTree['waits'][number] => ({
  kind: 0,
  wait: 'pipe-read',
  holder: 1,
  holderPid: 9,
  ns: 6 * second,
  idleNs: 4 * second,
  ...its,
});

/** Trees whose first finding is to be of that kind, with these facts and this beginning of its text. */
const findings: readonly (readonly [what: string, its: Partial<RawTree>, facts: object, text: RegExp])[] = [
  [
    'one process runs alone',
    { kinds: [kind('make'), kind('ld', { aloneNs: 4 * second })] },
    { kind: 'serial', costNs: 4 * second, savingNs: 3 * second },
    /^One process ran alone for 4\.00 s \(40\.0 % of the elapsed time\): ld \(4\.00 s\)\.$/,
  ],
  [
    'fewer jobs than CPUs',
    { kinds: [kind('make'), kind('cc')], families: [family({})] },
    { kind: 'few-jobs', costNs: 9 * second, savingNs: 4.5 * second, most: 2, children: 20, pid: 7 },
    /^make \(process 7\) had at most 2 processes at a time, 20 in all, for 9\.00 s .*; it may use 4 CPUs\.$/,
  ],
  [
    'the last process',
    {
      byBusy: [0, 4 * second, 6 * second],
      kinds: [kind('make'), kind('ld')],
      processes: [
        { pid: 5, parent: 1, kind: 1, beginNs: 0, endNs: 10 * second, runNs: 1, aloneNs: 4 * second, nptNs: 1 },
      ],
      spans: [
        [6 * second, 12 * second, 3, 0, 6 * second],
        [4 * second, 4 * second, 5, 1, 4 * second],
      ],
    },
    { kind: 'last-process', costNs: 4 * second, savingNs: 3 * second, name: 'ld', pid: 5 },
    /^At the end, ld \(process 5\) ran alone for 4\.00 s/,
  ],
  [
    'many short processes',
    {
      processCount: 1000,
      kinds: [kind('cc', { runNs: 10 * second, becameNs: second, ended: 1000, leastNs: 2e6 })],
    },
    { kind: 'start-up', costNs: second, mostNs: 3 * second, processes: 1000, runNs: 3 * second },
    /^1,000 processes were started\. That takes 1\.00 s to 3\.00 s .*\(up to 30\.0 % of the processor time\)\.$/,
  ],
  [
    'others wait for a process',
    { kinds: [kind('sort'), kind('gzip')], waits: [wait({}), wait({ wait: 'socket', ns: second, idleNs: 0 })] },
    { kind: 'waited-for', costNs: 4 * second, savingNs: null, name: 'gzip', pid: 9 },
    /^Other processes waited for gzip \(process 9\) .* sort for data from a pipe \(6\.00 s\), sort for a socket \(1\.00 s\)/,
  ],
  [
    'nothing runs',
    {
      byBusy: [6 * second, 4 * second],
      starvedNs: second,
      kinds: [kind('server', { path: [4 * second, second, 5 * second] })],
      waits: [wait({ holder: null, holderPid: 0, wait: 'sleep' })],
    },
    { kind: 'asleep', costNs: 5 * second, savingNs: null },
    /^Nothing ran for 5\.00 s .* on the path, server slept for a timer \(5\.00 s\)\.$/,
  ],
  [
    'nothing runs, and the path goes through a helper at rest',
    {
      byBusy: [6 * second, 4 * second],
      kinds: [kind('helper', { path: [0, 0, 6 * second] }), kind('worker', { runNs: 4 * second })],
      gaps: [
        { kind: 0, wait: 'events', ns: 0.1 * second },
        { kind: 1, wait: 'shared', ns: second },
        { kind: 1, wait: 'flush', ns: 4.9 * second },
      ],
    },
    { kind: 'asleep', costNs: 6 * second },
    /until a process went on that had slept: worker for what it wrote to reach the disk \(4\.90 s\), for a sem[^;]*$/,
  ],
];
for (const [what, its, facts, text] of findings)
  test(`finding: ${what}`, (t) => {
    const model = buildTree(tree(its));
    const [first] = model.findings;
    t.like(first, facts);
    t.regex(first === undefined ? '' : treeSentences(model, first, options).text, text);
    t.is(treeSchemaErrors(treeJson(model, options)), '');
  });

const silent: readonly (readonly [what: string, its: Partial<RawTree>])[] = [
  ['one CPU has no serial part', { cpus: 1, kinds: [kind('ld', { aloneNs: 9 * second })] }],
  ['as many jobs as CPUs', { kinds: [kind('make'), kind('cc')], families: [family({ most: 4 })] }],
  ['few children', { kinds: [kind('make'), kind('cc')], families: [family({ children: 7 })] }],
  ['seldom as many as at most', { kinds: [kind('a'), kind('b')], families: [family({ besideNs: [0, 8e9, 1e9] })] }],
  ['waits for its own threads', { kinds: [kind('a'), kind('b')], waits: [wait({ wait: 'threads' })] }],
  ['others had the CPUs', { byBusy: [6e9, 4e9], starvedNs: 6e9, kinds: [kind('a', { path: [4e9, 6e9, 0] })] }],
];
for (const [what, its] of silent)
  test(`no finding: ${what}`, (t) => {
    t.deepEqual(buildTree(tree(its)).findings, []);
  });
