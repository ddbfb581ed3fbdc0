/** Reports of a small profile whose numbers can be computed by hand, compared with goldens that people have read. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  buildModel,
  checkInvariants,
  findEntities,
  focusOn,
  viewOf,
  type Model,
  type RawEntity,
} from '../../../ts-frontend/src/model/index.js';
import {
  contextReport,
  contextViews,
  focusCsv,
  focusReport,
  locksCsv,
  proceduresCsv,
  report,
  threadsCsv,
  viewCsv,
  views,
  type RenderOptions,
} from '../../../ts-frontend/src/render/index.js';
import { root } from '../../support/root.js';
import { ProfileBuilder, ready, run } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';
import { empty, example } from './example.js';
import { serial } from './finding-examples/missing-work.js';

/** Compares with test/unit/render/golden/NAME; QUARTZ_UPDATE_GOLDENS=1 writes it instead. */
function golden(t: ExecutionContext, name: string, text: string): void {
  const file = join(root, 'test/unit/render/golden', name);
  if (process.env['QUARTZ_UPDATE_GOLDENS']) writeFileSync(file, text);
  t.true(existsSync(file), `${file} is missing`);
  t.is(text, readFileSync(file, 'utf8'));
}

const options = (change: Partial<RenderOptions> = {}): RenderOptions => ({
  width: 80,
  colour: false,
  ascii: false,
  top: 20,
  ...change,
});
/** Findings made by hand, so that goldens show how they are rendered, whatever the model finds. */
const model: Model = {
  ...buildModel(example()),
  notices: [],
  findings: [
    {
      entity: 2,
      name: 'setup',
      kind: 'serial',
      change: 'create-parallelism',
      advice: { pieces: null, threads: null },
      facts: { ...serial, callers: [1], spreadNs: 0.75e9 },
      costNs: 1e9,
      costCi95: { lowNs: 0.9e9, highNs: 1.1e9 },
      savingNs: 0.75e9,
      savingCi95: { lowNs: 0.7e9, highNs: 0.8e9 },
      processorUse: { busy: 1, spinning: 0, idle: 3 },
      bound: null,
      related: [],
      alternatives: [],
      othersMayCause: false,
    },
  ],
};
const escape = '\u001b';

test('the profile that the goldens show adds up', (t) => {
  t.deepEqual(checkInvariants(model), []);
});

test('a view that was asked for follows one line about the run', (t) => {
  const built = buildModel(example());
  const focus = focusOn(built, findEntities(built, 'setup')[0]!);
  const root = viewOf(built, 'tree');
  const query = { view: 'tree', sort: 'npt', metrics: [] } as const;
  for (const text of [
    report(model, 'locks', options(), 'short'),
    focusReport(model, focus, options(), 'short'),
    contextReport(model, root, query, options()),
  ]) {
    t.notRegex(text, /What limits this program|Quartz used|CPUs:/);
    t.regex(text, /: 2\.00 s, 4 processors, [^!(]*\(what\s+limits\s+it:\s+quartz\s+report\)\n/);
  }
  t.regex(focusReport(model, focus, options()), /^What limits this program\n/);
});

test('a crash is reported first, a program that was ended as planned is not called one', (t) => {
  const ended = (signal: number): string =>
    report({ ...model, head: { ...model.head, endReason: 'signal', exitStatus: signal } }, 'procedures', options());
  t.regex(
    ended(11),
    /^What limits this program\n\nThe program was killed by signal 11 \(SIGSEGV\): this report is about/,
  );
  t.regex(ended(64), /was killed by signal 64: /);
  t.notRegex(ended(15), /The program was killed/);
  t.regex(ended(15), /: killed by signal 15 \(SIGTERM\), 2\.00 s, /);
});

for (const view of views) {
  for (const width of [80, 160]) {
    test(`${view} at ${width} columns`, (t) => {
      const text = report(model, view, options({ width }));
      golden(t, `${view}-${width}.txt`, text);
      for (const line of text.split('\n')) t.true(Array.from(line).length <= width, line);
    });
  }
  test(`${view} fits 40 columns, and has no character beyond ASCII where none is wanted`, (t) => {
    const text = report(model, view, options({ width: 40, ascii: true }));
    for (const line of text.split('\n')) t.true(line.length <= 40, line);
    t.regex(text, /^[\n\x20-\x7e]*$/);
  });
  test(`${view} has colours only where they are wanted`, (t) => {
    t.false(report(model, view, options()).includes(escape));
    const coloured = report(model, view, options({ colour: true }));
    t.true(coloured.includes(escape));

    t.is(coloured.replace(/\u001b\[\d+m/g, ''), report(model, view, options()));
  });
}

test('focus', (t) => {
  const focus = focusOn(
    buildModel(example()),
    findEntities(model, 'main').find((id) => model.entities[id]!.kind === 'procedure')!,
  );
  golden(t, 'focus-80.txt', focusReport(model, focus, options()));
  golden(t, 'focus-ascii.txt', focusReport(model, focus, options({ ascii: true })));
  golden(t, 'focus.csv', focusCsv(focus));
});

test('CSV', (t) => {
  golden(t, 'procedures.csv', proceduresCsv(model));
  golden(t, 'locks.csv', locksCsv(model));
  golden(t, 'threads.csv', threadsCsv(model));
});

test('nothing sampled: every view says why and what to do', (t) => {
  for (const view of views)
    t.regex(report(buildModel(empty()), view, options()), /let it run longer|raise|longer run/i, view);
});

test('procedures that only call another one stand in no row; --top 0 shows them', (t) => {
  const deep = buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(second, [
        run('main', ['main', 'start', 'middle', 'work']),
        run('w', ['main', 'start', 'middle', 'work']),
      ])
      .stretch(second, [run('main', ['main', 'start', 'other'])])
      .build(),
  );
  const rows = (top: number): string[] =>
    report(deep, 'procedures', options({ top }))
      .split('accounts for)')[1]!
      .split('\n')
      .slice(1)
      .filter((line) => line !== '')
      .map((line) => line.trim().split('  ').at(-1)!.trim());
  t.deepEqual(rows(20), ['procedure', 'start', 'work', 'other', '2 that only call one of these; --top 0 shows all']);
  t.deepEqual(rows(0), ['procedure', 'main', 'start', 'work', 'other', 'middle']);
});

test('no procedure seen: no advice to compile a program without Quartz with hooks', (t) => {
  const { entities, head, ...rest } = example();
  const none = buildModel({
    ...rest,
    head: { ...head, publisher: 'pthread' },
    entities: entities.map((one) => (one.kind === 'procedure' ? { ...one, kind: 'mutex' as const } : one)),
  });
  const text = report(none, 'procedures', options({ width: 200 }));
  t.regex(text, /no procedure was seen at work/);
  t.notRegex(text, /cflags/);
});

test('the slowdown is reported between its bounds, and as one number without what has two', (t) => {
  const reported = (change: object): string =>
    report(buildModel(example(change)), 'procedures', options({ width: 400 })).match(
      /slowed the run by [^;\n]*/,
    )?.[0] ?? '';
  const base = { samplerSpins: true, spawns: 4, spawnPs: 50e9 };
  t.regex(
    reported({ ...base, hookLeastPs: 5e9, hookMostPs: 50e9 }),
    /^slowed the run by about \d+\.\d to \d+\.\d % \(hooks .* to .* %, thread creation \d+\.\d %\)/,
  );
  t.regex(
    reported({ ...base, hookLeastPs: 0, hookMostPs: 0, spawnPs: 100e9 }),
    /^slowed the run by about \d+\.\d % \(thread creation \d+\.\d %\)/,
  );
  t.regex(reported({ ...base, hookLeastPs: 0, hookMostPs: 0, spawnPs: 10e9 }), /^slowed the run by about \d+\.\d %$/);
});

test('a run that is shorter than the start of its recording: the slowdown is reported as a time', (t) => {
  const reported = (startUs: number, hookMostPs: number): string =>
    report(
      buildModel(example({ samplerSpins: true, hookLeastPs: 5e9, hookMostPs, startUs })),
      'procedures',
      options({ width: 400 }),
    ).match(/slowed the run by [^;\n]*/)?.[0] ?? '';
  t.regex(
    reported(3e6, 50e9),
    /^slowed the run by about 3\.\d\d s to 3\.\d\d s \(start of recording 3\.00 s, hooks [\d.]+ ms to [\d.]+ ms\)/,
  );
  t.regex(reported(3e6, 5e9), /^slowed the run by about 3\.\d\d s \(start of recording 3\.00 s, hooks [\d.]+ ms\)/);
  t.regex(reported(1e3, 5e9), /^slowed the run by about 0\.\d %$/);
});

test('what the command took beside the program is said from 1 % of the time covered on, and is in no sum', (t) => {
  const raw = example({ samplerSpins: true }); // 2 s
  const reported = (commandNs: number): string =>
    report(
      buildModel({ ...raw, cpuLimits: { ...raw.cpuLimits, commandNs: Float64Array.of(commandNs) } }),
      'procedures',
      options({ width: 400 }),
    ).match(/slowed the run by [^\n]*/)?.[0] ?? '';
  t.is(reported(19e6), reported(0));
  t.true(
    reported(21e6).startsWith(`${reported(0)}; the command took 21.0 ms besides, before the program began and after`),
    reported(21e6),
  );
});

test('the report says whether the program could have used the CPU of the sampler', (t) => {
  const reported = (change: object): string =>
    report(buildModel(example(change)), 'procedures', options({ width: 400 })).match(/Quartz used [^;\n]* and /)?.[0] ??
    '';
  const second = 1e9; // of 2 s; one of 4 processors works for the first second, 4 for the other
  t.is(reported({ samplerSpins: true, samplerCpuNs: 2 * second }), 'Quartz used 100 % of a free CPU and ');
  const shared = { samplerSpins: false, samplerCpuNs: second };
  t.regex(reported({ ...shared, cpus: 8, processors: 8 }), /used 50\.0 % of a CPU, mostly while one was idle, and/);
  t.regex(reported({ ...shared, cpus: 1 }), /used 50\.0 % of a CPU and/);
  t.regex(reported({ samplerSpins: false, samplerCpuNs: second / 50, cpus: 8 }), /used 1\.0 % of a CPU and/);
});

test('work and span are in the report where they were recorded, with the command that shows the rest', (t) => {
  const reported = (change: object): string =>
    report(buildModel(example(change)), 'procedures', options({ width: 400 })).match(/Work and span: .*/)?.[0] ?? '';
  const span = { spanRecorded: true, workNs: 4e9, spanNs: 1.6e9 };
  t.is(reported({}), '');
  t.is(
    reported(span),
    'Work and span: work 4.00 s, span 1.60 s, parallelism 2.50: more processors than that gain little; quartz path ' +
      '--span shows the time on other numbers of processors, and what limits it.',
  );
  t.regex(reported({ ...span, workNs: 0 }), /not known, since no thread/);
  t.regex(
    reported({ ...span, publisher: 'pthread', cpuRunNs: 5e9, workNs: 1e9, spanNs: 0.4e9 }),
    /parallelism 2\.50: they leave out 4\.00 s of processor time.*quartz path --span shows the rest/,
  );
});

test('a cost that could not be measured is reported', (t) => {
  const said = (change: object): string => report(buildModel(example(change)), 'procedures', options({ width: 400 }));
  t.regex(
    said({ hookLeastPs: 0, hookMostPs: 0 }),
    /! the cost of hooks could not be measured when the program started: the reported slowdown does not include it/,
  );
  t.regex(
    said({ hookMostPs: 0, spawns: 4, spawnPs: 0 }),
    /! the cost of hooks and thread creation could not be measured/,
  );
  t.false(said({}).includes('could not be measured'));
});

test('losses are reported only where there are some', (t) => {
  t.false(report(model, 'procedures', options()).includes('torn'));
  t.false(
    report(buildModel(example({ tornAccepted: 799 })), 'procedures', options()).includes('torn'),
    'below 1 % of 80,000',
  );
  const lossy = buildModel(example({ tornAccepted: 800, stackOverflows: 3, callsLost: 5, skippedTicks: 20000 }));
  const text = report(lossy, 'procedures', options({ width: 200 }));
  for (const word of [
    '800 of 80,000 copies of stacks changed while they were read',
    '3 calls were deeper',
    '5 calls were not counted',
    '50.0 % of the snapshots',
  ])
    t.true(text.includes(word), word);
});

test('names that are missing are reported with the reason; the procedures of system libraries have theirs', (t) => {
  const raw = example();
  const said = (missing: RawEntity['missing'], detail: string): string =>
    report(
      buildModel({ ...raw, entities: raw.entities.map((entity) => ({ ...entity, missing, detail })) }),
      'procedures',
      options({ width: 200 }),
    );
  t.true(said('name', 'no symbol at this address').includes('in procedures without names: no symbol at this address'));
  t.true(said('place', 'no debug information; compile with -g').includes('in procedures without file and line'));
  t.false(
    said('system', 'in a library of the system: its debug information is not read').includes('in procedures without'),
  );
});

test('names cannot send control characters to a terminal, nor formulas to a spreadsheet', (t) => {
  const raw = example();
  const evil = {
    ...raw,
    entities: raw.entities.map((entity, id) => (id === 2 ? { ...entity, name: '=evil\u001b[2J\n"x",y' } : entity)),
  };
  const other = buildModel(evil);
  const text = report(other, 'procedures', options({ width: 160 }));
  t.false(text.includes(escape));
  t.true(text.includes('=evil?[2J?"x",y'));
  t.true(proceduresCsv(other).includes('"\'=evil\u001b[2J\n""x"",y"'));
});

test('docs/reference defines every column', (t) => {
  const page = ['report', 'compare', 'views', 'path', 'loops']
    .map((name) => readFileSync(join(root, `docs/reference/${name}.md`), 'utf8'))
    .join('');
  const defined = new Set([...page.matchAll(/\*\*(.+?)\*\*/g)].map((match) => match[1]));
  const directory = join(root, 'ts-frontend/src/render');
  const heads = readdirSync(directory)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(directory, file), 'utf8').matchAll(/\bhead: (.*?), (?:text|drop)|\bstate\('(\w+)'/g),
    ])
    .flatMap((match) =>
      match[2] !== undefined
        ? [match[2]]
        : [...match[1]!.matchAll(/'([^']+)'|`([^`]+)`/g)].map((one) => one[1] ?? 'busy 1..P'),
    );
  t.true(heads.length > 30, heads.join());
  for (const head of heads) t.true(defined.has(head), head);
});

test('fewer snapshots than asked for are reported with the reason', (t) => {
  const reported = (change: Parameters<typeof example>[0]): string =>
    report(buildModel(example(change)), 'procedures', options({ width: 400 }));
  t.notRegex(reported({}), /\(not /);
  t.regex(
    reported({ snapshots: 5000, roundsBegun: 5000, samplerCpuNs: 0.25e9 }),
    /5,000 samples at 2\.50 kHz \(of 10\.0 kHz: each took 50\.0 .s of a CPU\)/,
  );
  t.regex(
    reported({ snapshots: 5000, roundsBegun: 5000, skippedTicks: 15000 }),
    /5,000 samples at 2\.50 kHz \(of 10\.0 kHz: the sampler had to wait for a CPU\)/,
  );
});

for (const view of contextViews) {
  const query = { view, sort: 'npt', metrics: [] } as const;
  const rows = viewOf(buildModel(example()), view);
  test(`${view}: text and CSV`, (t) => {
    const text = contextReport(model, rows, query, options());
    golden(t, `${view}-80.txt`, text);
    golden(t, `${view}.csv`, viewCsv(model, rows, query, 0));
    for (const line of text.split('\n')) t.true(Array.from(line).length <= 80, line);
  });
  test(`${view} fits 40 columns`, (t) => {
    const text = contextReport(model, rows, query, options({ width: 40, ascii: true }));
    for (const line of text.split('\n')) t.true(line.length <= 40, line);
    t.notRegex(text, /[^\x20-\x7e\n]/);
  });
  test(`${view}: what is left out is said`, (t) => {
    t.regex(contextReport(model, rows, query, options({ top: 2 })), /Only the most expensive rows/);
    t.notRegex(contextReport(model, rows, query, options({ top: 0 })), /Only the most/);
  });
}

test('who had the CPUs is said before the findings; if nearly always others, that they may be wrong', (t) => {
  const headOf = (cpuWaitNs: number): string => {
    const profile = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: second, cpuWaitNs } })
      .stretch(second, [run('main', ['main', 'solve']), ready('w', ['main', 'solve'])])
      .build();
    return report(buildModel(profile), 'procedures', options()).replace(/\s+/g, ' ');
  };
  t.regex(headOf(second), /Other programs had the CPUs for .* in about the same proportions\./);
  t.regex(headOf(9 * second), /Other programs had the CPUs for .* the findings may be wrong, and their order, too\./);
});
