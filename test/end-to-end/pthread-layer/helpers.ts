/** Queries that tests of plain pthread programs make of their profiles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { findEntities, independentSnapshots, type Entity, type Model } from '../../../ts-frontend/src/model/index.js';
import { root } from '../../support/root.js';

export { hadCpus, skipsWithoutCpus } from '../../support/had-cpus.js';

export const program = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);

export const sourceOf = (name: string): string => join(root, 'test/end-to-end/pthread-layer/programs', name);

function lineWhere(source: string, is: (line: string) => boolean, what: string): number {
  const found = readFileSync(sourceOf(source), 'utf8').split('\n').findIndex(is);
  if (found < 0) throw new Error(`no line of ${source} has "${what}"`);
  return found + 1;
}
/** The number of the first line of a program's source that contains this text. */
export const lineOf = (source: string, text: string): number => lineWhere(source, (line) => line.includes(text), text);
/** The number of the line that ends with this comment. */
export const lineOfComment = (source: string, comment: string): number =>
  lineWhere(source, (line) => line.trimEnd().endsWith(`// ${comment}`), comment);

export function object(model: Model, name: string): Entity & { object: NonNullable<Entity['object']> } {
  const entity = findEntities(model, name)
    .map((id) => model.entities[id]!)
    .find((each) => each.object !== null);
  if (!entity?.object)
    throw new Error(`${name} is not there: ${model.entities.map((each) => `${each.kind} ${each.name}`).join(', ')}`);
  return entity as Entity & { object: NonNullable<Entity['object']> };
}
/**
 * Whether sampled and exact time agree; for one thread at a time, within four standard errors more if a busy machine
 * let the sampler run only seldom, and within the time for which other programs kept threads from a CPU: one that waits
 * for it after it was woken, to take the time, waits no longer for the object.
 */
export function near(
  t: ExecutionContext,
  model: Model,
  what: string,
  sampledNs: number,
  exactNs: number,
  share = 0.25,
): void {
  const part = Math.min(1, exactNs / model.elapsedNs);
  const errorNs = 4 * model.elapsedNs * Math.sqrt((part * (1 - part)) / Math.max(1, independentSnapshots(model.head)));
  t.true(
    Math.abs(sampledNs - exactNs) <= share * exactNs + 20e6 + errorNs + model.cpuWait.othersNs,
    `${what}: ${sampledNs / 1e6} ms sampled, ${exactNs / 1e6} ms exact, standard error ${errorNs / 4e6} ms, ` +
      `others had the CPUs for ${model.cpuWait.othersNs / 1e6} ms`,
  );
}

/** Processor time for which a sample stands: 2 ms, or more where taking one costs much, or the machine is loaded. */
export const sampleNs = ({ root: { processorTimeNs, states }, head }: Model): number =>
  (processorTimeNs + states.spinning.ns) / Math.max(1, head.cpuUseSamples);

/** Independent observations of that much processor time, at least 1: no more than snapshots and samples. */
export const observationsOf = (model: Model, ns: number): number =>
  Math.max(1, Math.min(model.samples, ns / sampleNs(model)));

/**
 * Time that threads wait for the object, blocked, spinning or without a CPU; the threads that hold it may also lack a
 * CPU.
 */
export const waitingFor = (model: Model, { id }: Entity): number => {
  const { tuples, stacks } = model.raw;
  return tuples.ns.reduce(
    (sum, ns, k) => sum + (tuples.waiting[k]! !== 0 && stacks.entity[tuples.stack[k]!] === id ? ns : 0),
    0,
  );
};

/** Why a recording cannot show what running threads executed; undefined: it can. */
export function unsampled({ head: { paths } }: Model): string | undefined {
  if (paths.fewSamples) return 'the kernel gives few samples of running threads';
  return paths.noSamples || process.arch !== 'x64' ? 'samples of running threads are not allowed here' : undefined;
}

/** The program `paths` divides its work 30, 10 and 20 ms in each turn, and does nothing else on a CPU. */
export function dividesItsWork(t: ExecutionContext, model: Model, ran: (name: string) => number, within: number): void {
  const work = ran('fill') + ran('think') + ran('enter');
  t.true(work > 0.8 * model.root.processorTimeNs, `${work / 1e6} of ${model.root.processorTimeNs / 1e6} ms`);
  for (const [name, part] of [
    ['fill', 3 / 6],
    ['think', 1 / 6],
    ['enter', 2 / 6],
  ] as const)
    t.true(Math.abs(ran(name) / work - part) < within, `${name}: ${ran(name) / work}`);
}

export const onPath = ({ states }: Entity): number => Object.values(states).reduce((sum, { ns }) => sum + ns, 0);
