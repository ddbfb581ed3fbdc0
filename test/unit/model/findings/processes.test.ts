/** Time for creating processes, and for data that is passed between them. */
import test from 'ava';
import { buildModel, type Model, type RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, run } from '../../../support/profile-builder.js';

const second = 1e9;
const sentence = (model: Model): string => {
  const { text, remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  return `${text} ${remedy}`;
};

/** It forks for half of the time, waits for a child for 0.4 of it, and works for the rest. */
function forks(head: Partial<RawProfile['head']>): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', ...head } });
  builder.describe('fork', { origin: 'runtime', purposes: Purpose.processMaking });
  builder.describe('wait4', { origin: 'runtime', purposes: Purpose.children });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.05 * second, [inKernel('thread', 'main', ['main', 'start_one', 'fork'])])
      .stretch(0.04 * second, [io('main', ['main', 'start_one', 'wait4'])])
      .stretch(0.01 * second, [run('main', ['main', 'parse'])]);
  return buildModel(builder.build());
}

test('processes that do little but begin and end: one finding, with the waits for them', (t) => {
  const model = forks({ processesStarted: 100, childrenRunNs: 0.4 * second });
  const [finding, ...others] = model.findings;
  t.deepEqual([finding?.name, ms(finding!.costNs), ms(finding!.savingNs)], ['start_one', 900, 810]);
  const { started, eachNs, ownNs, waitedNs, copies, leastNs } = factsOf(finding, 'process-starts');
  t.deepEqual([started, ms(eachNs!), ms(ownNs), ms(waitedNs), copies, ms(leastNs)], [100, 4, 500, 400, true, 450]);
  t.regex(sentence(model), /Starting 100 processes, in start_one/);
  t.false(others.some(({ name, facts }) => name === 'start_one' || facts.form === 'io'));
});

test('one process in place of many that do little: all that making and awaiting them takes goes, but for one', (t) => {
  const oneOf = (head: Partial<RawProfile['head']>): number | null => {
    const starts = forks(head).findings.find(({ facts }) => facts.form === 'process-starts');
    return factsOf(starts, 'process-starts').oneNs;
  };
  t.is(ms(oneOf({ processesStarted: 100, childrenRunNs: 0.4 * second })!), 891); // 0.99 of 900 ms
  t.is(oneOf({ processesStarted: 10, childrenRunNs: 1.2 * second }), null, 'each has work of its own');
});

test('children that work for long are waited for; making them costs what it costs', (t) => {
  for (const head of [{ processesStarted: 10, childrenRunNs: 1.2 * second }, { childrenRunNs: 0.4 * second }]) {
    const model = forks(head);
    const starts = model.findings.find(({ facts }) => facts.form === 'process-starts');
    t.deepEqual([ms(starts!.costNs), ms(factsOf(starts, 'process-starts').waitedNs)], [500, 0]);
    t.true(model.findings.some(({ facts }) => facts.form === 'io' && facts.waits === 'children'));
  }
});

/** It forks for a quarter of the time, has page faults in its own code for a quarter, and computes for the rest. */
function faults(head: Partial<RawProfile['head']>, mappingNs = 0): Model {
  const pages = 10_000;
  const builder = new Builder({
    processors: 2,
    head: {
      publisher: 'pthread',
      usageKnown: true,
      usageNs: second,
      residentBytes: pages * 4096,
      minorFaults: 20 * pages,
      ...head,
    },
  });
  builder.describe('fork', { origin: 'runtime', purposes: Purpose.processMaking });
  builder.describe('posix_spawn', { origin: 'runtime', purposes: Purpose.processMaking | Purpose.children });
  const made = head.childrenRunNs === 1 ? 'posix_spawn' : 'fork';
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.025 * second, [inKernel('thread', 'main', ['main', 'start_one', made])])
      .stretch(0.025 * second - mappingNs / 10, [inKernel('fault', 'main', ['main', 'parse', 'store'])])
      .stretch(mappingNs / 10, [inKernel('memory', 'main', ['main', 'parse', 'store'])])
      .stretch(0.05 * second, [run('main', ['main', 'compute'])]);
  return buildModel(builder.build());
}

test('page faults by writing to pages that fork has shared are a part of starting processes', (t) => {
  const { findings } = faults({ processesStarted: 100 });
  const starts = findings.find(({ facts }) => facts.form === 'process-starts');
  const { ownNs, faultNs, waitedNs } = factsOf(starts, 'process-starts');
  t.deepEqual([ms(starts!.costNs), ms(ownNs), ms(faultNs), ms(waitedNs)], [500, 250, 250, 0]);
  t.false(findings.some(({ kind }) => kind === 'kernel'));
  t.regex(
    findingSentences(faults({ processesStarted: 100 }), starts!, { ascii: true }).text,
    /250 ms copying the pages/,
  );
});

test('page faults that fork does not explain are of the program itself', (t) => {
  const others = [
    faults({ processesStarted: 10 }), // twice as many as it has pages to copy
    faults({ processesStarted: 100, minorFaults: 15_000 }), // memory that is new
    faults({ processesStarted: 100 }, 0.1 * second), // it maps memory all the time
    faults({ processesStarted: 100, childrenRunNs: 1 }), // posix_spawn copies no pages
  ];
  for (const { findings } of others) {
    const starts = findings.find(({ facts }) => facts.form === 'process-starts');
    t.deepEqual([ms(starts!.costNs), factsOf(starts, 'process-starts').faultNs], [250, 0]);
  }
});

/** Half of the time is spent in a library that serializes data. */
function pickles(head: Partial<RawProfile['head']>, purposes: number = Purpose.serialization): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', ...head } });
  builder.describe('_Pickler_dump', { purposes });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.03 * second, [run('main', ['main', 'put', '_Pickler_dump', 'save_list'])])
      .stretch(0.02 * second, [run('main', ['main', 'put', '_Pickler_dump', 'save_list', 'save_float'])])
      .stretch(0.05 * second, [run('main', ['main', 'compute'])]);
  return buildModel(builder.build());
}

test('data that is turned into bytes for other processes is one finding', (t) => {
  const model = pickles({ relatedMilli: 900 });
  const finding = model.findings.find(({ facts }) => facts.form === 'serialization');
  t.deepEqual([finding?.name, ms(finding!.costNs)], ['_Pickler_dump', 500]);
  t.is(Math.round(100 * factsOf(finding, 'serialization').share), 50);
  t.false(model.findings.some(({ name }) => name.startsWith('save_') || name === 'put'));
});

test('what a run-time compiles while the program runs is one finding, by its procedures or its threads', (t) => {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.03 * second, [run('main', ['main', 'compute']), run('C2 CompilerThre', ['start', 'libjvm'])])
      .stretch(0.02 * second, [run('main', ['main', 'CompileBroker::wait_for_completion', 'emit'])])
      .stretch(0.05 * second, [run('main', ['main', 'compute'])]);
  const model = buildModel(builder.build());
  const finding = model.findings.find(({ facts }) => facts.form === 'compilation');
  t.is(ms(finding!.costNs), 350); // 300 / 2 + 200
  t.is(Math.round(1000 * factsOf(finding, 'compilation').share), 385); // 500 of 1,300
  t.false(model.findings.some(({ name }) => name === 'emit' || name === 'libjvm'));
});

test('without other processes bytes are work like any other', (t) => {
  t.false(pickles({}).findings.some(({ facts }) => facts.form === 'serialization'));
  const clones = pickles({}, Purpose.serialization | Purpose.cloning).findings.find(
    ({ facts }) => facts.form === 'serialization',
  );
  t.deepEqual([factsOf(clones, 'serialization').between, ms(clones!.costNs)], ['threads', 500]);
});
