/** Instructions of a procedure with the cost of each, as text and JSON (docs/reference/loops.md, "Instructions"). */
import {
  baseName,
  instructionsIn,
  item,
  type Disassembly,
  type InstructionRow,
  type Model,
} from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { clean, wrap } from '../format/text.js';
import { percent, time } from '../format/units.js';
import { heading } from '../parts/head.js';
import { table, type Column } from '../parts/table.js';
import { label, place } from '../wording/names.js';

/** Why there are no instructions to show; null if there are. */
export function noInstructionsText(model: Model): string | null {
  const state = instructionsIn(model);
  if (state === 'there') return null;
  return state === 'older'
    ? 'this profile was recorded by an older Quartz and has no instructions; record it again'
    : 'this profile has no instructions: they are recorded only if the kernel provides samples';
}

/** An address in the binary rather than in the process, as other tools print it. */
export function addressText(model: Model, address: number): string {
  const module = model.raw.modules.find(({ start, end }) => address >= start && address < end);
  return (address - (module?.bias ?? 0)).toString(16);
}
/** Source lines of the loops that contain the instruction, innermost first. */
export const loopsText = (model: Model, { loops }: InstructionRow): string =>
  loops.map(({ line, address }) => (line > 0 ? String(line) : `+${addressText(model, address)}`)).join(' in ');
export const instructionText = (row: InstructionRow): string => (row.polls ? `(polls) ${row.text}` : row.text);

export function disassemblyReport(model: Model, code: Disassembly, options: RenderOptions): string {
  const procedure = item(model.entities, code.procedure);
  const ns = (value: number): string => (value > 0 ? time(value, options) : '');
  const columns: Column<InstructionRow>[] = [
    { head: 'NPT', text: ({ nptNs }) => ns(nptNs) },
    { head: 'share', text: ({ nptNs }) => (nptNs > 0 ? percent(nptNs, model.elapsedNs) : ''), tone: 'strong' },
    { head: 'proc.time', text: (row) => ns(row.ns), drop: 4 },
    { head: 'spin', text: ({ spinNs }) => ns(spinNs), drop: 3 },
    { head: 'line', text: (row) => (row.line > 0 ? String(row.line) : '') },
    { head: 'in loops', text: (row) => loopsText(model, row), align: 'left', drop: 2 },
    { head: 'address', text: (row) => `${row.hottest ? '>' : ''}${addressText(model, row.address)}` },
    { head: 'instruction', text: (row) => clean(instructionText(row), options), align: 'left', name: true },
  ];
  const { cost } = code;
  const where = place(model, procedure, options);
  const said = [
    `${label(procedure, options)}${where === '' ? '' : ` (${where})`}: ${time(cost.nptNs, options)} of ` +
      `${time(model.elapsedNs, options)} (${percent(cost.nptNs, model.elapsedNs)}) at instructions of its own` +
      `${cost.spinNs > 0 ? `, and ${time(cost.spinNs, options)} busy waiting` : ''}.`,
    ...code.errors.map((error) => `Not all instructions are shown: ${error}.`),
    ...(code.rows.length === 0 && code.errors.length === 0 ? ['No instruction here costs enough to be shown.'] : []),
  ];
  return [
    ...heading('Instructions', options),
    '',
    ...said.flatMap((sentence) => wrap(sentence, options.width, 2, options)),
    ...(code.rows.length > 0 ? ['', ...table(code.rows, columns, options)] : []),
    '',
  ].join('\n');
}

/** The value of `instructions` in the JSON of a source file. */
export const disassemblyJson = (model: Model, { procedure, cost, errors, rows }: Disassembly): object => ({
  procedure: item(model.entities, procedure).name,
  ...cost,
  errors,
  rows: rows.map(({ address, text, file, line, loops, polls, nptNs, ns, spinNs, samples }) => ({
    address: addressText(model, address),
    text,
    file: file === '' ? null : file,
    line: line > 0 ? line : null,
    loops: loops.map((loop) =>
      loop.line > 0 ? `${baseName(loop.file)}:${loop.line}` : addressText(model, loop.address),
    ),
    polls,
    nptNs,
    ns,
    spinNs,
    samples,
  })),
});
