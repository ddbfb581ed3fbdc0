/** The server's responses by path (docs/reference/serve.md). Does not access sockets. */
import { setTimeout as pause } from 'node:timers/promises';
import { pprof } from '../export/pprof.js';
import { joined, weightedStacks } from '../export/weighted-stacks.js';
import { buildModel } from '../model/index.js';
import { contentType, exposition } from './exposition.js';
import { metricsOf, type Own } from './metrics.js';
import type { Mark, Source } from './source.js';
import { Totals } from './totals.js';

export interface Answer {
  status: number;
  type: string;
  body: string | Uint8Array;
  headers?: Readonly<Record<string, string>>;
}

const usualSeconds = 30; // the default of Go's pprof server
const secondsMost = 3600;
/** The maximum number of concurrent windows, each of which keeps a copy of the profile's columns. */
const windowsMost = 8;

export const text = (status: number, body: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${body}\n`,
});

const pages = `Quartz
/debug/pprof/npt?seconds=N   what happens in the next N seconds (${usualSeconds}), for pprof, gzipped
/metrics                     for Prometheus
/health                      200 while a program is being recorded`;

export class Answers {
  readonly #totals = new Totals();
  readonly #mark: Mark;
  #windows = 0;

  constructor(
    readonly source: Source,
    readonly own: () => Own,
    /** Aborted when the recording ends; open windows end then. */
    readonly ended: AbortSignal,
  ) {
    this.#mark = source.mark(true);
  }

  /** Returns null if the client has closed the connection. */
  async to(url: URL, gone: AbortSignal): Promise<Answer | null> {
    switch (url.pathname) {
      case '/':
        return text(200, pages);
      case '/health':
        return this.own().up ? text(200, 'recording') : text(503, 'nothing is being recorded');
      case '/metrics':
        return this.#metrics();
      case '/debug/pprof/npt':
        return this.#window(url.searchParams.get('seconds'), gone);
      default:
        return text(404, `there is no ${url.pathname}\n${pages}`);
    }
  }

  #look(): void {
    for (const { raw } of this.source.since(this.#mark)) this.#totals.add(buildModel(raw, { compensate: false }));
  }

  #metrics(): Answer {
    this.#look();
    return { status: 200, type: contentType, body: exposition(metricsOf(this.#totals, this.own())) };
  }

  async #window(asked: string | null, gone: AbortSignal): Promise<Answer | null> {
    const seconds = asked === null ? usualSeconds : /^\d+(\.\d+)?$/.test(asked) ? Number(asked) : NaN;
    if (!(seconds > 0 && seconds <= secondsMost))
      return text(400, `seconds wants a number above 0, at most ${secondsMost}, not ${asked ?? ''}`);
    if (!this.own().up) return text(503, 'nothing is being recorded');
    if (this.#windows === windowsMost)
      return { ...text(503, `${windowsMost} profiles are being made already`), headers: { 'Retry-After': '10' } };
    const mark = this.source.mark();
    this.#windows++;
    try {
      await pause(seconds * 1000, undefined, { signal: AbortSignal.any([gone, this.ended]) }).catch(() => undefined);
      return gone.aborted ? null : this.#profileOf(mark);
    } finally {
      this.#windows--;
      this.source.drop(mark);
    }
  }

  #profileOf(mark: Mark): Answer {
    const stretches = this.source.since(mark);
    const [first] = stretches;
    if (first === undefined) return text(503, 'no snapshot was taken in that time');
    const models = stretches.map(({ raw }) => buildModel(raw));
    const stacks = joined(models.map((model) => weightedStacks(model, { foldRuntime: false, foldLoops: false })));
    const samples = models.reduce((sum, model) => sum + model.samples, 0);
    const elapsedNs = models.reduce((sum, model) => sum + model.elapsedNs, 0);
    return {
      status: 200,
      type: 'application/octet-stream',
      body: pprof(stacks, { beganNs: first.beganNs, elapsedNs, rateHz: samples / (elapsedNs / 1e9) }),
      headers: { 'Content-Disposition': 'attachment; filename="npt.pb.gz"' },
    };
  }
}
