/**
 * The whole program's times according to samples of running threads and to the kernel's count of processor time; needed
 * for confidence intervals. Formula and justification: docs/reference/metrics.md, section 6. Pure.
 */
import { accountPart } from '../profile/abi.js';
import { f64 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Sampled } from './confidence.js';
import type { Tables } from './tables.js';

export type SampledTime = Pick<Sampled, 'wholeTime' | 'wholeNpt' | 'samples' | 'unsampled' | 'tolerance'>;

/** null: there are no samples, or no count by the kernel. */
export function sampledTimeOf(raw: RawProfile, { sums }: Pick<Tables, 'sums'>): SampledTime | null {
  const { head, threads } = raw,
    samples = head.cpuUseSamples,
    wholeTime = f64(sums.time, 0);
  if (head.publisher !== 'pthread' || !head.paths.running || samples === 0 || head.cpuRunNs === 0 || wholeTime === 0)
    return null;
  const interval = wholeTime / samples;
  let unsampled = 0;
  for (const { entity } of threads) {
    const instances = Math.max(1, raw.entities[entity]?.instances ?? 1);
    unsampled += Math.min(f64(sums.time, entity), instances * interval);
  }
  // the whole deviates by at most a part of it, or by the time that one snapshot represents on each CPU
  const tolerance = Math.max(wholeTime * accountPart, (head.processors * head.elapsedNs) / Math.max(1, head.snapshots));
  return { wholeTime, wholeNpt: f64(sums.npt, 0), samples, unsampled, tolerance };
}
