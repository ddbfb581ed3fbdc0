/** Computes the metrics of a tree (docs/reference/trees.md): NPT of kinds of processes, and findings. */
import { sum } from './numbers.js';
import type { RawTree, TreeFamily, TreeKind, TreeWait } from './tree-file.js';

interface KindRow {
  index: number;
  name: string;
  forked: boolean;
  processes: number;
  runNs: number; // processor time
  nptNs: number;
  aloneNs: number; // time in which no other process of the tree had a CPU, or is known to have wanted one
  parallelism: number;
  parallelizeNs: number;
}

export interface WaitRow {
  waiter: string;
  wait: TreeWait;
  holder: string | null;
  holderPid: number | null;
  ns: number;
  idleNs: number;
}

interface GapRow {
  name: string;
  wait: TreeWait;
  ns: number;
}

export interface PathRow {
  name: string;
  ranNs: number;
  noCpuNs: number;
  asleepNs: number;
}

export type TreeFinding =
  | { kind: 'serial'; costNs: number; savingNs: number; names: { name: string; ns: number }[] }
  | {
      kind: 'few-jobs';
      costNs: number;
      savingNs: number;
      parent: string;
      pid: number;
      most: number; // the maximum number at a time
      children: number;
      cpus: number;
    }
  | { kind: 'last-process'; costNs: number; savingNs: number; name: string; pid: number }
  | { kind: 'start-up'; costNs: number; mostNs: number; savingNs: number; processes: number; runNs: number }
  | {
      kind: 'waited-for';
      costNs: number;
      savingNs: number | null; // null: what the waiters would do otherwise is unknown
      name: string;
      pid: number | null;
      waits: { waiter: string; wait: TreeWait; ns: number }[];
    }
  | {
      kind: 'asleep';
      costNs: number;
      savingNs: number | null; // null: what they wait for is outside of the tree
      sleepers: { name: string; ns: number; wait: TreeWait }[]; // on the path
      causes: GapRow[]; // who went on first, and what it had slept for
    };

export interface TreeModel {
  raw: RawTree;
  runNs: number;
  nptNs: number; // elapsed time in which some process ran
  nothingNs: number;
  kinds: KindRow[]; // sorted by NPT, largest first
  waits: WaitRow[]; // sorted by time, longest first
  gaps: GapRow[]; // sorted by time, longest first
  path: PathRow[];
  findings: TreeFinding[];
}

const leastShare = 0.05; // the least share of elapsed time that is a finding

const overBusy = (byBusy: readonly number[], weight: (busy: number) => number): number =>
  sum(byBusy.map((ns, busy) => (busy === 0 ? 0 : ns * weight(busy))));

const nptOf = (byBusy: readonly number[]): number => overBusy(byBusy, (busy) => 1 / busy);

export const kindName = ({ name, forked }: { name: string; forked: boolean }): string =>
  name === '' ? '(others)' : forked ? `${name} (forked)` : name;

function kindRow(kind: TreeKind, index: number, cpus: number): KindRow {
  const nptNs = nptOf(kind.byBusy);
  return {
    index,
    name: kind.name,
    forked: kind.forked,
    processes: kind.processes,
    runNs: kind.runNs,
    nptNs,
    aloneNs: kind.aloneNs,
    parallelism: nptNs > 0 ? kind.runNs / nptNs : 0,
    parallelizeNs: overBusy(kind.byBusy, (busy) => Math.max(0, 1 / busy - 1 / cpus)),
  };
}

const nameAt = (raw: RawTree, index: number): string => {
  const kind = raw.kinds[index];
  return kind ? kindName(kind) : '';
};

function waitRows(raw: RawTree): WaitRow[] {
  return raw.waits
    .map((row) => ({
      waiter: nameAt(raw, row.kind),
      wait: row.wait,
      holder: row.holder === null ? null : nameAt(raw, row.holder),
      holderPid: row.holderPid === 0 ? null : row.holderPid,
      ns: row.ns,
      idleNs: row.idleNs,
    }))
    .sort((a, b) => b.ns - a.ns);
}

// ---- findings ----

function serial(raw: RawTree, kinds: readonly KindRow[]): TreeFinding[] {
  const costNs = sum(kinds.map(({ aloneNs }) => aloneNs));
  if (raw.cpus < 2 || costNs < leastShare * raw.elapsedNs) return [];
  const names = kinds
    .filter(({ aloneNs }) => aloneNs >= leastShare * costNs)
    .sort((a, b) => b.aloneNs - a.aloneNs)
    .slice(0, 3)
    .map((kind) => ({ name: kindName(kind), ns: kind.aloneNs }));
  return [{ kind: 'serial', costNs, savingNs: costNs * (1 - 1 / raw.cpus), names }];
}

const leastChildren = 4;
const atMostShare = 0.8; // share of the time with children in which their number has to be at its maximum

/** Elapsed time in which the process had child processes. */
const familyNs = ({ besideNs }: TreeFamily): number => sum(besideNs.slice(1));

function fewJobs(raw: RawTree): TreeFinding[] {
  const family = raw.families
    .filter(
      (one) =>
        one.most > 0 &&
        one.most < raw.cpus &&
        one.children >= leastChildren * one.most &&
        (one.besideNs[one.most] ?? 0) >= atMostShare * familyNs(one) &&
        familyNs(one) >= leastShare * raw.elapsedNs,
    )
    .sort((a, b) => familyNs(b) - familyNs(a))[0];
  if (!family) return [];
  const costNs = familyNs(family);
  return [
    {
      kind: 'few-jobs',
      costNs,
      savingNs: costNs * (1 - family.most / raw.cpus),
      parent: nameAt(raw, family.kind),
      pid: family.pid,
      most: family.most,
      children: family.children,
      cpus: raw.cpus,
    },
  ];
}

/** Searches backwards from the end for stretches in which one process used nearly all processor time, and ran alone. */
function lastProcess(raw: RawTree): TreeFinding[] {
  const besideNs = sum(raw.byBusy.slice(2));
  if (raw.cpus < 2 || besideNs < leastShare * raw.elapsedNs) return [];
  let costNs = 0;
  let pid = 0;
  let kind = 0;
  for (const [ns, runNs, topPid, topKind, topNs] of [...raw.spans].reverse()) {
    if (runNs < 0.1 * ns && costNs === 0) continue; // at the very end, processes only wait for the exit of others
    if (topNs < 0.9 * runNs || runNs > 1.1 * ns || (pid !== 0 && topPid !== pid)) break;
    pid = topPid;
    kind = topKind;
    costNs += ns;
  }
  const one = raw.processes.find((process) => process.pid === pid);
  if (costNs < leastShare * raw.elapsedNs || !one) return [];
  const beganNs = raw.elapsedNs - costNs;
  costNs = Math.min(costNs, one.aloneNs); // without the time in which other processes were runnable but had no CPU
  if (costNs < leastShare * raw.elapsedNs) return [];
  // A process that began when no other was running any more is a serial part of the program, not the last of several.
  if (one.beginNs > beganNs - 0.01 * raw.elapsedNs) return [];
  const name = nameAt(raw, kind);
  return [{ kind: 'last-process', costNs, savingNs: costNs * (1 - 1 / raw.cpus), name, pid }];
}

const manyProcesses = 100;

/**
 * The cost of creating processes: the part that is measured, and an upper bound from the processor time of the lightest
 * process of each kind.
 */
function startUp(raw: RawTree, runNs: number, nptNs: number): TreeFinding[] {
  if (raw.processCount < manyProcesses || runNs === 0) return [];
  const surely = sum(raw.kinds.map(({ becameNs }) => becameNs));
  const lightest = sum(raw.kinds.map(({ ended, leastNs }) => (ended >= 10 ? ended * leastNs : 0)));
  const part = nptNs / runNs;
  const costNs = surely * part;
  const mostNs = Math.min(runNs, surely + lightest) * part;
  if (mostNs < 2 * leastShare * raw.elapsedNs) return [];
  return [
    { kind: 'start-up', costNs, mostNs, savingNs: mostNs, processes: raw.processCount, runNs: surely + lightest },
  ];
}

const betweenProcesses: readonly TreeWait[] = ['pipe-read', 'pipe-write', 'socket', 'lock', 'shared', 'semaphore'];

function waitedFor(raw: RawTree): TreeFinding[] {
  const groups = new Map<string, { name: string; pid: number | null; idleNs: number; waits: WaitRow[] }>();
  for (const row of waitRows(raw)) {
    if (row.holder === null || !betweenProcesses.includes(row.wait)) continue;
    const key = row.holderPid === null ? row.holder : String(row.holderPid);
    const group = groups.get(key) ?? { name: row.holder, pid: row.holderPid, idleNs: 0, waits: [] };
    group.idleNs += row.idleNs;
    group.waits.push(row);
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ name, pid, idleNs, waits }): TreeFinding => ({
      kind: 'waited-for',
      costNs: Math.min(idleNs, raw.elapsedNs),
      savingNs: null,
      name,
      pid,
      waits: waits.map(({ waiter, wait, ns }) => ({ waiter, wait, ns })),
    }))
    .filter(({ costNs }) => costNs >= 2 * leastShare * raw.elapsedNs)
    .sort((a, b) => b.costNs - a.costNs)
    .slice(0, 2);
}

/** What was slept for when nothing ran: of each such time, what the process had slept for that went on first. */
function gapRows(raw: RawTree): GapRow[] {
  return raw.gaps.map(({ kind, wait, ns }) => ({ name: nameAt(raw, kind), wait, ns })).sort((a, b) => b.ns - a.ns);
}

/** The important ones. */
function causesOf(raw: RawTree): GapRow[] {
  const rows = gapRows(raw);
  const allNs = sum(rows.map(({ ns }) => ns));
  return rows.filter(({ ns }) => ns >= leastShare * allNs).slice(0, 4);
}

/** Nothing ran, though it could have: processes on the path slept for something that no process of the tree did. */
function asleep(raw: RawTree, path: readonly PathRow[]): TreeFinding[] {
  const nothingNs = Math.max(0, (raw.byBusy[0] ?? 0) - raw.starvedNs);
  const costNs = Math.min(nothingNs, sum(path.map(({ asleepNs }) => asleepNs)));
  if (costNs < 2 * leastShare * raw.elapsedNs) return [];
  const waits = waitRows(raw).filter(({ holder }) => holder === null);
  const sleepers = path
    .filter(({ asleepNs }) => asleepNs >= 2 * leastShare * costNs)
    .sort((a, b) => b.asleepNs - a.asleepNs)
    .slice(0, 3)
    .map(({ name, asleepNs }) => ({
      name,
      ns: asleepNs,
      wait: waits.find(({ waiter }) => waiter === name)?.wait ?? ('unknown' as const),
    }));
  return [{ kind: 'asleep', costNs, savingNs: null, sleepers, causes: causesOf(raw) }];
}

export function buildTree(raw: RawTree): TreeModel {
  const kinds = raw.kinds.map((kind, index) => kindRow(kind, index, raw.cpus)).sort((a, b) => b.nptNs - a.nptNs);
  const runNs = sum(raw.kinds.map((kind) => kind.runNs));
  const nptNs = raw.elapsedNs - (raw.byBusy[0] ?? 0);
  const path = raw.kinds
    .map((kind) => ({
      name: kindName(kind),
      ranNs: kind.path[0] ?? 0,
      noCpuNs: kind.path[1] ?? 0,
      asleepNs: kind.path[2] ?? 0,
    }))
    .filter((row) => row.ranNs + row.noCpuNs + row.asleepNs > 0)
    .sort((a, b) => b.ranNs + b.noCpuNs + b.asleepNs - (a.ranNs + a.noCpuNs + a.asleepNs));
  const findings = [
    ...serial(raw, kinds),
    ...fewJobs(raw),
    ...lastProcess(raw),
    ...startUp(raw, runNs, nptNs),
    ...waitedFor(raw),
    ...asleep(raw, path),
  ].sort((a, b) => (b.savingNs ?? b.costNs) - (a.savingNs ?? a.costNs));
  return {
    raw,
    runNs,
    nptNs,
    nothingNs: raw.byBusy[0] ?? 0,
    kinds,
    waits: waitRows(raw),
    gaps: gapRows(raw),
    path,
    findings,
  };
}
