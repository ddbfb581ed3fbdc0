/** The time path in cells: a row for each thread, and a column for each equal part of the time. Pure. */
import type { PathSegment, PathState, RecentPath } from '../../../ts-frontend/src/model/index.js';

export type CellState = PathState;
export interface Cell {
  state: CellState; // the state that the thread was in for most of its time on the path there
  most: boolean; // whether this row has more of the column than all other rows
}
interface Lane {
  thread: number; // entity; 0: not known, or several threads
  threads: number; // number of threads that the row stands for
  share: number; // share of the path
  cells: (Cell | null)[];
}
export interface Lanes {
  width: number;
  rows: Lane[];
  main: number[]; // for each column, the row with most of it; -1: none
  handOvers: number[]; // for each column, the number of hand-overs: changes of thread
}

/** Threads in order; if there are more than `most`, those with the least time share one row. */
export function pathLanes(path: RecentPath, width: number, most: number): Lanes {
  const { threads } = path;
  const own = new Set(
    threads.length <= most
      ? threads.map(({ thread }) => thread)
      : [...threads]
          .sort((a, b) => b.ns - a.ns)
          .slice(0, most - 1)
          .map(({ thread }) => thread),
  );
  const rows: Lane[] = [];
  const rowOf = new Map<number, number>();
  for (const { thread, ns } of threads)
    if (own.has(thread)) {
      rowOf.set(thread, rows.length);
      rows.push({ thread, threads: 1, share: ns / path.ns, cells: [] });
    }
  const others = threads.filter(({ thread }) => !own.has(thread));
  if (others.length > 0) {
    for (const { thread } of others) rowOf.set(thread, rows.length);
    const share = others.reduce((sum, { ns }) => sum + ns, 0) / path.ns;
    rows.push({ thread: 0, threads: others.length, share, cells: [] });
  }
  const times = timesOf(path, width, rowOf, rows.length);
  const main: number[] = [];
  for (let x = 0; x < width; x++) {
    const column = times.map((row) => row[x]?.ns ?? 0);
    const best = column.reduce((at, ns, k) => (ns > (column[at] ?? 0) ? k : at), 0);
    main.push((column[best] ?? 0) > 0 ? best : -1);
    rows.forEach((row, k) => {
      const cell = times[k]?.[x];
      row.cells.push(cell === undefined || cell.ns <= 0 ? null : { state: mostOf(cell.states), most: k === best });
    });
  }
  return { width, rows, main, handOvers: handOversOf(path, width) };
}

interface Times {
  ns: number;
  states: Map<PathState, number>;
}
const mostOf = (states: ReadonlyMap<PathState, number>): PathState =>
  [...states].reduce<[PathState, number]>((best, one) => (one[1] > best[1] ? one : best), ['unknown', 0])[0];

/** Time of each row in each column, by state of its thread. */
function timesOf(path: RecentPath, width: number, rowOf: ReadonlyMap<number, number>, rows: number): Times[][] {
  const times = Array.from({ length: rows }, () =>
    Array.from({ length: width }, (): Times => ({ ns: 0, states: new Map() })),
  );
  const add = ({ startNs, ns, thread, state }: PathSegment): void => {
    const row = times[rowOf.get(thread) ?? -1];
    const begin = ((startNs - path.startNs) / path.ns) * width;
    const end = ((startNs + ns - path.startNs) / path.ns) * width;
    for (let x = Math.max(0, Math.floor(begin)); x < Math.min(width, end); x++) {
      const part = Math.min(end, x + 1) - Math.max(begin, x);
      const cell = row?.[x];
      if (cell === undefined || part <= 0) continue;
      cell.ns += part;
      cell.states.set(state, (cell.states.get(state) ?? 0) + part);
    }
  };
  path.segments.forEach(add);
  return times;
}

function handOversOf(path: RecentPath, width: number): number[] {
  const found = new Array<number>(width).fill(0);
  let last = 0;
  for (const { thread, startNs } of path.segments) {
    if (thread === 0) continue;
    const x = Math.min(width - 1, Math.floor(((startNs - path.startNs) / path.ns) * width));
    if (last !== 0 && thread !== last) found[x] = (found[x] ?? 0) + 1;
    last = thread;
  }
  return found;
}
