/**
 * Results of earlier runs, for peers that are not available: bench/data/recorded.json, written by --record, kept with
 * the sources. A ratio belongs to a date and a machine; both are reported with it. A figure is that of a peer alone, if
 * no ratio was ever measured.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../ts-frontend/src/cli/failure.js';
import { machineLine } from './machine.js';
import { pathPeers, root } from './peers.js';
import type { Results } from './result.js';
import { pairedRatio } from './statistics.js';

export interface Ratio {
  row: string;
  ours: string;
  against: string;
  ratio: number;
  low: number;
  high: number;
}
export interface Figure {
  row: string;
  against: string;
  value: number;
}
export interface Run<What> {
  date: string;
  machine: string;
  entries: What[];
}
export interface Recorded {
  ratios: Run<Ratio>[];
  figures: Run<Figure>[];
}

const file = join(root, 'bench/data/recorded.json');

export function readRecorded(): Recorded {
  if (!existsSync(file)) return { ratios: [], figures: [] };
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
  } catch {
    throw new Failure('bench/data/recorded.json is not JSON', 'get it from version control again');
  }
}

/** The entries that match, each with the date of its run. */
export const found = <What>(runs: readonly Run<What>[], fits: (entry: What) => boolean): (What & { date: string })[] =>
  runs.flatMap((run) => run.entries.filter(fits).map((entry) => ({ ...entry, date: run.date })));

const short = (value: number): number => Number(value.toPrecision(3));

/** The ratios of this run for peers that others may not have. */
function ratiosOf(results: Results): Ratio[] {
  return results.rows.flatMap((row) =>
    row.contenders.flatMap((peer) => {
      if (!('samples' in peer) || !pathPeers.some((one) => one === peer.name)) return [];
      return row.contenders.flatMap((ours): Ratio[] => {
        if (!('samples' in ours) || ours.peer) return [];
        const { value, low, high } = pairedRatio(ours.samples, peer.samples);
        return [
          { row: row.id, ours: ours.name, against: peer.name, ratio: short(value), low: short(low), high: short(high) },
        ];
      });
    }),
  );
}

const text = <What>(runs: readonly Run<What>[]): string =>
  runs
    .map(
      (run) =>
        `    { "date": ${JSON.stringify(run.date)}, "machine": ${JSON.stringify(run.machine)}, "entries": ` +
        `[\n${run.entries.map((one) => `      ${JSON.stringify(one)}`).join(',\n')}\n    ] }`,
    )
    .join(',\n');

/** Keeps the ratios of this run, and replaces older ones for the same peers. */
export function record(results: Results): number {
  const fresh = ratiosOf(results);
  const key = (one: Ratio): string => `${one.row} ${one.ours} ${one.against}`;
  const keys = new Set(fresh.map(key));
  const old = readRecorded();
  const kept = old.ratios
    .map((run) => ({ ...run, entries: run.entries.filter((one) => !keys.has(key(one))) }))
    .filter((run) => run.entries.length > 0);
  const runs = [...kept, { date: results.date.slice(0, 10), machine: machineLine(results.machine), entries: fresh }];
  writeFileSync(file, `{\n  "ratios": [\n${text(runs)}\n  ],\n  "figures": [\n${text(old.figures)}\n  ]\n}\n`);
  return fresh.length;
}
