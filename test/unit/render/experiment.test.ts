/** Experiments in sentences, in the report and in JSON. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  buildModel,
  type Experiment,
  type Interference,
  type Verification,
  type Mode,
  type Model,
} from '../../../ts-frontend/src/model/index.js';
import { experimentTexts, report, reportJson } from '../../../ts-frontend/src/render/index.js';
import { root } from '../../support/root.js';
import { example } from './example.js';

const schema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  schema,
);

const ms = 1e6;
const times = { rounds: 5, beforeNs: 400 * ms, afterNs: 300 * ms, processor: null };
const whole: Experiment = {
  rounds: 5,
  complete: 5,
  ended: 'done',
  runs: Array.from({ length: 12 }, (_, k) => ({
    number: k + 1,
    round: k < 2 ? 0 : ((k - 2) >> 1) + 1,
    version: k % 2 === 0 ? 'recorded' : 'unrecorded',
    change: null,
    elapsedNs: (400 + k) * ms,
    userNs: 1,
    systemNs: 0,
  })),
  recording: {
    ...times,
    afterNs: 410 * ms,
    elapsed: { ratio: 1.025, low: 0.995, high: 1.056 },
    processor: { ratio: 0.99, low: 0.98, high: 1 },
    estimated: { least: 0.01, most: 0.03 },
    verdict: 'as-estimated',
  },
  changes: [
    {
      ...times,
      change: 'OMP_NUM_THREADS=2',
      profile: 'prog.try1.quartz',
      elapsed: { ratio: 0.75, low: 0.7, high: 0.8 },
      verdict: 'faster',
      interference: null,
    },
  ],
  recorded: {
    runs: 5,
    kept: 7,
    first: [{ kind: 'serial', name: 'setup', runs: 5 }],
    tested: true,
    modes: null,
  },
};
const texts = (change: Partial<Experiment> = {}): string[] => experimentTexts({ ...whole, ...change }, { ascii: true });

test('what recording costs, beside what the model reported', (t) => {
  t.is(
    texts()[0],
    'Recording slows the program by 2.5 % (95 % interval -0.5 to 5.6 %) in 5 pairs of runs, so it is not certain ' +
      'that it does so at all; Quartz estimated 1.0 to ' +
      '3.0 %, which this does not contradict. Elapsed time (medians): 400 ms without Quartz, 410 ms recorded; ' +
      'processor time: 1.0 % (95 % interval 0.0 to 2.0 %) less.',
  );
  const recording = { ...whole.recording!, estimated: { least: 0, most: 0 } };
  t.regex(texts({ recording: { ...recording, verdict: 'more' } })[0]!, /; Quartz estimated only 0\.0 %, without/);
  const open = { ...recording, estimated: { least: 0.05, most: null } };
  t.regex(texts({ recording: open })[0]!, /; Quartz estimated 5\.0 % or more, which/);
  t.regex(texts({ recording: { ...recording, verdict: 'less' } })[0]!, /; Quartz estimated more: 0\.0 %\./);
  t.regex(
    texts({ recording: { ...recording, rounds: 1, elapsed: null, verdict: null } })[0]!,
    /^1 pair of runs cannot show by how much .*: it took 400 ms without Quartz, 410 ms recorded\.$/,
  );
});

test('what a change gains', (t) => {
  t.is(
    texts()[1],
    'With OMP_NUM_THREADS=2 the program takes 25.0 % (95 % interval 20.0 to 30.0 %) less time in 5 pairs of ' +
      'runs. Elapsed time (medians): 400 ms -> 300 ms. A recorded run of it is in prog.try1.quartz.',
  );
  const [change] = whole.changes;
  const of = (verdict: 'slower' | 'undecided', low: number, high: number): string | undefined =>
    texts({ changes: [{ ...change!, verdict, elapsed: { ratio: 1.1, low, high } }] })[1];
  t.regex(of('slower', 1.05, 1.15)!, /takes 10\.0 % \(95 % interval 5\.0 to 15\.0 %\) more time in/);
  t.regex(
    of('undecided', 0.9, 1.3)!,
    /takes 10\.0 % \(.* -10\.0 to 30\.0 %\) more time in 5 pairs of runs, so no difference can be shown\./,
  );
});

test('threads that slow each other down', (t) => {
  const [change] = whole.changes;
  const processor = { ratio: 0.6, low: 0.55, high: 0.65 };
  const procedures = [{ entity: 1, name: 'triad', beforeNs: 800 * ms, afterNs: 500 * ms }];
  const of = (interference: Interference): string =>
    texts({ changes: [{ ...change!, processor, interference, profile: null }] })[1]!.replace(/^.*\. If it/s, 'If it');
  const memory = { by: 'fewer-threads', cause: 'memory', procedures, variable: '', sharedCores: null } as const;
  t.is(
    of(memory),
    'If it does the same work with fewer threads, they slow each other down: 40.0 % (95 % interval 35.0 to 45.0 %) ' +
      'of the processor time is due to that in triad (800 ms -> 500 ms), where no cache lines were seen that ' +
      'several of them write: they compete for memory bandwidth or for a cache. Access less memory there (smaller ' +
      'types, blocks that fit into the caches).',
  );
  t.regex(of({ ...memory, sharedCores: true }), /or for a cache, or for the cores, which some of the CPUs share\. /);
  t.regex(of({ ...memory, cause: 'lines', variable: 'sum' }), /where they write the same cache lines \(sum\): give/);
  t.regex(of({ ...memory, cause: 'waiting', procedures: [] }), /due to that, by spinning for each other\.$/);
  t.regex(of({ ...memory, cause: 'unknown', procedures: [] }), /due to that; where, the recorded runs do not show\.$/);
  t.is(
    of({ ...memory, cause: 'none' }),
    'If it does the same work with fewer threads, they hardly slow each other down.',
  );
  t.regex(
    of({ ...memory, by: 'one-cpu', cause: 'none' }),
    /On one CPU threads never run at the same time; if they do the same work there, they hardly slow each other down\.$/,
  );
});

test('whether runs agree, and fall into two modes', (t) => {
  t.deepEqual(texts().slice(2), [
    'All 5 recorded runs have the same first finding: serial setup.',
    'Elapsed time of recorded runs: 402 ms to 410 ms; no two modes can be shown.',
    'The rest of this report describes run 7 of 12.',
  ]);
  const mode = (number: number, medianNs: number, profile: string): Mode => ({
    runs: [number, number + 2, number + 4],
    medianNs,
    profile,
  });
  const modes = {
    dip: 0.25,
    critical: 0.1646,
    gap: 3.25,
    apart: false,
    fast: mode(1, 4e8, 'a.fast.quartz'),
    slow: mode(2, 8e8, 'a.slow.quartz'),
    inOrder: false,
    othersMayCause: false,
  };
  const first = [{ kind: 'serial', name: 'setup', runs: 4 } as const, { kind: null, name: '', runs: 1 } as const];
  const [agreement, split] = texts({
    recording: null,
    changes: [],
    recorded: { ...whole.recorded, first: [...first], modes },
  });
  t.is(agreement, 'The first finding is serial setup in 4 of 5 recorded runs, no finding in 1.');
  t.is(
    split,
    'The recorded runs fall into two modes: 3 took 400 ms, 3 took 800 ms (medians; dip 0.250; with a single mode, it ' +
      'is above 0.165 in at most 5 % of cases). What differs between them: quartz compare a.fast.quartz a.slow.quartz',
  );
  const apart = texts({ recorded: { ...whole.recorded, modes: { ...modes, apart: true } } });
  t.true(
    apart.some((text) => text.includes('(medians; between them is a gap of 3.25 times the spread of either group)')),
  );
  const doubtful = texts({ recorded: { ...whole.recorded, modes: { ...modes, inOrder: true, othersMayCause: true } } });
  t.true(doubtful.some((text) => /the machine may have changed.*Other programs may be the cause/.test(text)));
});

test('an experiment that ended early says what counts', (t) => {
  t.is(
    texts({ ended: 'interrupted', complete: 2 })[0],
    'It was interrupted: 2 of 5 rounds were complete, and only these count.',
  );
  t.regex(texts({ ended: 'failed', complete: 0 })[0]!, /^A run failed: 0 of 5 rounds/);
});

const model: Model = buildModel(example());
const tried: Verification = {
  change: 0,
  promised: { share: 0.3, low: 0.25, high: 0.35 },
  gain: { share: 0.25, low: 0.2, high: 0.3 },
  verdict: 'verified',
};
const withIt: Model = {
  ...model,
  experiment: whole,
  findings: model.findings.map((finding, k) => (k === 0 ? { ...finding, verifications: [tried] } : finding)),
};

test('a report has it after the findings, and a verified finding says so', (t) => {
  t.true(model.findings.length > 0);
  const text = report(withIt, 'procedures', { width: 100, colour: false, ascii: true, top: 5 }).replace(/\s+/g, ' ');
  const saved = 'with OMP_NUM_THREADS=2 the program takes 25.0 % (95 % interval 20.0 to 30.0 %) less time';
  t.true(text.includes(` Verified by experiment: ${saved}; promised: 30.0 % (25.0 to 35.0 %).`), text);
  t.true(text.indexOf('What limits this program') < text.indexOf('Measured by experiment'));
  t.notRegex(report(model, 'procedures', { width: 100, colour: false, ascii: true, top: 5 }), /xperiment/);
});

test('JSON has all of it, as the schema says', (t) => {
  const interference: Interference = {
    by: 'fewer-threads',
    cause: 'memory',
    procedures: [{ entity: 1, name: 'triad', beforeNs: 2, afterNs: 1 }],
    variable: '',
    sharedCores: null,
  };
  const slowed = { ...whole, changes: whole.changes.map((one) => ({ ...one, interference })) };
  for (const one of [withIt, { ...withIt, experiment: slowed }, model]) {
    const json = JSON.parse([...reportJson(one, '0.1.0')].join('')) as {
      experiment?: { sentences: string[]; runs: object[] };
      findings: { verifications?: object[] }[];
    };
    t.true(validate(json), JSON.stringify(validate.errors, null, 1));
    const its = one === model ? undefined : one;
    t.is(json.experiment?.runs.length, its?.experiment?.runs.length);
    t.deepEqual(json.findings[0]?.verifications, its === undefined ? undefined : [tried]);
  }
});
