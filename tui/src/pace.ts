/** When the screen reads and draws next, so that its own use of the CPU stays small. No clock in here. */

/** At most this share of one CPU goes into reading and drawing, */
const ownShare = 0.02;
/** and, with the start (Node.js, the screen, the first look at the profile), this one of the first 30 s. */
const firstShare = 0.03;
const firstMs = 30_000;
const longestMs = 15_000;

export class Pace {
  #used = 0;
  #first: { ms: number; used: number } | undefined;
  constructor(readonly refreshMs: number) {}

  /**
   * After a refresh: the time until the next. `nowMs` since the process began; `usedMs` its CPU time, without what the
   * user's keys cost. What was used since the last refresh is spread over the time until the next; the first one tells
   * nothing of those to come.
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
    // Where each refresh costs more than the one before: until the mean, the next one included, is as it should be.
    const behind = (usedMs - this.#first.used + cost) / ownShare - (nowMs - this.#first.ms);
    return Math.min(longestMs, Math.max(this.refreshMs, cost / share, behind));
  }
}
