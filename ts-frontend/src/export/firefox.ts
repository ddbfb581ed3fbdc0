/**
 * The processed format of the Firefox Profiler (https://profiler.firefox.com), version 48, which later versions
 * upgrade: a thread for each of the program's. Samples weigh milliseconds of the first value. When they were is not
 * known: on the axis of time they stand one behind the other.
 */
import { baseName, defined, item } from '../model/index.js';
import type { Model } from '../model/index.js';
import type { Frame, Sample, WeightedStacks } from './weighted-stacks.js';

const formatVersion = 48;
const geckoVersion = 29;
const libraryResource = 1;
const categories = [
  { name: 'Other', color: 'grey', subcategories: ['Other'] },
  { name: 'Procedure', color: 'blue', subcategories: ['Other'] },
];
const procedure = 1;

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
      markerSchema: [],
      symbolicated: true,
      sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'ns' },
      extensions: { id: [], name: [], baseURL: [], length: 0 },
    },
    libs: [],
    pages: [],
    counters: [],
    profilerOverhead: [],
    threads: [...byThread]
      .sort(([a], [b]) => a - b)
      .map(([id, samples], at) => ({
        processType: 'default',
        processName: baseName(model.program),
        processStartupTime: 0,
        processShutdownTime: null,
        registerTime: 0,
        unregisterTime: null,
        pausedRanges: [],
        name: item(samples, 0).thread?.name ?? 'unknown thread',
        isMainThread: at === 0,
        pid,
        tid: id,
        ...new Tables(stacks.frames).with(samples),
      })),
  });
  yield '\n';
}

/** The tables of one thread, column by column. */
class Tables {
  private readonly strings = new Map<string, number>();
  private readonly functions = new Map<number, number>(); // by frame of the stacks
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

  with(samples: readonly Sample[]): object {
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
      markers: { data: [], name: [], startTime: [], endTime: [], phase: [], category: [], length: 0 },
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
