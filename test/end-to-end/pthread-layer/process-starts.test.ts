/**
 * Processes that a program starts: their number, the cost of creating them, and whether they do more than begin and
 * end.
 */
import test, { type ExecutionContext } from 'ava';
import type { Finding, Model } from '../../../ts-frontend/src/model/index.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { skip } from '../../support/capabilities.js';
import { program, unsampled } from './helpers.js';

interface Recorded {
  model: Model;
  started: number;
  makingMs: number;
  unseen: string | undefined; // why they are not counted here
}

async function recordCase(t: ExecutionContext, what: string): Promise<Recorded> {
  const file = temporaryFile('profile.quartz');
  const ended = await start(sampler, [
    ...['record', '-q', '--no-follow', '-o', file],
    ...['--', program('process_starts'), what],
  ]).ended;
  t.is(ended.status, 0, ended.stderr);
  const [started = NaN, makingMs = NaN] = ended.stdout.trim().split(' ').map(Number);
  const model = openModel(file);
  const { signals, kernel } = model.head.paths;
  const unseen =
    signals || !kernel ? 'the kernel refuses the events that count processes (perf_event_open)' : unsampled(model);
  return { model, started, makingMs, unseen };
}

/** The last ones may have been created after the last reading. */
const areCounted = (t: ExecutionContext, { head }: Model, started: number): boolean =>
  t.true(
    head.processesStarted <= started && head.processesStarted >= 0.95 * started,
    `${head.processesStarted} of ${started}`,
  );

/** Findings about the program itself. Beside other programs it waits for a CPU, anywhere: findings that say so. */
const ours = ({ findings }: Model): Finding[] => findings.filter(({ othersMayCause }) => !othersMayCause);

const startsOf = ({ findings }: Model): Finding | undefined =>
  findings.find(({ facts }) => facts.form === 'process-starts');

test.serial('copies of a large process: fork is the cost, with its remedy', async (t) => {
  const { model, started, makingMs, unseen } = await recordCase(t, 'copies');
  if (unseen !== undefined) {
    skip(t, unseen);
    return;
  }
  areCounted(t, model, started);
  const finding = startsOf(model);
  t.is(finding?.name, 'copy_once');
  t.is(finding, ours(model)[0]);
  t.like(finding?.facts, { form: 'process-starts', copies: true });
  if (finding?.facts.form !== 'process-starts') return;
  // by samples, compared with the program's own clock
  t.true(finding.facts.ownNs >= 0.6 * makingMs * 1e6, `${finding.facts.ownNs} ns, of ${makingMs} ms`);
  t.false(ours(model).some(({ name, kind }) => name === 'copy_once' && kind === 'serial'));
});

test.serial('programs that do nothing: starting them is the cost, the waits for them included', async (t) => {
  const { model, started, unseen } = await recordCase(t, 'short');
  if (unseen !== undefined) {
    skip(t, unseen);
    return;
  }
  areCounted(t, model, started);
  const [finding] = ours(model);
  // Both posix_spawn and wait4 wait for the child, however long it has no CPU.
  t.is(finding?.name, 'spawn_once');
  t.like(finding?.facts, { form: 'process-starts', copies: false });
  if (finding?.facts.form !== 'process-starts') return;
  t.is(model.entities[finding.facts.called ?? 0]?.name, 'posix_spawn');
  t.true(finding.facts.waitedNs > 0);
  t.false(model.findings.some(({ facts }) => facts.form === 'io'));
});

test.serial('a child that works is what is waited for', async (t) => {
  const { model } = await recordCase(t, 'long');
  t.is(startsOf(model), undefined);
  const [first] = ours(model);
  if (first) t.like(first.facts, { form: 'io', waits: 'children' });
});
