/** Compares two runs: new over old, row by row, and changes beyond noise. */
import type { RowResult, Results } from './result.js';
import { geometricMean, independentRatio, type Estimate } from './statistics.js';

export interface Change {
  row: RowResult;
  contender: string;
  peer: boolean;
  ratio: Estimate; // new over old
  verdict: 'slower' | 'faster' | 'no change';
}

/** A smaller change is not marked, however certain it is. */
const least = 0.02;

export function compare(now: Results, then: Results): Change[] {
  const changes: Change[] = [];
  for (const row of now.rows) {
    const old = then.rows.find((one) => one.id === row.id);
    if (!old || old.unit !== row.unit) continue;
    for (const contender of row.contenders) {
      const before = old.contenders.find((one) => one.name === contender.name);
      if (!before || !('samples' in contender) || !('samples' in before)) continue;
      // differences near nothing have no ratio
      if ([...contender.samples, ...before.samples].some((value) => value <= 0)) continue;
      const ratio = independentRatio(contender.samples, before.samples);
      const sure = ratio.low > 1 || ratio.high < 1;
      const verdict = !sure || Math.abs(ratio.value - 1) < least ? 'no change' : ratio.value > 1 ? 'slower' : 'faster';
      changes.push({ row, contender: contender.name, peer: contender.peer, ratio, verdict });
    }
  }
  return changes;
}

/**
 * How much the peers alone changed: they are the same programs, so this is the machine's change. 1 if none were
 * measured in both.
 */
export function drift(changes: readonly Change[]): number {
  const peers = changes.filter((one) => one.peer).map((one) => one.ratio.value);
  return peers.length > 0 ? geometricMean(peers) : 1;
}
