/** Whether fewer snapshots were taken than the rate asks for, and why. Pure. */
import type { RawProfile } from '../profile/raw-profile.js';
import type { FewerSnapshots } from '../result/types.js';

/**
 * The least share of the snapshots due that counts as complete: wake-up times vary, and the intervals hardly change.
 */
const enough = 0.9;

export function fewerSnapshots({ head, cpuLimits }: Pick<RawProfile, 'head' | 'cpuLimits'>): FewerSnapshots | null {
  const due = (head.rateHz * head.elapsedNs) / 1e9,
    tried = head.snapshots + head.skippedTicks;
  if (head.snapshots === 0 || due < 2 || head.snapshots >= enough * due) return null;
  // Intervals were lengthened if snapshots took long; otherwise snapshots were missed.
  const reason = tried < enough * due ? 'cost' : 'late';
  const realtime = cpuLimits.outranked[0] === 1 ? 0 : (cpuLimits.realtime[0] ?? 0);
  return { askedHz: head.rateHz, reason, eachNs: head.samplerCpuNs / head.snapshots, realtime };
}
