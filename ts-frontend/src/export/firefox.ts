/**
 * The processed format of the Firefox Profiler (https://profiler.firefox.com), version 48, which later versions
 * upgrade. Samples are weighted in milliseconds of the first value type. A profile does not contain the time of each
 * sample, so the time axis shows them one after the other. States of threads (--timeline) are markers; locks and the
 * critical path have threads of their own.
 */
import { baseName, defined, item } from '../model/index.js';
import type { Model } from '../model/index.js';
import { hasSlices, tracksOf, type Slice } from './tracks.js';
import type { Frame, Sample, WeightedStacks } from './weighted-stacks.js';

const formatVersion = 48;
const geckoVersion = 29;
const libraryResource = 1;
const categories = [
  { name: 'Other', color: 'grey', subcategories: ['Other'] },
  { name: 'Procedure', color: 'blue', subcategories: ['Other'] },
];
const procedure = 1;
const interval = 1; // the phase of a marker with begin and end
const markerType = 'Quartz';
const schema = {
  name: markerType,
  tooltipLabel: '{marker.name}',
  tableLabel: '{marker.data.state}: {marker.data.stack}',
  chartLabel: '{marker.name}',
  display: ['marker-chart', 'marker-table'],
  data: [
    { key: 'state', label: 'State', format: 'string', searchable: true },
    { key: 'stack', label: 'Stack', format: 'string', searchable: true },
  ],
};

export function* firefox(model: Model, stacks: WeightedStacks): Iterable<string> {
  const byThread = new Map<number, Sample[]>();
  for (const sample of stacks.samples) {
    if ((sample.values[0] ?? 0) <= 0) continue;
    const id = sample.thread?.id ?? 0;
    const known = byThread.get(id);
    if (known) known.push(sample);
    else byThread.set(id, [sample]);
  }
  const { head } = model;
  const pid = String(head.pid);
  yield JSON.stringify({
    meta: {
      interval: model.rateHz > 0 ? 1000 / model.rateHz : 1,
      startTime: head.startedRealtimeNs / 1e6,
      processType: 0,
      product: baseName(model.program),
      importedFrom: 'Quartz',
      stackwalk: 1,
      debug: false,
      version: geckoVersion,
      preprocessedProfileVersion: formatVersion,
      categories,
      markerSchema: [schema],
      symbolicated: true,
      sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'ns' },
      extensions: { id: [], name: [], baseURL: [], length: 0 },
    },
    libs: [],
    pages: [],
    counters: [],
    profilerOverhead: [],
    threads: rowsOf(model, byThread).map(({ id, name, samples, slices }, at) => ({
      processType: 'default',
      processName: baseName(model.program),
      processStartupTime: 0,
      processShutdownTime: null,
      registerTime: 0,
      unregisterTime: null,
      pausedRanges: [],
      name,
      isMainThread: at === 0,
      pid,
      tid: id,
      ...new Tables(stacks.frames).with(samples, slices),
    })),
  });
  yield '\n';
}

interface Row {
  id: number | string;
  name: string;
  samples: readonly Sample[];
  slices: readonly Slice[];
}

/** Threads with samples or slices, by number, followed by locks and the critical path. */
function rowsOf(model: Model, byThread: ReadonlyMap<number, Sample[]>): Row[] {
  const tracks = hasSlices(model) ? tracksOf(model) : [];
  const ofThread = new Map(tracks.flatMap((track) => (track.thread === null ? [] : [[track.thread, track] as const])));
  const threads = [...new Set([...byThread.keys(), ...ofThread.keys()])].sort((a, b) => a - b);
  return [
    ...threads.map((id) => {
      const samples = byThread.get(id) ?? [];
      const track = ofThread.get(id);
      const name = track?.name ?? samples[0]?.thread?.name ?? 'unknown thread';
      return { id, name, samples, slices: track?.slices ?? [] };
    }),
    ...tracks.flatMap(({ name, thread, slices }) => (thread === null ? [{ id: name, name, samples: [], slices }] : [])),
  ];
}

/** The tables of one thread, as columns. */
class Tables {
  private readonly strings = new Map<string, number>();
  private readonly functions = new Map<number, number>(); // by frame
  private readonly nodes = new Map<string, number>(); // by prefix and function
  private readonly resources = new Map<string, number>(); // by path
  private readonly prefix: (number | null)[] = [];
  private readonly frameOf: number[] = [];
  constructor(private readonly frames: readonly Frame[]) {}

  private text(value: string): number {
    const known = this.strings.get(value);
    if (known !== undefined) return known;
    this.strings.set(value, this.strings.size);
    return this.strings.size - 1;
  }
  private functionOf(frame: number): number {
    const known = this.functions.get(frame);
    if (known !== undefined) return known;
    this.functions.set(frame, this.functions.size);
    const { module } = item(this.frames, frame);
    if (module !== '' && !this.resources.has(module)) this.resources.set(module, this.resources.size);
    return this.functions.size - 1;
  }
  private stack(path: readonly number[]): number {
    let node: number | null = null;
    for (const frame of path) {
      const its = this.functionOf(frame);
      const key: string = `${node ?? ''} ${its}`;
      let next = this.nodes.get(key);
      if (next === undefined) {
        this.nodes.set(key, (next = this.prefix.length));
        this.prefix.push(node);
        this.frameOf.push(its);
      }
      node = next;
    }
    return defined(node);
  }

  with(samples: readonly Sample[], slices: readonly Slice[]): object {
    const stack = samples.map(({ frames }) => this.stack(frames));
    const weight = samples.map(({ values }) => (values[0] ?? 0) / 1e6);
    let before = 0;
    const time = weight.map((ms) => (before += ms) - ms);
    const its = [...this.functions.keys()].map((frame) => item(this.frames, frame));
    const all = <T>(value: T): T[] => its.map(() => value);
    const funcTable = {
      name: its.map(({ name }) => this.text(name)),
      isJS: all(false),
      relevantForJS: all(false),
      resource: its.map(({ module }) => this.resources.get(module) ?? -1),
      fileName: its.map(({ file }) => (file === '' ? null : this.text(file))),
      lineNumber: its.map(({ line }) => (line === 0 ? null : line)),
      columnNumber: all(null),
      length: its.length,
    };
    const paths = [...this.resources.keys()];
    const resourceTable = {
      lib: paths.map(() => null),
      name: paths.map((path) => this.text(baseName(path))),
      host: paths.map(() => null),
      type: paths.map(() => libraryResource),
      length: paths.length,
    };
    return {
      samples: { stack, time, weight, weightType: 'tracing-ms', length: samples.length },
      markers: {
        data: slices.map(({ category: state, stack: path }) => ({ type: markerType, state, stack: path })),
        name: slices.map(({ name }) => this.text(name)),
        startTime: slices.map(({ atNs }) => atNs / 1e6),
        endTime: slices.map(({ atNs, ns }) => (atNs + ns) / 1e6),
        phase: slices.map(() => interval),
        category: slices.map(() => procedure),
        length: slices.length,
      },
      stackTable: {
        prefix: this.prefix,
        frame: this.frameOf,
        category: this.frameOf.map(() => procedure),
        subcategory: this.frameOf.map(() => 0),
        length: this.prefix.length,
      },
      frameTable: {
        address: all(-1),
        inlineDepth: all(0),
        category: all(procedure),
        subcategory: all(0),
        func: its.map((_, at) => at),
        nativeSymbol: all(null),
        innerWindowID: all(0),
        implementation: all(null),
        line: funcTable.lineNumber,
        column: all(null),
        length: its.length,
      },
      funcTable,
      resourceTable,
      nativeSymbols: { libIndex: [], address: [], name: [], functionSize: [], length: 0 },
      stringArray: [...this.strings.keys()],
    };
  }
}
