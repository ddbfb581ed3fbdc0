/** A run's results as they are written and read: JSON as defined in bench/data/result.schema.json. */
import { accessSync, constants, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../ts-frontend/src/cli/failure.js';
import type { Machine } from './machine.js';
import type { Estimate } from './statistics.js';

export const format = 'quartz bench 1';

export type ContenderResult = { name: string; peer: boolean } & (
  { missing: string } | { failed: string } | (Estimate & { samples: number[]; beside?: Record<string, number> })
);

export type Verdict = 'met' | 'met within noise' | 'missed within noise' | 'missed' | 'not measured';

export interface TargetResult {
  ours: string;
  against?: string; // a contender; absent: the value itself is bounded
  best?: boolean; // `against` was the best of the peers
  most: number;
  ahead: boolean; // below `most`, not at it
  ratio?: Estimate; // absent: not measured
  verdict: Verdict;
}

export interface RowResult {
  id: string;
  bench: string;
  what: string;
  unit: string;
  contenders: ContenderResult[];
  targets: TargetResult[];
}

export interface Peer {
  name: string;
  version?: string;
  where?: string;
  missing?: string;
}

export interface Results {
  format: typeof format;
  date: string; // ISO 8601, when the run began
  quartz: string; // version, and commit where it is known
  seconds: number; // how long the run took so far
  rounds: number;
  machine: Machine;
  peers: Peer[];
  benches: { name: string; title: string; isolates: string; failed?: string }[];
  rows: RowResult[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether rows have what reading them needs; the schema says the rest. */
function sound(value: unknown): value is Results {
  if (
    !isRecord(value) ||
    value['format'] !== format ||
    typeof value['date'] !== 'string' ||
    !isRecord(value['machine'])
  )
    return false;
  const { rows, benches, peers } = value;
  if (!Array.isArray(rows) || !Array.isArray(benches) || !Array.isArray(peers)) return false;
  return rows.every(
    (row: unknown) =>
      isRecord(row) &&
      typeof row['id'] === 'string' &&
      typeof row['unit'] === 'string' &&
      Array.isArray(row['targets']) &&
      Array.isArray(row['contenders']) &&
      row['contenders'].every(
        (one: unknown) =>
          isRecord(one) &&
          typeof one['name'] === 'string' &&
          (one['samples'] === undefined
            ? typeof one['missing'] === 'string' || typeof one['failed'] === 'string'
            : Array.isArray(one['samples']) &&
              one['samples'].length > 0 &&
              one['samples'].every((sample) => Number.isFinite(sample))),
      ),
  );
}

/** Throws a Failure of one line if the file does not exist or does not contain a run's results. */
export function readResults(file: string): Results {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      'give a file that --output or --json wrote',
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Failure(`${file} is not JSON`, 'give a file that --output or --json wrote');
  }
  if (!sound(value))
    throw new Failure(`${file} is not a benchmark run of this version`, 'give a file that --output or --json wrote');
  return value;
}

const code = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** Throws a Failure of one line if results could not be written to the file: before an hour is spent on measuring. */
export function checkWritable(file: string): void {
  try {
    if (existsSync(file) && statSync(file).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
  } catch (error) {
    throw new Failure(
      `${file} cannot be written (${code(error)})`,
      'give --output a file in a directory where you may write',
    );
  }
}

/** Writes the results. If that fails, the file keeps its previous contents. */
export function writeResults(file: string, results: Results): void {
  const text = `${JSON.stringify(results, undefined, 1)}\n`;
  const whole = existsSync(file) && !statSync(file).isFile() ? file : `${file}.part`; // /dev/stdout is not replaced
  try {
    writeFileSync(whole, text);
    if (whole !== file) renameSync(whole, file);
  } catch (error) {
    if (whole !== file) rmSync(whole, { force: true, recursive: true });
    throw new Failure(`${file} cannot be written (${code(error)})`, 'make room, or give --output another file');
  }
}
