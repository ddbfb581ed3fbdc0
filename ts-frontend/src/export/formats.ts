/** The formats that a profile can be exported to: what each writes, and what it cannot hold. */
import type { Model } from '../model/index.js';
import { callgrind } from './callgrind.js';
import { timeLine } from './counters.js';
import { firefox } from './firefox.js';
import { folded } from './folded.js';
import type { FormatName } from './format-names.js';
import { perfetto } from './perfetto.js';
import { pprof } from './pprof.js';
import { speedscope } from './speedscope.js';
import { traceEvent } from './trace-event.js';
import { holderStacks, weightedStacks, type StackOptions, type WeightedStacks } from './weighted-stacks.js';

export { formatNames, type FormatName } from './format-names.js';

export interface ExportOptions extends StackOptions {
  holders: boolean; // who held locks while others waited, not where time went
}
export type Content = Uint8Array | Iterable<string>;
export interface Exporter {
  binary: boolean;
  /** What of a profile is not in it, in a clause each. */
  loses: readonly string[];
  write: (model: Model, options: ExportOptions) => Content;
}
const chosen = (model: Model, options: ExportOptions): WeightedStacks =>
  options.holders ? holderStacks(model) : weightedStacks(model, options);

const labels = 'thread, state and number of busy processors of each sample';
const overTime = 'when it happened';
const ofSnapshots = 'what each thread did, procedures and locks: a profile keeps only counters over time';

export const exporters: Readonly<Record<FormatName, Exporter>> = {
  pprof: {
    binary: true,
    loses: [overTime],
    write: (model, options) =>
      pprof(chosen(model, options), {
        beganNs: model.head.startedRealtimeNs,
        elapsedNs: model.elapsedNs,
        rateHz: model.rateHz,
      }),
  },
  speedscope: {
    binary: false,
    loses: [overTime, labels],
    write: (model, options) =>
      speedscope(
        model.program,
        options.holders ? [holderStacks(model)] : [weightedStacks(model, options), holderStacks(model)],
      ),
  },
  folded: {
    binary: false,
    loses: [overTime, labels, 'all values but the first (elapsed time)'],
    write: (model, options) => folded(chosen(model, options)),
  },
  callgrind: {
    binary: false,
    loses: [overTime, labels, 'calling contexts beyond the caller, and loops'],
    write: (model, options) => callgrind(model, chosen(model, { ...options, foldLoops: true })),
  },
  firefox: {
    binary: false,
    loses: [overTime, 'state and number of busy processors of each sample', 'all values but the first (elapsed time)'],
    write: (model, options) => firefox(model, chosen(model, options)),
  },
  'trace-event': { binary: false, loses: [ofSnapshots], write: (model) => traceEvent(timeLine(model)) },
  perfetto: { binary: true, loses: [ofSnapshots], write: (model) => perfetto(timeLine(model)) },
};
/** Whether a format holds call stacks, and so takes options of stacks. */
export const holdsStacks = (name: FormatName): boolean => !exporters[name].loses.includes(ofSnapshots);
