/**
 * Results from the lines of a TAP stream, as ava writes them:
 * https://testanything.org/tap-version-13-specification.html
 */
import { skipped, type Result } from './result.js';

export class TapReader {
  readonly #report: (result: Result) => void;
  #heading: { name: string; ok: boolean; directive: string } | undefined;
  #detail: string[] = [];

  /** Hands each result over as soon as all that belongs to it has been read. */
  constructor(report: (result: Result) => void) {
    this.#report = report;
  }

  line(text: string): void {
    const begin = /^(not )?ok \d+(?: - (.*?))?(?: # (SKIP|TODO)\b.*)?$/.exec(text);
    if (!begin) {
      if (/^1\.\.\d+|^# (tests|pass|skip|fail) \d+$/.test(text)) this.end();
      else if (this.#heading) this.#detail.push(text);
      return;
    }
    this.end();
    this.#heading = {
      ok: begin[1] === undefined,
      name: begin[2] ?? 'a test without a name',
      directive: begin[3] ?? '',
    };
  }

  end(): void {
    if (!this.#heading) return;
    const { name, ok, directive } = this.#heading;
    const log = this.#detail
      .filter((line) => line.startsWith('#'))
      .map((line) => line.replace(/^#\s*/, ''))
      .join('\n');
    const reason = directive === '' ? skipped.exec(log)?.[1] : `marked ${directive} in its source, which is no reason`;
    if ((ok || directive !== '') && reason !== undefined) this.#report({ name, outcome: 'skipped', detail: reason });
    else this.#report({ name, outcome: ok ? 'passed' : 'failed', detail: this.#detail.join('\n') });
    this.#heading = undefined;
    this.#detail = [];
  }
}
