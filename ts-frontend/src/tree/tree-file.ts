/** Reads and validates the file that `--tree` writes (docs/reference/trees.md). */
import { readFileSync, statSync } from 'node:fs';
import { checksum } from '../reader/profile.js';
import { systemReason } from '../reader/system-error.js';

export const treeExtension = '.quartztree';

export interface TreeKind {
  name: string; // '' for the sum of processes that did not fit into the table
  forked: boolean;
  processes: number;
  became: number;
  runNs: number;
  becameNs: number;
  aloneNs: number;
  ended: number;
  leastNs: number;
  mostNs: number;
  shortCount: number;
  shortNs: number;
  byBusy: number[];
  path: number[];
}

interface TreeProcess {
  pid: number;
  parent: number;
  kind: number;
  beginNs: number;
  endNs: number;
  runNs: number;
  aloneNs: number;
  nptNs: number;
}

export interface TreeFamily {
  pid: number;
  kind: number;
  childKind: number;
  most: number;
  children: number;
  besideNs: number[];
}

const treeWaits = [
  'unknown',
  'children',
  'pipe-read',
  'pipe-write',
  'socket',
  'lock',
  'shared',
  'threads',
  'semaphore',
  'file-lock',
  'events',
  'sleep',
  'device',
  'flush',
  'other',
] as const;
export type TreeWait = (typeof treeWaits)[number];

interface TreeWaitRow {
  kind: number;
  wait: TreeWait;
  holder: number | null;
  holderPid: number; // 0 if there are several, or none
  ns: number;
  idleNs: number;
}

/** Time in which nothing ran, until a process of that kind went on that had slept in that way. */
interface TreeGap {
  kind: number;
  wait: TreeWait;
  ns: number;
}

export interface RawTree {
  program: string;
  arguments: string;
  quartz: string;
  endedAtNs: number;
  status: number;
  rootPid: number;
  cpus: number;
  elapsedNs: number;
  starvedNs: number;
  heldBackNs: number; // 0 in trees of versions that did not count it
  userNs: number;
  systemNs: number;
  processCount: number;
  aliveMost: number;
  switches: number;
  lost: number;
  odd: number;
  observerNs: number;
  byBusy: number[];
  kinds: TreeKind[];
  processes: TreeProcess[];
  families: TreeFamily[];
  waits: TreeWaitRow[];
  gaps: TreeGap[]; // empty in trees of versions that did not count it
  spans: [ns: number, runNs: number, topPid: number, topKind: number, topNs: number][];
}

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isNumbers = (value: unknown): boolean => Array.isArray(value) && value.every(isNumber);

/** Whether a row has all fields of `like`, with values of the same types. */
function hasShape(row: unknown, like: Readonly<Record<string, unknown>>): boolean {
  if (typeof row !== 'object' || row === null) return false;
  const its = row as Record<string, unknown>;
  return Object.entries(like).every(([name, value]) =>
    Array.isArray(value)
      ? isNumbers(its[name])
      : typeof value === 'number'
        ? isNumber(its[name])
        : typeof its[name] === typeof value,
  );
}

const numbersOf = (...names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, 0]));

const headShape = {
  program: '',
  arguments: '',
  quartz: '',
  ...numbersOf('endedAtNs', 'status', 'rootPid', 'cpus', 'elapsedNs', 'starvedNs'),
  ...numbersOf('heldBackNs', 'userNs', 'systemNs'),
  ...numbersOf('processCount', 'aliveMost', 'switches', 'lost', 'odd', 'observerNs'),
  byBusy: [],
};
const kindShape = {
  name: '',
  forked: false,
  ...numbersOf('processes', 'became', 'runNs', 'becameNs', 'aloneNs', 'ended', 'leastNs', 'mostNs'),
  ...numbersOf('shortCount', 'shortNs'),
  byBusy: [],
  path: [],
};
const processShape = numbersOf('pid', 'parent', 'kind', 'beginNs', 'endNs', 'runNs', 'aloneNs', 'nptNs');
const familyShape = { ...numbersOf('pid', 'kind', 'childKind', 'most', 'children'), besideNs: [] };
const waitShape = { ...numbersOf('kind', 'holderPid', 'ns', 'idleNs'), wait: '' };

const gapShape = { ...numbersOf('kind', 'ns'), wait: '' };

const rowsAre = (rows: unknown, shape: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(rows) && rows.every((row) => hasShape(row, shape));

function isTree(value: unknown): value is RawTree {
  if (!hasShape(value, headShape)) return false;
  const tree = value as RawTree;
  const shaped =
    rowsAre(tree.kinds, kindShape) &&
    rowsAre(tree.processes, processShape) &&
    rowsAre(tree.families, familyShape) &&
    rowsAre(tree.waits, waitShape) &&
    rowsAre(tree.gaps, gapShape) &&
    Array.isArray(tree.spans) &&
    tree.spans.every((span) => isNumbers(span) && span.length === 5);
  if (!shaped) return false;
  const known = (kind: number): boolean => Number.isInteger(kind) && kind < tree.kinds.length;
  return (
    tree.cpus >= 1 &&
    tree.processes.every(({ kind }) => known(kind)) &&
    tree.families.every(({ kind, childKind }) => known(kind) && known(childKind)) &&
    tree.waits.every(
      ({ kind, wait, holder }) => known(kind) && treeWaits.includes(wait) && (holder === null || known(holder)),
    ) &&
    tree.gaps.every(({ kind, wait }) => known(kind) && treeWaits.includes(wait)) &&
    tree.spans.every(([, , , topKind]) => known(topKind))
  );
}

/** The tree, or a clause that says what is wrong with the file. */
export function readTree(file: string): RawTree | string {
  let bytes: Buffer;
  try {
    if (!statSync(file).isFile()) return 'is not a file';
    bytes = readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be read: ${systemReason(error)}`;
  }
  const line = bytes.indexOf('\n');
  const [, version, count, sum] =
    /^quartz-tree (\d+) (\d+) ([0-9a-f]{8})$/.exec(bytes.toString('latin1', 0, line)) ?? [];
  if (version === undefined) return 'is no file of a tree';
  if (version !== '1') return `has format ${version}, which this version does not read`;
  const body = bytes.subarray(line + 1);
  if (body.length !== Number(count)) return 'is damaged: it was cut, or something was appended';
  if (checksum(body) !== Number.parseInt(sum ?? '', 16)) return 'is damaged: its checksum is wrong';
  try {
    const tree: unknown = { heldBackNs: 0, gaps: [], ...(JSON.parse(body.toString('utf8')) as object) };
    if (isTree(tree)) return tree;
  } catch {
    // reported below
  }
  return 'makes no sense, though its checksum is right';
}
