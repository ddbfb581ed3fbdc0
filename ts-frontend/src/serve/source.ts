/**
 * Reads the profile that the sampler is writing, and its successors. The stretch of time between two reads is a profile
 * of its own; if the recording continued in another file, there is one per file.
 */
import { difference, type RawProfile } from '../model/index.js';

/** Reads the current contents of the profile; null if it cannot be read (yet). Does not throw. */
export type Read = (file: string, after: RawProfile | null) => RawProfile | null;

/** A point in the recording; later reads are relative to it. `ended`: stretches of files that have ended since. */
export interface Mark {
  from: RawProfile | null; // null: the beginning of the file
  ended: Stretch[];
}
interface Stretch {
  raw: RawProfile;
  beganNs: number; // CLOCK_REALTIME
}

export class Source {
  #file: string | null = null;
  #last: RawProfile | null = null;
  readonly #marks = new Set<Mark>();

  constructor(readonly read: Read) {}

  get file(): string | null {
    return this.#file;
  }

  /**
   * To be called when the sampler begins another file, or renames the current one: reads the previous file to its end.
   */
  follow(file: string): void {
    const last = this.newest();
    if (last !== null && isSame(last, this.read(file, null))) {
      this.#file = file;
      return;
    }
    if (this.#file !== null) {
      for (const mark of this.#marks) {
        if (last !== null) mark.ended.push(stretch(mark, last));
        mark.from = null;
      }
    }
    this.#file = file;
    this.#last = null;
  }

  /** The current state of the recording; null if nothing has been read. */
  newest(): RawProfile | null {
    const raw = this.#file === null ? null : this.read(this.#file, this.#last);
    // the program has executed another one, which is recorded into the same file, or the finished file is about to
    // replace it
    if (raw !== null && raw.head.snapshots > 0) this.#last = raw;
    return this.#last;
  }

  /** The current point; `beginning`: the beginning of the recording. */
  mark(beginning = false): Mark {
    const mark: Mark = { from: beginning ? null : this.newest(), ended: [] };
    this.#marks.add(mark);
    return mark;
  }

  /** The stretches since the mark, in order of time. Moves the mark to the current point. */
  since(mark: Mark): Stretch[] {
    const now = this.newest();
    const stretches = now === null ? mark.ended : [...mark.ended, stretch(mark, now)];
    mark.ended = [];
    mark.from = now;
    return stretches.filter(({ raw }) => raw.head.elapsedNs > 0);
  }

  drop(mark: Mark): void {
    this.#marks.delete(mark);
  }
}

const isSame = (one: RawProfile, other: RawProfile | null): boolean =>
  one.head.pid === other?.head.pid && one.head.firstNs === other.head.firstNs;

function stretch({ from }: Mark, to: RawProfile): Stretch {
  const { startedRealtimeNs } = to.head;
  return from !== null && isSame(from, to)
    ? { raw: difference(to, from), beganNs: startedRealtimeNs + from.head.elapsedNs }
    : { raw: to, beganNs: startedRealtimeNs };
}
