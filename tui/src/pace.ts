/** Determines when the screen reads and draws next, so that its own CPU usage stays small. It reads no clock itself. */

/** The maximum share of one CPU for reading and drawing. */
const ownShare = 0.02;
/**
 * The maximum share of one CPU in the first 30 s, including the start (Node.js, the screen, the first read of the
 * profile).
 */
const firstShare = 0.03;
const firstMs = 30_000;
const longestMs = 15_000;

export class Pace {
  #used = 0;
  #first: { ms: number; used: number } | undefined;
  constructor(readonly refreshMs: number) {}

  /**
   * The time until the next refresh in ms, to be called after a refresh. `nowMs`: time since the process began;
   * `usedMs`: its CPU time, without the cost of the user's keys. The cost since the last refresh is spread over the
   * time until the next one; the first refresh is not representative of later ones.
   */
  next(nowMs: number, usedMs: number): number {
    const cost = usedMs - this.#used;
    this.#used = usedMs;
    if (!this.#first) {
      this.#first = { ms: nowMs, used: usedMs };
      return this.refreshMs;
    }
    const left = firstMs - nowMs;
    const share =
      left > 0 ? Math.min(ownShare, Math.max(ownShare / 2, (firstShare * firstMs - usedMs) / left)) : ownShare;
    // If each refresh costs more than the one before, wait until the mean, including the next refresh, is within the
    // limit.
    const behind = (usedMs - this.#first.used + cost) / ownShare - (nowMs - this.#first.ms);
    return Math.min(longestMs, Math.max(this.refreshMs, cost / share, behind));
  }
}
