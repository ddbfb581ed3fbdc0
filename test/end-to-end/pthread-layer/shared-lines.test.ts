/** Cache lines that threads write alternately, found by the registers of samples: with their variables and words. */
import type { ExecutionContext } from 'ava';
import { sharingByProcedure, type Model } from '../../../ts-frontend/src/model/index.js';
import { needing, skip } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { hadCpus, program, unsampled } from './helpers.js';

async function counting(t: ExecutionContext, way: string): Promise<Model | undefined> {
  const { model, status, stderr } = await record(program('shared_line'), { args: [way] });
  t.is(status, 0, stderr);
  const why = unsampled(model) ?? (process.arch === 'x64' ? undefined : 'samples have no general registers here');
  if (why === undefined) return model;
  skip(t, why);
  return undefined;
}
/** Threads that seldom run at the same time do not share a line. */
async function together(t: ExecutionContext, way: string): Promise<Model | undefined> {
  const model = await counting(t, way);
  if (!model || hadCpus(model)) return model;
  skip(t, 'other programs had the CPUs');
  return undefined;
}
const waysOf = (model: Model): [string, string][] =>
  [...sharingByProcedure(model).values()].map(({ how, variable }) => [how, variable]);
const test = needing('perf_event_open', 'process_vm_readv');

test('two threads count in words of one line: false sharing, with the words of each', async (t) => {
  const model = await together(t, 'together');
  if (!model) return;
  const line = model.raw.sharedLines.find(({ variable }) => variable === 'together')!;
  t.deepEqual(
    line.by.map(({ written }) => written).sort((a, b) => a - b),
    [0b0011, 0b1100],
  );
  t.deepEqual(waysOf(model), [['words-apart', 'together']]);
});

test('in lines of their own: nothing is shared', async (t) => {
  const model = await counting(t, 'apart');
  if (model) t.deepEqual(waysOf(model), []);
});

test('in one word by atomic operations', async (t) => {
  const model = await together(t, 'common');
  if (model) t.deepEqual(waysOf(model), [['changed', 'common']]);
});

test('in words of one line that a lock protects: the line has to move', async (t) => {
  const model = await counting(t, 'guarded');
  if (model) t.deepEqual(waysOf(model), []);
});
