/** All export formats: how each is written, and which data it cannot represent. */
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
import { grainNs, hasSlices, withoutSlices } from './tracks.js';
import { holderStacks, weightedStacks, type StackOptions, type WeightedStacks } from './weighted-stacks.js';

export { formatNames, type FormatName } from './format-names.js';

interface ExportOptions extends StackOptions {
  holders: boolean; // export holders of locks while others waited, instead of where time was spent
}
export type Content = Uint8Array | Iterable<string>;
interface Exporter {
  binary: boolean;
  stacks: boolean; // whether it has call stacks, and accepts options for stacks
  /** The data that the format cannot represent, one clause each; at least one. */
  loses: (model: Model) => readonly string[];
  write: (model: Model, options: ExportOptions) => Content;
}
const chosen = (model: Model, options: ExportOptions): WeightedStacks =>
  options.holders ? holderStacks(model) : weightedStacks(model, options);

/** Why call stacks have nothing to show: some viewers fail then, others stay blank. Null if they have. */
export function whyEmpty(model: Model, options: ExportOptions): string | null {
  if (options.holders)
    return holderStacks(model).samples.length === 0 ? 'no thread held a lock while another one waited for it' : null;
  return model.root.nptNs === 0 ? 'no snapshot saw the program run' : null;
}

const labels = 'thread, state and number of busy processors of each sample';
const overTime = 'when it happened';

/** Data that no format of time lines can represent. */
function overTimeLoses(model: Model): string[] {
  if (!hasSlices(model))
    return ['what each thread did, procedures and locks: kept over time by quartz record --timeline alone'];
  const grain = grainNs(model);
  return [
    'calls between two snapshots',
    ...(grain > 0 ? [`what took less than ${grain / 1e6} ms: the recording had no room for it and joined it`] : []),
    ...(withoutSlices(model) > 0 ? ['threads of large groups of namesakes'] : []),
  ];
}

export const exporters: Readonly<Record<FormatName, Exporter>> = {
  pprof: {
    binary: true,
    stacks: true,
    loses: () => [overTime],
    write: (model, options) =>
      pprof(chosen(model, options), {
        beganNs: model.head.startedRealtimeNs,
        elapsedNs: model.elapsedNs,
        rateHz: model.rateHz,
      }),
  },
  speedscope: {
    binary: false,
    stacks: true,
    loses: () => [overTime, labels],
    write: (model, options) =>
      speedscope(
        model.program,
        options.holders ? [holderStacks(model)] : [weightedStacks(model, options), holderStacks(model)],
      ),
  },
  folded: {
    binary: false,
    stacks: true,
    loses: () => [overTime, labels, 'all values but the first (elapsed time)'],
    write: (model, options) => folded(chosen(model, options)),
  },
  callgrind: {
    binary: false,
    stacks: true,
    loses: () => [
      overTime,
      labels,
      'calling contexts beyond the caller, and loops',
      'numbers of calls that no hooks counted (1 stands there)',
    ],
    write: (model, options) => callgrind(model, chosen(model, { ...options, foldLoops: true })),
  },
  firefox: {
    binary: false,
    stacks: true,
    loses: (model) => [
      hasSlices(model) ? 'when each sample was (what threads did over time are its markers)' : overTime,
      'state and number of busy processors of each sample',
      'all values but the first (elapsed time)',
    ],
    write: (model, options) => firefox(model, chosen(model, options)),
  },
  'trace-event': { binary: false, stacks: false, loses: overTimeLoses, write: (model) => traceEvent(timeLine(model)) },
  perfetto: { binary: true, stacks: false, loses: overTimeLoses, write: (model) => perfetto(timeLine(model)) },
};
