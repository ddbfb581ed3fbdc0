/** The user's choices (State), the data to show (Scene), and the requests of keys (Action). */
import type { CodePiece, CostName, Model, ViewName } from '../../../ts-frontend/src/model/index.js';

export const tabs = [
  'overview',
  'procedures',
  'locks',
  'threads',
  'objects',
  'bottle',
  'tree',
  'source',
  'path',
  'flame',
] as const;
export type Tab = (typeof tabs)[number];
/** The number that a tab has on the screen, which is also its key: 1 to 9, then 0. */
export const tabKey = (index: number): string => String((index + 1) % 10);
export type TableTab = 'procedures' | 'locks' | 'threads' | 'objects';
export type BottleOf = 'threads' | 'procedures' | 'locks';

export interface TableState {
  sort: string;
  ascending: boolean;
  selected: number;
  index: number;
}
export interface ContextsState {
  view: ViewName;
  sort: CostName;
  /** Keys of rows that are open instead of folded, or folded instead of open, contrary to the default. */
  turned: readonly string[];
  /** Key of the selected row; '': the first row. */
  selected: string;
}
export interface FlameState {
  /** The entity of which all contexts are shown as one; 0: the whole program. */
  of: number;
  /** Entities from there to the context that fills the width, and to the selected one. */
  top: readonly number[];
  selected: readonly number[];
}
export interface PathTabState {
  /** The list in which a row is selected. */
  list: 'stretches' | 'places';
  /** A moment within the selected stretch, in ns; null: the newest stretch. */
  stretch: number | null;
  /** Key of the selected place; '': the first one. */
  place: string;
}
export interface State {
  tab: Tab;
  from: Tab; // the tab from which the source tab was opened: the source tab shows the entity that is selected there
  tables: Record<TableTab, TableState>;
  inclusive: boolean;
  filter: string;
  editing: string | null; // text of the filter while the user types it
  focus: number[]; // entities whose children are shown, outermost first
  focusIndex: number; // index of the selected row among the children of the innermost one
  bottleOf: BottleOf;
  windowNs: number | null; // null: everything since the start (or the last reset)
  refreshSeconds: number | null; // until the next refresh, if that is far away; null: it is not
  frozen: number | null; // the moment shown, in ns since the first snapshot; null: now
  mark: number | null; // the moment to compare with
  zoom: boolean; // whether the selected entity fills the screen
  scroll: number; // index of the first line of the findings that is shown
  finding: number; // index of the finding that contains this line
  contexts: ContextsState;
  timePath: PathTabState;
  flame: FlameState;
  sourceScroll: number;
  disassembly: boolean; // whether the source tab shows instructions
  help: number; // number of the help page that is shown, 0 = none
  message: string;
}
export interface Scene {
  model: Model;
  /** The same time span at the marked moment, or null. */
  compare: Model | null;
  live: Live;
}
/** What the screen shows in addition to the model. */
export interface Live {
  ended: string | null; // why the program or the recording ended; null: it continues
  finished: boolean; // whether the profile is a finished file, not a recording in progress
  nowNs: number; // time since the first snapshot
  shownNs: number; // the moment shown
  costShare: number; // cost of Quartz itself: the sampler's CPU time / elapsed time
  processors: ProcessorNow[];
  history: number[]; // moments that can be shown, in ns, oldest first
  source: { file: string; lines: string[] } | { file: string; error: string } | null;
  code: { procedure: number; sampled: number; pieces: CodePiece[] } | null; // code of the procedure that was shown last
}
export interface ProcessorNow {
  usefulNs: number;
  overheadNs: number;
  spinningNs: number;
  idleNs: number;
}

export type Action =
  | { type: 'tab'; tab: Tab }
  | { type: 'next-tab'; by: number }
  | { type: 'move'; by: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'enter' }
  | { type: 'back' }
  | { type: 'sort'; by: number }
  | { type: 'reverse' }
  | { type: 'self' }
  | { type: 'freeze' }
  | { type: 'step'; by: number }
  | { type: 'mark' }
  | { type: 'window' }
  | { type: 'reset' }
  | { type: 'help'; pages?: number }
  | { type: 'escape' }
  | { type: 'filter' }
  | { type: 'filter-text'; text: string }
  | { type: 'filter-done' }
  | { type: 'select-row'; index: number }
  | { type: 'select-bar'; path: readonly number[] }
  | { type: 'sort-column'; column: string }
  | { type: 'message'; text: string }
  | { type: 'bottle' }
  | { type: 'disassembly' }
  | { type: 'view' }
  | { type: 'zoom' };
export interface Size {
  width: number;
  height: number;
}
