/** What the user has chosen (State), what there is to show (Scene), and what a key asks for (Action). */
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
] as const;
export type Tab = (typeof tabs)[number];
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
  /** Keys of rows that are open where they would be folded, or folded where they would be open. */
  turned: readonly string[];
  /** Key of the selected row; '': the first. */
  selected: string;
}
export interface PathTabState {
  /** The list in which a row is selected. */
  list: 'stretches' | 'places';
  /** A moment in the selected stretch, ns; null: the newest. */
  stretch: number | null;
  /** Key of the selected place; '': the first. */
  place: string;
}
export interface State {
  tab: Tab;
  from: Tab; // where the source tab was come to from: whose selected row it shows
  tables: Record<TableTab, TableState>;
  inclusive: boolean;
  filter: string;
  editing: string | null; // text of the filter while it is typed
  focus: number[]; // entities gone into, outermost first
  focusIndex: number; // selected row of the innermost one's children
  bottleOf: BottleOf;
  windowNs: number | null; // null: all since the start (or the last reset)
  frozen: number | null; // moment shown, ns since the first snapshot; null: now
  mark: number | null; // moment compared with
  zoom: boolean; // the selected entity fills the screen
  scroll: number; // the first line of the findings that is shown
  finding: number; // which finding that is
  contexts: ContextsState;
  timePath: PathTabState;
  sourceScroll: number;
  disassembly: boolean; // the source tab shows instructions
  help: number; // page that is shown, 0 = none
  message: string;
}
export interface Scene {
  model: Model;
  /** The same span at the marked moment, or null. */
  compare: Model | null;
  live: Live;
}
/** What the screen knows beside the model. */
export interface Live {
  ended: string | null; // why the program or the recording ended; null: goes on
  finished: boolean; // a finished file, not a recording
  nowNs: number; // time since the first snapshot
  shownNs: number; // the moment shown
  costShare: number; // Quartz's own: sampler's CPU time / elapsed
  processors: ProcessorNow[];
  history: number[]; // moments that can be shown, ns, oldest first
  source: { file: string; lines: string[] } | { file: string; error: string } | null;
  code: { procedure: number; sampled: number; pieces: CodePiece[] } | null; // of the procedure shown last
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
