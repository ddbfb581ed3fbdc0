/**
 * Earlier reads of the profile, so that a window, an earlier moment or a comparison can be shown. Their number is
 * limited: if there are too many, every second one of the older half is dropped, so that the recent past has a finer
 * resolution than the distant past.
 */
import type { RawProfile } from '../../../ts-frontend/src/model/index.js';

export class History {
  readonly #kept: RawProfile[] = [];
  constructor(readonly limit = 64) {}

  add(raw: RawProfile): void {
    const last = this.#kept[this.#kept.length - 1];
    if (last !== undefined && raw.head.elapsedNs <= last.head.elapsedNs) this.#kept.pop();
    this.#kept.push(raw);
    if (this.#kept.length <= this.limit) return;
    const old = this.#kept.length >> 1;
    const thinned = this.#kept.filter((_, index) => index === 0 || index >= old || index % 2 === 1);
    this.#kept.splice(0, this.#kept.length, ...thinned);
  }
  moments(): number[] {
    return this.#kept.map((raw) => raw.head.elapsedNs);
  }
  newest(): RawProfile | null {
    return this.#kept[this.#kept.length - 1] ?? null;
  }
  /** The last profile at or before that elapsed time, or else the first one after it. */
  at(elapsedNs: number): RawProfile | null {
    let found: RawProfile | null = null;
    for (const raw of this.#kept) if (found === null || raw.head.elapsedNs <= elapsedNs) found = raw;
    return found;
  }
  /** The profile at the beginning of a window of `ns` that ends at `end`; null means the start of the run. */
  before(end: RawProfile, ns: number): RawProfile | null {
    const begin = end.head.elapsedNs - ns;
    let found: RawProfile | null = null;
    for (const raw of this.#kept) if (raw.head.elapsedNs <= begin) found = raw;
    return found;
  }
}
