/** The user's choices on the map of ranks, and the effect of each key on them. Pure. */
import { item } from '../../../ts-frontend/src/model/index.js';
import { byRank, type HeatRow } from '../../../ts-frontend/src/sets/heat.js';
import type { LoadedSet } from '../../../ts-frontend/src/sets/views.js';

/** A set, and the measures in which its ranks differ. */
export interface RankScene {
  set: LoadedSet;
  rows: readonly HeatRow[];
  /** What limits the job most, a sentence; null: nothing stands out. */
  limit: string | null;
}

export interface RankState {
  row: number;
  /** Index into `members` of the selected rank. */
  place: number;
  /** The members shown, in the order of the columns from left to right. */
  members: readonly number[];
  /** The views before a column of several ranks was opened, outermost first: their members and the selected place. */
  outer: readonly { members: readonly number[]; place: number }[];
  /** The row by which ranks are sorted, largest value first; null: sorted by rank number. */
  sorted: number | null;
  help: boolean;
  message: string;
}

interface RankKey {
  keys: readonly string[];
  shown: string;
  does: string;
  /** `step`: number of ranks per column; `page`: number of rows that fit. */
  change?: (scene: RankScene, state: RankState, step: number, page: number) => RankState;
  effect?: 'quit' | 'redraw' | 'enter';
}

export const initialRanks = ({ set }: RankScene): RankState => ({
  row: 0,
  place: 0,
  members: byRank(set),
  outer: [],
  sorted: null,
  help: false,
  message: '',
});

const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));

export const moved = (
  { rows }: RankScene,
  state: RankState,
  { row, place }: Partial<Pick<RankState, 'row' | 'place'>>,
): RankState => ({
  ...state,
  row: within(row ?? state.row, rows.length),
  place: within(place ?? state.place, state.members.length),
});

/** The members in the requested order; the selected rank stays selected. */
function ordered({ set, rows }: RankScene, state: RankState, sorted: number | null): RankState {
  const selected = item(state.members, state.place);
  const shown = new Set(state.members);
  const all = byRank(set).filter((member) => shown.has(member));
  const values = sorted === null ? null : item(rows, sorted).values;
  const members = values === null ? all : all.sort((a, b) => item(values, b) - item(values, a));
  return { ...state, sorted, members, place: members.indexOf(selected) };
}

/** Shows only these ranks, with one of them selected. */
export const inside = (state: RankState, members: readonly number[], selected: number): RankState => ({
  ...state,
  outer: [...state.outer, { members: state.members, place: state.place }],
  members,
  place: Math.max(0, members.indexOf(selected)),
});

function outside(scene: RankScene, state: RankState): RankState {
  const before = state.outer.at(-1);
  if (before === undefined) return state;
  return ordered(scene, { ...state, ...before, outer: state.outer.slice(0, -1) }, state.sorted);
}

export const rankKeys: readonly RankKey[] = [
  {
    keys: ['left', 'h', '['],
    shown: 'Left h',
    does: 'the rank to the left',
    change: (scene, state, step) => moved(scene, state, { place: state.place - step }),
  },
  {
    keys: ['right', 'l', ']'],
    shown: 'Right l',
    does: 'the rank to the right',
    change: (scene, state, step) => moved(scene, state, { place: state.place + step }),
  },
  {
    keys: ['up', 'k'],
    shown: 'Up k',
    does: 'up a line',
    change: (scene, state) => moved(scene, state, { row: state.row - 1 }),
  },
  {
    keys: ['down', 'j'],
    shown: 'Down j',
    does: 'down a line',
    change: (scene, state) => moved(scene, state, { row: state.row + 1 }),
  },
  {
    keys: ['pageup', 'C-b'],
    shown: 'PgUp',
    does: 'up a page',
    change: (scene, state, _, page) => moved(scene, state, { row: state.row - page }),
  },
  {
    keys: ['pagedown', 'C-f'],
    shown: 'PgDn',
    does: 'down a page',
    change: (scene, state, _, page) => moved(scene, state, { row: state.row + page }),
  },
  {
    keys: ['g', 'home'],
    shown: 'g',
    does: 'the first rank shown',
    change: (scene, state) => moved(scene, state, { place: 0 }),
  },
  {
    keys: ['S-g', 'end'],
    shown: 'G',
    does: 'the last rank shown',
    change: (scene, state) => moved(scene, state, { place: state.members.length - 1 }),
  },
  {
    keys: ['enter'],
    shown: 'Enter',
    does: "the rank's own report, until q; where a column is several ranks, these alone",
    effect: 'enter',
  },
  { keys: ['backspace', 'escape'], shown: 'Esc', does: 'all ranks that were shown before', change: outside },
  {
    keys: ['s'],
    shown: 's',
    does: 'sort ranks by what they have of the selected line, most first; again: by number',
    change: (scene, state) => ordered(scene, state, state.sorted === state.row ? null : state.row),
  },
  { keys: ['?', 'f1'], shown: '?', does: 'this help', change: (_, state) => ({ ...state, help: !state.help }) },
  { keys: ['C-l'], shown: 'Ctrl-L', does: 'draw the screen anew', effect: 'redraw' },
  { keys: ['q', 'f10', 'C-c'], shown: 'q', does: 'quit', effect: 'quit' },
];

const byKey = new Map(rankKeys.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)));
export const rankKeyOf = (key: string): RankKey | undefined => byKey.get(key);
