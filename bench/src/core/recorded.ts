/**
 * Ratios of earlier runs, for peers that are not here: bench/recorded.json, written by --record, kept with the sources.
 * A recorded ratio is of its own machine and date; both are shown beside it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../ts-frontend/src/cli/failure.js';
import { machineLine } from './machine.js';
import { pathPeers, root } from './peers.js';
import type { Results } from './result.js';
import { pairedRatio } from './statistics.js';

export interface Ratio { row: string; ours: string; against: string; ratio: number; low: number; high: number; date: string }
export interface Recorded { machine: string; ratios: Ratio[] }

const file = join(root, 'bench/recorded.json');

export function readRecorded(): Recorded {
  if (!existsSync(file)) return { machine: '', ratios: [] };
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
  } catch {
    throw new Failure('bench/recorded.json is not JSON', 'get it from version control again');
  }
}

const short = (value: number): number => Number(value.toPrecision(3));

/** The ratios of this run against the peers that others may not have. */
export function ratiosOf(results: Results): Ratio[] {
  return results.rows.flatMap((row) => row.contenders.flatMap((peer) => {
    if (!('samples' in peer) || !pathPeers.some((one) => one === peer.name)) return [];
    return row.contenders.flatMap((ours): Ratio[] => {
      if (!('samples' in ours) || ours.peer) return [];
      const { value, low, high } = pairedRatio(ours.samples, peer.samples);
      return [{ row: row.id, ours: ours.name, against: peer.name, ratio: short(value), low: short(low), high: short(high), date: results.date.slice(0, 10) }];
    });
  }));
}

/** Puts the ratios of this run in the place of those of the same rows. */
export function record(results: Results): number {
  const fresh = ratiosOf(results);
  const key = (one: Ratio): string => `${one.row} ${one.ours} ${one.against}`;
  const keys = new Set(fresh.map(key));
  const kept = readRecorded().ratios.filter((one) => !keys.has(key(one)));
  const lines = [...kept, ...fresh].map((one) => `    ${JSON.stringify(one)}`);
  writeFileSync(file, `{\n  "machine": ${JSON.stringify(machineLine(results.machine))},\n  "ratios": [\n${lines.join(',\n')}\n  ]\n}\n`);
  return fresh.length;
}
