/** Programs that wait for their child processes, in whatever calls. P = 2. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import type { RawHead } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms } from '../../../support/facts.js';
import { io, ProfileBuilder as Builder, run } from '../../../support/profile-builder.js';

const second = 1e9;
const sentence = (model: Model): string => {
  const { text, remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  return `${text} ${remedy}`;
};

/** A shell that reads the output of its children. */
function shell(childrenRunNs: number, processesStarted = 0): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', childrenRunNs, processesStarted } });
  builder
    .describe('read', { origin: 'runtime' })
    .stretch(0.1 * second, [run('main', ['main', 'parse'])])
    .stretch(0.9 * second, [io('main', ['main', 'expand', 'read'])]);
  return buildModel(builder.build());
}

test('who reads what children write waits for children, and needs fewer of them', (t) => {
  const model = shell(0.85 * second);
  const { waits, childrenNs, several } = factsOf(model.findings[0], 'io');
  t.deepEqual([waits, ms(childrenNs!), ms(model.findings[0]!.savingNs)], ['children', 850, 850]);
  t.is(ms(several!.savesNs), 450); // two at a time, of processes that had one of two CPUs
  t.is(ms(factsOf(shell(1.7 * second).findings[0], 'io').several!.savesNs), 50); // they had nearly both
  t.regex(sentence(model), /waits for child processes \(read\).*start fewer/);
  t.not(
    factsOf(
      shell(0.1 * second).findings.find(({ kind }) => kind === 'io'),
      'io',
    ).waits,
    'children',
  );
});

test('who reads what a single child writes is advised to ask for more at a time, not to start fewer', (t) => {
  const asks = shell(0.85 * second, 1);
  t.true(factsOf(asks.findings[0], 'io').answers);
  t.regex(sentence(asks), /send the next ones before the answer to the first has come/);
  t.notRegex(sentence(asks), /start fewer/);
  t.regex(sentence(shell(0.85 * second, 2)), /start fewer/);
});

test('who writes to a pipe that children empty waits for them; who flushes to a disk does not', (t) => {
  const writes = (call: string, purposes: number, head: Partial<RawHead> = {}): string => {
    const builder = new Builder({
      processors: 2,
      head: { publisher: 'pthread', childrenRunNs: 0.85 * second, ...head },
    });
    builder
      .describe(call, { origin: 'runtime', purposes })
      .stretch(0.1 * second, [run('main', ['main', 'sort'])])
      .stretch(0.9 * second, [io('main', ['main', 'spill', call])]);
    return factsOf(buildModel(builder.build()).findings[0], 'io').waits;
  };
  t.is(writes('fwrite_unlocked', Purpose.decided), 'children');
  const device = Purpose.decided | Purpose.device;
  t.is(writes('fdatasync', device), 'device');
  t.is(writes('write', device), 'device', 'perhaps of a file');
  t.is(writes('write', device, { writesPipes: true }), 'children');
  t.is(writes('write', device, { writesPipes: true, writesElsewhere: true }), 'device', 'of which, nobody knows');
  t.is(writes('write', device, { writesPipes: true, childrenRunNs: 0.5 * second }), 'device', 'they ran too little');
});

/** A program that reads by `poll` or `select` what its children write, or waits for something else by it. */
function polls(head: Partial<RawHead>): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', socketsSeen: true, ...head } });
  builder
    .describe('select', { origin: 'runtime', purposes: Purpose.decided | Purpose.requests })
    .stretch(0.1 * second, [run('main', ['main', 'parse'])])
    .stretch(0.9 * second, [io('main', ['main', 'check', 'select'])]);
  return buildModel(builder.build());
}
const pollsFor = (head: Partial<RawHead>): unknown => {
  const { facts } = polls(head).findings[0]!;
  return facts.form === 'io' ? facts.waits : facts.form;
};

test('who waits for events while children run waits for these, unless others may be the cause', (t) => {
  const children = { childrenRunNs: 0.6 * second, processesStarted: 10 };
  t.is(pollsFor(children), 'children');
  t.regex(sentence(polls(children)), /waits for child processes \(select\)/);
  t.regex(sentence(polls(children)), /10 processes, 60.0 ms each.*--tree and --children/);
  t.notRegex(sentence(polls(children)), /timer/);
  t.is(pollsFor({ ...children, connectedLocally: true }), 'children', 'a pair of sockets, perhaps');
  t.is(pollsFor({ ...children, connected: true }), 'replies');
  t.not(pollsFor({ ...children, socketsSeen: false }), 'children');
  t.is(pollsFor({ childrenRunNs: 0.6 * second, processesStarted: 200 }), 'process-starts', 'each does little');
});

test('children that other programs keep from the CPUs, as this one, run for longer than they take', (t) => {
  const children = { childrenRunNs: 0.2 * second, processesStarted: 5, cpuRunNs: 0.1 * second };
  t.is(pollsFor({ ...children, cpuWaitNs: 0.02 * second }), 'events');
  t.is(pollsFor({ ...children, cpuWaitNs: 0.3 * second }), 'children');
});

test('where children take little, what waits for events may wait for them: that comes before a timer', (t) => {
  const few = polls({ childrenRunNs: 0.03 * second, processesStarted: 3 });
  t.like(factsOf(few.findings[0], 'io'), { waits: 'events', started: 3, childrenNs: 0.03 * second });
  t.regex(
    sentence(few),
    /or 3 child processes \(30.0 ms of processor time\) end these.*its child processes.*If it is a timer/,
  );
  t.notRegex(sentence(polls({})), /If it waits for what its child processes/);
});
