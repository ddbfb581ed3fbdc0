/** Exports: in each format the sums are the model's, and the rules of the format are satisfied. */
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import test, { type ExecutionContext } from 'ava';
import { Profile } from 'pprof-format';
import { timeLine } from '../../../ts-frontend/src/export/counters.js';
import { exporters, formatNames, type Content } from '../../../ts-frontend/src/export/formats.js';
import {
  holderStacks,
  valueTypes,
  weightedStacks,
  wholeNumbers,
} from '../../../ts-frontend/src/export/weighted-stacks.js';
import { packetsOf } from './perfetto-packets.js';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { io, overhead, ProfileBuilder, ready, run, spin, wait } from '../../support/profile-builder.js';

const ms = 1e6;
/** All states, a recursion, a lock with holders, a name with a semicolon, an odd time. */
const raw = new ProfileBuilder({
  processors: 4,
  head: { program: '/home/me/prog', pid: 4711, startedRealtimeNs: 1e18 },
})
  .describe('work', { file: '/src/prog.c', line: 7 })
  .stretch(100 * ms, [run('main', ['main', 'setup;1'])])
  .stretch(70 * ms + 1, [
    run('a', ['main', 'work', 'work', 'mutex:table']),
    run('b', ['main', 'work']),
    run('c', ['main', 'work', 'leaf']),
    wait('d', ['main', 'work', 'mutex:table']),
  ])
  .stretch(50 * ms, [
    overhead('a', ['main', 'work']),
    spin('b', ['main', 'barrier:step']),
    ready('c', ['main', 'work', 'leaf']),
    io('d', ['main', 'read']),
  ])
  .call('main', 'work', 3)
  .build();
const model = buildModel(raw, { compensate: false });
const { root } = model;
const wanted: Record<(typeof valueTypes)[number]['name'], number> = {
  elapsed: root.nptNs,
  processor: root.processorTimeNs,
  idleness: root.idlenessNs,
  spinning: root.states.spinning.ns,
  ready: root.states.ready.ns,
  blocked: root.states.blocked.ns,
  io: root.states.io.ns,
  samples: raw.tuples.count.reduce((sum, count) => sum + count, 0),
};
const plain = { foldRuntime: false, foldLoops: false, holders: false };
const holders = { foldRuntime: false, foldLoops: false, holders: true };
const heldNs = model.entities
  .filter(({ kind, members }) => kind === 'lock' && members.length === 0)
  .reduce((sum, { object }) => sum + object!.holders.reduce((all, { ns }) => all + ns, 0), 0);

const near = (t: ExecutionContext, got: number, expected: number, what: string, slack = 1): void => {
  t.true(Math.abs(got - expected) <= slack, `${what}: ${got}, wanted ${expected}`);
};
const textOf = (content: Content): string => {
  if (content instanceof Uint8Array) throw new Error('not a text');
  return Array.from(content).join('');
};
const entityNamed = (name: string): (typeof model.entities)[number] =>
  model.entities.find((entity) => entity.name === name && entity.members.length === 0)!;

test('weighted stacks: each value sums up to that of the program, and to that of each procedure', (t) => {
  const { samples, frames } = weightedStacks(model, plain);
  valueTypes.forEach(({ name }, at) => {
    t.true(wanted[name] > 0, `${name} is in the example`);
    near(
      t,
      samples.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
      wanted[name],
      name,
      1e-3,
    );
  });
  for (const { id, name, nptNs, nptSelfNs } of model.entities.filter(
    ({ kind, id }) => kind === 'procedure' && id !== 0,
  )) {
    const sum = (of: (path: readonly number[]) => boolean): number =>
      samples.reduce((all, { frames: path, values }) => all + (of(path) ? values[0]! : 0), 0);
    near(
      t,
      sum((path) => path.includes(id)),
      nptNs,
      name,
      1e-3,
    );
    near(
      t,
      sum((path) => path.at(-1) === id),
      nptSelfNs,
      `${name} itself`,
      1e-3,
    );
    t.is(frames[id]!.name, name);
  }
  t.is(frames[entityNamed('work').id]!.file, '/src/prog.c');
  t.is(frames[entityNamed('table').id]!.name, 'mutex table');
});

test('weighted stacks: the number of busy processors shows what ran alone', (t) => {
  const { samples } = weightedStacks(model, plain);
  for (let busy = 1; busy <= model.processors; busy++)
    near(
      t,
      samples.reduce((sum, sample) => sum + (sample.busy === busy ? sample.values[0]! : 0), 0),
      root.byBusyNs[busy - 1]!,
      `${busy} busy`,
      1e-3,
    );
});

test('run-time libraries can be folded into what called them', (t) => {
  const folded = buildModel(
    new ProfileBuilder({ processors: 1 })
      .describe('memcpy', { origin: 'runtime' })
      .stretch(ms, [run('t', ['main', 'copy', 'memcpy'])])
      .build(),
    { compensate: false },
  );
  t.is(textOf(exporters.folded.write(folded, plain)), `main;copy;memcpy ${ms}\n`);
  t.is(textOf(exporters.folded.write(folded, { ...plain, foldRuntime: true })), `main;copy ${ms}\n`);
});

test('loops of code are frames, unless they are folded, or the format knows procedures alone', (t) => {
  const builder = new ProfileBuilder({ processors: 1 });
  const inLoop = buildModel(
    builder
      .describe('code-loop:loop at a.c:3', { record: builder.id('main'), naming: 'place' })
      .stretch(2 * ms, [run('t', ['main', 'code-loop:loop at a.c:3', 'step'])])
      .stretch(ms, [run('t', ['main', 'code-loop:loop at a.c:3'])])
      .build(),
    { compensate: false },
  );
  t.is(textOf(exporters.folded.write(inLoop, plain)), `main;loop at a.c:3;step ${2 * ms}\nmain;loop at a.c:3 ${ms}\n`);
  t.is(textOf(exporters.folded.write(inLoop, { ...plain, foldLoops: true })), `main;step ${2 * ms}\nmain ${ms}\n`);
  t.notRegex(textOf(exporters.callgrind.write(inLoop, plain)), /loop at/);
});

test('whole numbers lose nothing', (t) => {
  t.deepEqual(wholeNumbers([0.4, 0.4, 0.4, 0.4]), [0, 1, 0, 1]);
  t.deepEqual(wholeNumbers([]), []);
});

test('pprof: sums, labels, and the holders of locks', (t) => {
  const decode = (content: Content): Profile => Profile.decode(gunzipSync(content as Uint8Array));
  const profile = decode(exporters.pprof.write(model, plain));
  const text = (at: number | bigint): string => profile.stringTable.strings[Number(at)]!;
  t.deepEqual(
    profile.sampleType.map(({ type, unit }) => `${text(type)} ${text(unit)}`),
    valueTypes.map(({ name, unit }) => `${name} ${unit}`),
  );
  t.is(text(profile.defaultSampleType), 'elapsed');
  valueTypes.forEach(({ name }, at) => {
    near(
      t,
      profile.sample.reduce((sum, { value }) => sum + Number(value[at]), 0),
      wanted[name],
      name,
    );
  });
  const known = new Set(profile.location.map(({ id }) => Number(id)));
  for (const { locationId, label } of profile.sample) {
    t.true(locationId.length > 0 && locationId.every((id) => known.has(Number(id))));
    t.deepEqual(
      label.map(({ key }) => text(key)),
      ['thread', 'thread_id', 'state', 'busy'],
    );
  }
  const held = decode(exporters.pprof.write(model, holders));
  t.true(heldNs > 0);
  near(
    t,
    held.sample.reduce((sum, { value }) => sum + Number(value[0]), 0),
    heldNs,
    'held',
  );
});

test('folded: the sum is the elapsed time; a semicolon in a name divides nothing', (t) => {
  const lines = textOf(exporters.folded.write(model, plain)).trimEnd().split('\n');
  near(
    t,
    lines.reduce((sum, line) => sum + Number(/ (\d+)$/.exec(line)![1]), 0),
    wanted.elapsed,
    'elapsed',
  );
  t.true(lines.some((line) => /^main;setup:1 \d+$/.test(line)));
  t.is(new Set(lines.map((line) => line.replace(/ \d+$/, ''))).size, lines.length);
});

test("speedscope: its own schema, and a profile for each value, with each value's sum", (t) => {
  const file = JSON.parse(textOf(exporters.speedscope.write(model, plain))) as {
    shared: { frames: object[] };
    profiles: { name: string; endValue: number; samples: number[][]; weights: number[] }[];
  };
  const schema = createRequire(import.meta.url).resolve('speedscope/dist/release/file-format-schema.json');
  const validate = new Ajv({ allErrors: true, strict: false }).compile(
    JSON.parse(readFileSync(schema, 'utf8')) as object,
  );
  t.true(validate(file), JSON.stringify(validate.errors));
  for (const { name, title } of valueTypes) {
    const profile = file.profiles.find((one) => one.name.endsWith(`: ${title}`))!;
    near(
      t,
      profile.weights.reduce((sum, weight) => sum + weight, 0),
      wanted[name],
      name,
      1e-3,
    );
    t.true(profile.samples.flat().every((frame) => frame < file.shared.frames.length));
  }
  near(t, file.profiles.find(({ name }) => name.includes('held locks'))!.endValue, heldNs, 'held', 1e-3);
});

/** Own costs by procedure, and of calls by "caller > callee". */
function readCallgrind(text: string): { totals: number[]; self: Map<string, number[]>; calls: Map<string, number[]> } {
  const names = new Map<string, string>();
  const self = new Map<string, number[]>();
  const calls = new Map<string, number[]>();
  let totals: number[] = [];
  let at = '';
  let callee = '';
  let call = false;
  for (const line of text.split('\n')) {
    const [, key = '', id = '', name] = /^(fn|cfn)=\((\d+)\)(?: (.*))?$/.exec(line) ?? [];
    if (name !== undefined) names.set(id, name);
    if (key === 'fn') at = names.get(id)!;
    else if (key === 'cfn') callee = names.get(id)!;
    else if (line.startsWith('calls='))
      call = !/^calls=0\b/.test(line); // as callgrind_annotate reads it
    else if (line.startsWith('totals: ')) totals = line.slice(8).split(' ').map(Number);
    else if (/^\d+ /.test(line)) {
      const costs = line.split(' ').slice(1).map(Number);
      if (call) calls.set(`${at} > ${callee}`, costs);
      else self.set(at, costs);
      call = false;
    }
  }
  return { totals, self, calls };
}

test('callgrind: own costs sum up to the totals; a call costs all below it, a recursion once', (t) => {
  const text = textOf(exporters.callgrind.write(model, plain));
  const { totals, self, calls } = readCallgrind(text);
  valueTypes.forEach(({ name }, at) => {
    near(t, totals[at]!, wanted[name], name);
    near(
      t,
      [...self.values()].reduce((sum, costs) => sum + costs[at]!, 0),
      wanted[name],
      name,
    );
  });
  const work = entityNamed('work');
  near(t, calls.get('main > work')![0]!, work.nptNs, 'main > work', 8);
  near(t, self.get('work')![0]!, work.nptSelfNs, 'work itself', 8);
  t.true(calls.get('work > work')![0]! < work.nptNs);
  t.regex(text, /cfn=\(\d+\) work\ncalls=3 7\n/);
});

test('firefox: weights sum up to the elapsed time, and every index is within its table', (t) => {
  const file = JSON.parse(textOf(exporters.firefox.write(model, plain))) as {
    threads: Record<string, Record<string, (number | null)[]> & { length: number }>[];
  };
  let sum = 0;
  for (const { samples, stackTable, frameTable, funcTable, resourceTable, stringArray } of file.threads) {
    sum += samples!['weight']!.reduce((all: number, weight) => all + weight!, 0);
    const within = (table: (number | null)[], most: number): boolean =>
      table.every((index) => index === null || index === -1 || (index >= 0 && index < most));
    t.true(within(samples!['stack']!, stackTable!.length));
    t.true(within(stackTable!['frame']!, frameTable!.length));
    t.true(stackTable!['prefix']!.every((prefix, at) => prefix === null || prefix < at));
    t.true(within(frameTable!['func']!, funcTable!.length));
    t.true(within(funcTable!['name']!, stringArray!.length));
    t.true(within(funcTable!['resource']!, resourceTable!.length));
    for (const table of [samples!, stackTable!, frameTable!, funcTable!, resourceTable!])
      for (const column of Object.values(table)) if (Array.isArray(column)) t.is(column.length, table.length);
  }
  near(t, sum * ms, wanted.elapsed, 'elapsed');
});

/** The time integral of a counter. */
const integral = (points: readonly { atNs: number; value: number }[]): number =>
  points.reduce((sum, { atNs, value }, at) => sum + value * ((points[at + 1]?.atNs ?? atNs) - atNs), 0);
const { usefulNs, overheadNs, spinningNs, idleNs } = model.balance;
const counted: Record<string, number> = {
  'busy processors': usefulNs + overheadNs,
  'processors at useful work': usefulNs,
  'spinning processors': spinningNs,
  'idle processors': idleNs,
  'runnable threads': model.balance.meanRunnable * model.elapsedNs,
};

test('counters: their integrals are the balance of the processors', (t) => {
  const { counters } = timeLine(model);
  t.deepEqual(
    counters.map(({ name }) => name),
    Object.keys(counted),
  );
  for (const { name, points } of counters) near(t, integral(points), counted[name]!, name, 10);
});

test('trace-event: the same counters, and the life of each thread', (t) => {
  const { traceEvents } = JSON.parse(textOf(exporters['trace-event'].write(model, plain))) as {
    traceEvents: { name: string; ph: string; ts?: number; args?: Record<string, number> }[];
  };
  for (const [name, ns] of Object.entries(counted)) {
    const points = traceEvents
      .filter((event) => event.ph === 'C' && event.name === name)
      .map(({ ts, args }) => ({ atNs: ts! * 1000, value: Object.values(args!)[0]! }));
    near(t, integral(points), ns, name, 10);
  }
  t.is(traceEvents.filter(({ ph }) => ph === 'X').length, raw.threads.length);
});

test('perfetto: the same counters', (t) => {
  const packets = packetsOf(model);
  for (const [name, ns] of Object.entries(counted)) {
    const { uuid } = packets.find((packet) => packet.name === name)!;
    const points = packets
      .filter((packet) => packet.uuid === uuid && packet.type === 4)
      .map(({ at, value }) => ({ atNs: at!, value: value! }));
    near(t, integral(points), ns, name, 10);
  }
});

test('every format takes an empty profile', (t) => {
  const empty = buildModel(new ProfileBuilder({ processors: 2 }).build(), { compensate: false });
  for (const name of formatNames) {
    const content = exporters[name].write(empty, plain);
    if (!(content instanceof Uint8Array)) t.notThrows(() => textOf(content), name);
  }
  t.deepEqual(holderStacks(empty).samples, []);
});

test('of each format it is known what it cannot hold', (t) => {
  for (const format of formatNames) t.true(exporters[format].loses(model).length > 0, format);
});
