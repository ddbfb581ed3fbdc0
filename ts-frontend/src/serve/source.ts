/**
 * What the server reads: the profile that a sampler writes, or the one that follows it. Every stretch of time between
 * two looks is a profile of its own; where the recording went on in another file meanwhile, one for each.
 */
import { difference, type RawProfile } from '../model/index.js';

/** The profile of that name as it stands; null: it cannot be read (yet). Throws nothing. */
export type Read = (file: string, after: RawProfile | null) => RawProfile | null;

/** A look at the recording, from which later ones count; `ended`: stretches of files that were ended since. */
export interface Mark {
  from: RawProfile | null; // null: from the beginning of the file
  ended: Stretch[];
}
export interface Stretch {
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
   * The sampler writes another file from now on: the last one is read to its end. Or the same recording has another
   * name.
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

  /** The recording as it stands; null: nothing has been seen of it. */
  newest(): RawProfile | null {
    const raw = this.#file === null ? null : this.read(this.#file, this.#last);
    // another program in the file of that name (exec), or the file is being replaced by the finished one
    if (raw !== null && raw.head.snapshots > 0) this.#last = raw;
    return this.#last;
  }

  /** From now on; `beginning`: from the beginning of the recording. */
  mark(beginning = false): Mark {
    const mark: Mark = { from: beginning ? null : this.newest(), ended: [] };
    this.#marks.add(mark);
    return mark;
  }

  /** What happened since the mark, in the order of time; the mark stands here then. */
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
