/** The instructions of the selected procedure's hottest lines with the cost of each, around the hottest one. */
import {
  codeProcedures,
  disassemblyOf,
  type Disassembly,
  type InstructionRow,
  type Model,
} from '../../../ts-frontend/src/model/index.js';
import {
  addressText,
  instructionText,
  loopsText,
  noInstructionsText,
} from '../../../ts-frontend/src/render/views/disassembly.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { percent } from '../../../ts-frontend/src/render/format/units.js';
import { Canvas, Colour, wrap } from '../draw/canvas.js';
import { time } from '../draw/format.js';
import type { Glyphs } from '../draw/glyphs.js';
import { selectedEntity } from '../state/state.js';
import type { Scene, Size, State } from '../state/types.js';
import { firstLine } from './source.js';

interface Column {
  head: string;
  width: number;
  from: number; // the least screen width at which the column is shown
  right: boolean;
  text: (row: InstructionRow, model: Model) => string;
}
const part = (ns: number, model: Model): string => (ns > 0 ? percent(ns, model.elapsedNs) : '');
const columns: readonly Column[] = [
  { head: 'self', width: 7, from: 0, right: true, text: ({ nptNs }, model) => part(nptNs, model) },
  { head: 'time', width: 8, from: 70, right: true, text: ({ ns }) => (ns > 0 ? time(ns) : '') },
  { head: 'spin', width: 8, from: 110, right: true, text: ({ spinNs }) => (spinNs > 0 ? time(spinNs) : '') },
  { head: 'line', width: 6, from: 50, right: true, text: ({ line }) => (line > 0 ? String(line) : '') },
  { head: 'in loops', width: 14, from: 80, right: false, text: (row, model) => loopsText(model, row) },
  { head: 'address', width: 9, from: 60, right: true, text: ({ address }, model) => addressText(model, address) },
];

const known = new WeakMap<Model, Map<number, Disassembly | null>>();

/**
 * The disassembly of the procedure with most time that contains code of the entity; null: its code has not been read.
 */
function shown(scene: Scene, id: number): Disassembly | null {
  const [procedure] = codeProcedures(scene.model, id);
  const { code } = scene.live;
  if (procedure === undefined || code?.procedure !== procedure) return null;
  let made = known.get(scene.model);
  if (made === undefined) known.set(scene.model, (made = new Map<number, Disassembly | null>()));
  let its = made.get(procedure);
  if (its === undefined) made.set(procedure, (its = disassemblyOf(scene.model, procedure, code.pieces)));
  return its;
}

export function disassembly(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const entity = model.entities[selectedEntity(state, scene)];
  if (entity === undefined) return canvas;
  const why = (text: string): Canvas => {
    wrap(text, size.width).forEach((line, y) => {
      canvas.text(0, y + 2, line, { fg: Colour.yellow });
    });
    return canvas;
  };
  canvas.text(0, 0, shortName(model, entity.name, size.width >> 1, glyphs), { bold: true });
  const none = noInstructionsText(model);
  if (none !== null) return why(none);
  const its = shown(scene, entity.id);
  if (its === null) return why('no sample found a thread at an instruction of this');
  const name = shortName(model, model.entities[its.procedure]?.name ?? '?', size.width >> 1, glyphs);
  const said = `${name}: ${percent(its.cost.nptNs, model.elapsedNs)} at its own instructions; a: source`;
  canvas.fill(0, 0, size.width, 1);
  canvas.text(0, 0, said, { bold: true });
  if (its.rows.length === 0) return why(its.errors[0] ?? 'no instruction here costs enough to be shown');
  drawRows(canvas, model, its, state, glyphs);
  return canvas;
}

function drawRows(canvas: Canvas, model: Model, its: Disassembly, state: State, glyphs: Glyphs): void {
  const list = columns.filter(({ from }) => canvas.width >= from);
  let x = 1;
  for (const { head, width, right } of list) {
    if (right) canvas.textRight(x, 1, width, head, { fg: Colour.grey });
    else canvas.text(x, 1, head, { fg: Colour.grey }, width);
    x += width + 1;
  }
  canvas.text(x, 1, 'instruction', { fg: Colour.grey });
  const height = canvas.height - 2;
  const first = firstRow(its, state, height);
  its.rows.slice(first, first + height).forEach((row, at) => {
    const y = at + 2;
    const style = row.hottest ? { bold: true } : {};
    canvas.put(0, y, row.hottest ? '>' : row.gap ? glyphs.cut : ' ', style);
    let left = 1;
    list.forEach(({ width, right, text }, k) => {
      const its = text(row, model);
      if (right) canvas.textRight(left, y, width, its, k === 0 ? { bold: true } : {});
      else canvas.text(left, y, its, { fg: Colour.grey }, width);
      left += width + 1;
    });
    canvas.text(left, y, instructionText(row), style);
  });
}

const firstRow = ({ rows }: Disassembly, state: State, height: number): number =>
  firstLine(rows.findIndex(({ hottest }) => hottest) + 1, state.sourceScroll, rows.length, height);

/** The state with a scroll position that is valid for this size. */
export function settledDisassembly(scene: Scene, size: Size, state: State): State {
  const its = shown(scene, selectedEntity(state, scene));
  if (its === null || state.sourceScroll === 0) return state;
  const height = size.height - 2;
  const at = (sourceScroll: number): number => firstRow(its, { ...state, sourceScroll }, height);
  const sourceScroll = Math.max(at(-1e9) - at(0), Math.min(at(1e9) - at(0), state.sourceScroll));
  return { ...state, sourceScroll };
}
