/**
 * The costs of a procedure's instructions (docs/reference/loops.md, "Instructions"): the instructions at which samples
 * found threads, joined with the code from the binary, which the caller reads. Pure.
 */
import { f64, item, u32 } from '../profile/columns.js';
import { procedureOf } from '../profile/code-scopes.js';
import type { Model } from '../result/types.js';

export interface CodeLoop {
  address: number; // address of its first instruction
  file: string; // '': not known
  line: number;
}
export interface CodeInstruction {
  address: number;
  text: string;
  file: string; // '': not known
  line: number;
  loops: CodeLoop[]; // innermost first
  polls: boolean; // its innermost loop does nothing but poll memory
}
/** The code of a symbol; error: why there is none, as a clause. */
export interface CodePiece {
  start: number;
  error: string;
  instructions: CodeInstruction[];
}

export interface InstructionCost {
  nptNs: number; // normalized processor time (self)
  ns: number; // processor time at work
  spinNs: number; // processor time busy waiting
  samples: number;
}
export interface InstructionRow extends CodeInstruction, InstructionCost {
  hottest: boolean; // no instruction of the procedure has more
  gap: boolean; // instructions before it are left out
}
export interface Disassembly {
  procedure: number; // entity
  cost: InstructionCost; // sum over all its instructions
  errors: string[]; // reasons why the code of pieces of it is missing
  rows: InstructionRow[];
}

/** The first profile format with instructions. */
const firstVersion = 20;
/**
 * Whether a profile has the costs of instructions; `older`: it was recorded by an older Quartz; `none`: there were no
 * samples.
 */
export function instructionsIn(model: Model): 'there' | 'older' | 'none' {
  if (model.raw.instructions.address.length > 0) return 'there';
  return model.raw.head.version < firstVersion ? 'older' : 'none';
}

const noCost = (): InstructionCost => ({ nptNs: 0, ns: 0, spinNs: 0, samples: 0 });
function addCost(to: InstructionCost, its: InstructionCost): void {
  to.nptNs += its.nptNs;
  to.ns += its.ns;
  to.spinNs += its.spinNs;
  to.samples += its.samples;
}
const timeOf = ({ ns, spinNs }: InstructionCost): number => ns + spinNs;

/** Costs by address, for the instructions of a procedure. */
export function sampledIn(model: Model, procedure: number): Map<number, InstructionCost> {
  const rows = model.raw.instructions;
  const found = new Map<number, InstructionCost>();
  rows.procedure.forEach((its, k) => {
    if (its !== procedure || f64(rows.count, k) <= 0) return;
    const cost = { nptNs: f64(rows.nptPs, k) / 1000, ns: f64(rows.ns, k), spinNs: f64(rows.spinNs, k) };
    found.set(f64(rows.address, k), { ...cost, samples: f64(rows.count, k) });
  });
  return found;
}

/** The procedure whose code contains the entity; 0: there is none. */
function codeOf(model: Model, id: number): number {
  const { entities } = model.raw;
  const procedure = id > 0 && id < entities.length ? procedureOf(model.raw, id) : 0;
  const its = entities[procedure];
  if (its?.kind !== 'procedure') return 0;
  return its.record !== 0 && its.address === 0 ? its.record : procedure;
}

/** Procedures that contain code of the entity (of a group: of its members), longest time first. */
export function codeProcedures(model: Model, id: number): number[] {
  const { members } = item(model.entities, id);
  return withTime(model, members.length > 0 ? members : [id]);
}
/** Procedures that contain code of a source file, including inlined code. */
export function proceduresOfFile(model: Model, file: string): number[] {
  const ids: number[] = [];
  model.raw.entities.forEach((its, id) => {
    if (its.file === file && (its.kind === 'code-line' || its.kind === 'procedure')) ids.push(id);
  });
  return withTime(model, ids);
}
function withTime(model: Model, ids: readonly number[]): number[] {
  const wanted = new Set(ids.map((id) => codeOf(model, id)).filter((id) => id !== 0));
  const times = new Map<number, number>();
  const rows = model.raw.instructions;
  rows.procedure.forEach((_, k) => {
    const procedure = u32(rows.procedure, k);
    const time = f64(rows.ns, k) + f64(rows.spinNs, k);
    if (wanted.has(procedure)) times.set(procedure, (times.get(procedure) ?? 0) + time);
  });
  return [...times]
    .filter(([, time]) => time > 0)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .map(([procedure]) => procedure);
}

/**
 * The maximum number of source lines shown, and the least share of the elapsed time for which a line or an instruction
 * is shown.
 */
const linesMost = 10;
const least = 0.002;
/** The number of instructions shown around an expensive one: of any line, and of the same line. */
const around = 2;
const aroundInLine = 8;

/** The instructions of a procedure's hottest lines with the cost of each; if `file` is given, only of its lines. */
export function disassemblyOf(
  model: Model,
  procedure: number,
  pieces: readonly CodePiece[],
  file: string | null = null,
): Disassembly {
  const costs = sampledIn(model, procedure);
  const cost = noCost();
  for (const one of costs.values()) addCost(cost, one);
  const hottest = [...costs].reduce<[number, number]>(
    (best, [address, its]) => (timeOf(its) > best[1] ? [address, timeOf(its)] : best),
    [-1, 0],
  )[0];
  const rows: InstructionRow[] = [];
  for (const { instructions } of pieces) {
    const all = instructions.map((its): InstructionRow => ({
      ...its,
      ...(costs.get(its.address) ?? noCost()),
      hottest: its.address === hottest,
      gap: false,
    }));
    const shown = shownOf(model, all, file);
    let before = -1;
    shown.forEach((on, k) => {
      const row = all[k];
      if (!on || row === undefined) return;
      rows.push({ ...row, gap: before >= 0 ? k > before + 1 : k > 0 });
      before = k;
    });
  }
  const errors = [...new Set(pieces.map(({ error }) => error).filter((error) => error !== ''))];
  return { procedure, cost, errors, rows };
}

const lineKey = ({ file, line }: CodeInstruction): string => `${file}:${line}`;

/** Which of the instructions are shown. */
function shownOf(model: Model, all: readonly InstructionRow[], file: string | null): boolean[] {
  const byLine = new Map<string, number>();
  for (const row of all)
    if (row.line > 0 && (file === null || row.file === file))
      byLine.set(lineKey(row), (byLine.get(lineKey(row)) ?? 0) + timeOf(row));
  const hot = new Set(
    [...byLine]
      .filter(([, time]) => time >= least * model.elapsedNs)
      .sort((a, b) => b[1] - a[1])
      .slice(0, linesMost)
      .map(([key]) => key),
  );
  const shown = all.map(() => false);
  all.forEach((row, k) => {
    if (timeOf(row) <= 0 || (file !== null && row.line > 0 && !hot.has(lineKey(row)))) return;
    const costly = timeOf(row) >= least * model.elapsedNs;
    for (let n = Math.max(0, k - aroundInLine); n <= Math.min(all.length - 1, k + aroundInLine); n++) {
      const other = item(all, n);
      const near = Math.abs(n - k) <= around && costly;
      if (near || (hot.has(lineKey(row)) && lineKey(other) === lineKey(row))) shown[n] = true;
    }
  });
  return shown;
}
