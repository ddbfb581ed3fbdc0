/**
 * The format of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), written with pprof-format;
 * gzipped.
 */
import { gzipSync } from 'node:zlib';
import { Function, Label, Line, Location, Mapping, Profile, Sample, StringTable, ValueType } from 'pprof-format';
import { item } from '../model/index.js';
import { wholeNumbers, type WeightedStacks } from './weighted-stacks.js';

/** When the samples were taken. */
export interface Taken {
  beganNs: number; // CLOCK_REALTIME
  elapsedNs: number;
  rateHz: number;
}

export function pprof(stacks: WeightedStacks, { beganNs, elapsedNs, rateHz }: Taken): Uint8Array {
  const strings = new StringTable();
  const text = (value: string): number => strings.dedup(value);
  const used = [...new Set(stacks.samples.flatMap(({ frames }) => frames))].sort((a, b) => a - b);
  const modules = [...new Set(used.map((frame) => item(stacks.frames, frame).module))].filter((path) => path !== '');
  const mappingOf = (path: string): number => modules.indexOf(path) + 1; // 0: none
  const columns = stacks.types.map((_, at) => wholeNumbers(stacks.samples.map(({ values }) => values[at] ?? 0)));
  const first = item(stacks.types, 0);
  const profile = new Profile({
    sampleType: stacks.types.map(({ name, unit }) => new ValueType({ type: text(name), unit: text(unit) })),
    sample: stacks.samples.map(
      ({ frames, thread, state, busy }, at) =>
        new Sample({
          locationId: frames.map((frame) => frame + 1).reverse(), // pprof lists innermost frames first
          value: columns.map((column) => item(column, at)),
          label: [
            ...(thread === null
              ? []
              : [
                  new Label({ key: text('thread'), str: text(thread.name) }),
                  new Label({ key: text('thread_id'), num: thread.id }),
                ]),
            ...(state === null ? [] : [new Label({ key: text('state'), str: text(state) })]),
            ...(busy === null ? [] : [new Label({ key: text('busy'), num: busy, numUnit: text('processors') })]),
          ],
        }),
    ),
    mapping: modules.map(
      (path, at) =>
        new Mapping({
          id: at + 1,
          filename: text(path),
          hasFunctions: true,
          hasFilenames: true,
          hasLineNumbers: true,
          hasInlineFrames: true,
        }),
    ),
    location: used.map(
      (frame) =>
        new Location({
          id: frame + 1,
          mappingId: mappingOf(item(stacks.frames, frame).module),
          line: [new Line({ functionId: frame + 1, line: item(stacks.frames, frame).line })],
        }),
    ),
    function: used.map((frame) => {
      const { name, file, line } = item(stacks.frames, frame);
      return new Function({
        id: frame + 1,
        name: text(name),
        systemName: text(''), // if it were the name, pprof would leave out template and other arguments of C++ names
        filename: text(file),
        startLine: line,
      });
    }),
    timeNanos: BigInt(Math.round(beganNs)),
    durationNanos: Math.round(elapsedNs),
    periodType: new ValueType({ type: text(first.name), unit: text(first.unit) }),
    period: rateHz > 0 ? Math.round(1e9 / rateHz) : 0,
    comment: stacks.types.map(({ name, title }) => text(`${name}: ${title}`)),
    defaultSampleType: text(first.name),
    stringTable: strings,
  });
  return gzipSync(profile.encode());
}
