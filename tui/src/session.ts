/**
 * The data behind a screen: reads the profile periodically, keeps the history, and makes the scene that views draw. It
 * uses no terminal; the host provides all input and output, so that tests can replace it.
 */
import { codeProcedures, item, sampledIn } from '../../ts-frontend/src/model/index.js';
import type { CodePiece, Model, RawProfile } from '../../ts-frontend/src/model/index.js';
import { History } from './state/history.js';
import type { Live, ProcessorNow, Scene, State } from './state/types.js';

export interface Host {
  /** Reads the current profile. Throws an Error with a message of one line if there is none. */
  read(): RawProfile;
  build(raw: RawProfile): Model;
  difference(newer: RawProfile, older: RawProfile): RawProfile;
  /** Lines of a source file, or the reason why there are none. */
  source(file: string): { file: string; lines: string[] } | { file: string; error: string };
  /** The code of a procedure in which samples found threads. */
  code(model: Model, procedure: number): CodePiece[];
  /** Writes what is shown as a separate profile; returns its path. */
  write(): string;
  /** Why recording ended, in words; null while it continues. */
  ended(): string | null;
  finished: boolean;
}

export class Watch {
  #history = new History();
  #scene: Scene | null = null;
  #built = '';
  #startNs = 0; // start of the window "all": 0, or the moment of the last reset
  #endedRead = false;

  constructor(readonly host: Host) {}

  /** The recording has ended, but its last part has not been read yet. */
  get hasEnded(): boolean {
    return !this.#endedRead && this.host.ended() !== null;
  }
  get scene(): Scene | null {
    return this.#scene;
  }

  reset(): void {
    const newest = this.#history.newest();
    const now = newest?.head.elapsedNs ?? 0;
    this.#startNs = this.#startNs === 0 ? now : 0;
    this.#built = '';
  }
  get isReset(): boolean {
    return this.#startNs > 0;
  }

  /** Reads the profile again. Returns whether there is anything new. */
  refresh(): boolean {
    if (this.#endedRead) return false;
    const ended = this.host.ended();
    const raw = this.host.read();
    if (raw.head.pid !== this.#history.newest()?.head.pid) {
      // another process: that which does the work, if the program only started it
      this.#history = new History();
      this.#startNs = 0;
    }
    const newest = this.#history.newest();
    if (ended !== null || this.host.finished) this.#endedRead = true;
    else if (newest !== null && raw.head.elapsedNs === newest.head.elapsedNs) return false;
    this.#history.add(raw);
    this.#built = '';
    return true;
  }

  /** The scene for this state; computed again only if what it shows has changed. */
  update(state: State): Scene | null {
    const newest = this.#history.newest();
    if (newest === null) return null;
    const shown = state.frozen === null ? newest : (this.#history.at(state.frozen) ?? newest);
    const key = [
      shown.head.elapsedNs,
      shown.head.snapshots,
      state.windowNs,
      state.mark,
      this.#startNs,
      this.host.ended(),
    ].join(' ');
    if (key !== this.#built || this.#scene === null) {
      const span = this.#span(shown, state.windowNs);
      const model = this.host.build(span);
      const marked = state.mark === null ? null : this.#history.at(state.mark);
      const compare = marked === null ? null : this.host.build(this.#span(marked, state.windowNs));
      this.#scene = { model, compare, live: this.#live(newest, shown, span) };
      this.#built = key;
    }
    return this.#scene;
  }
  /** Loads the source file that the screen is about to show. */
  showSource(file: string): void {
    if (this.#scene === null || file === '' || this.#scene.live.source?.file === file) return;
    this.#scene = { ...this.#scene, live: { ...this.#scene.live, source: this.host.source(file) } };
  }

  /** Reads the code of an entity that the screen is about to show; again if samples have found more of it. */
  showCode(id: number): void {
    if (this.#scene === null) return;
    const { model, live } = this.#scene;
    const [procedure] = id > 0 ? codeProcedures(model, id) : [];
    if (procedure === undefined) return;
    const sampled = sampledIn(model, procedure).size;
    if (live.code?.procedure === procedure && live.code.sampled >= sampled) return;
    const pieces = this.host.code(model, procedure);
    this.#scene = { ...this.#scene, live: { ...live, code: { procedure, sampled, pieces } } };
  }

  #span(end: RawProfile, windowNs: number | null): RawProfile {
    const older =
      windowNs !== null
        ? this.#history.before(end, windowNs)
        : this.#startNs > 0 && end.head.elapsedNs > this.#startNs
          ? this.#history.at(this.#startNs)
          : null;
    return older === null || older === end ? end : this.host.difference(end, older);
  }
  #live(newest: RawProfile, shown: RawProfile, span: RawProfile): Live {
    const ended = this.host.ended();
    return {
      ended: this.host.finished ? null : ended,
      finished: this.host.finished,
      nowNs: newest.head.elapsedNs,
      shownNs: shown.head.elapsedNs,
      costShare: newest.head.elapsedNs > 0 ? newest.head.samplerCpuNs / newest.head.elapsedNs : 0,
      processors: processorsOf(span),
      history: this.#history.moments(),
      source: this.#scene?.live.source ?? null,
      code: this.#scene?.live.code ?? null,
    };
  }
}

function processorsOf(raw: RawProfile): ProcessorNow[] {
  const { usefulNs, overheadNs, spinningNs, idleNs } = raw.processors;
  return Array.from(usefulNs, (useful, p) => ({
    usefulNs: useful,
    overheadNs: item(overheadNs, p),
    spinningNs: item(spinningNs, p),
    idleNs: item(idleNs, p),
  }));
}
