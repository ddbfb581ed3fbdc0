/**
 * The format of callgrind_annotate, KCachegrind and QCachegrind (Callgrind Format Specification, version 1): self costs
 * of procedures, and costs of calls between pairs of them. The number of calls is 1 if calls were not counted:
 * callgrind_annotate adds the cost of 0 calls to the caller's own.
 */
import { defined, item } from '../model/index.js';
import type { Model } from '../model/index.js';
import { wholeNumbers, type Frame, type WeightedStacks } from './weighted-stacks.js';

interface Call {
  callee: number;
  costs: number[];
}
interface Costs {
  self: number[];
  calls: Map<number, Call>;
}

/** A recursive call, which occurs twice on a path, is counted once. */
function sumUp(stacks: WeightedStacks): { all: Map<number, Costs>; total: number[] } {
  const columns = stacks.types.map((_, at) => wholeNumbers(stacks.samples.map(({ values }) => values[at] ?? 0)));
  const all = new Map<number, Costs>();
  const zero = (): number[] => stacks.types.map(() => 0);
  const of = (frame: number): Costs => {
    let its = all.get(frame);
    if (its === undefined) all.set(frame, (its = { self: zero(), calls: new Map() }));
    return its;
  };
  const total = zero();
  stacks.samples.forEach(({ frames }, at) => {
    const add = (sum: number[]): void => {
      columns.forEach((column, k) => {
        sum[k] = (sum[k] ?? 0) + (column[at] ?? 0);
      });
    };
    add(total);
    add(of(defined(frames.at(-1))).self);
    const seen = new Set<Call>();
    for (let k = 1; k < frames.length; k++) {
      const { calls } = of(item(frames, k - 1));
      const callee = item(frames, k);
      let call = calls.get(callee);
      if (call === undefined) calls.set(callee, (call = { callee, costs: zero() }));
      if (seen.has(call)) continue;
      seen.add(call);
      add(call.costs);
    }
  });
  return { all, total };
}

export function* callgrind(model: Model, stacks: WeightedStacks): Iterable<string> {
  const { all, total } = sumUp(stacks);
  const counts = new Map<number, Map<number, number>>();
  for (const { id, callees } of model.entities)
    counts.set(id, new Map(callees.map(({ entity, count }) => [entity, count])));
  yield '# callgrind format\nversion: 1\ncreator: quartz\npositions: line\n';
  yield `cmd: ${oneLine(`${model.program} ${model.head.arguments}`.trim())}\n`;
  for (const { name, title, unit } of stacks.types)
    yield `event: ${name} : ${title}${unit === 'nanoseconds' ? ', ns' : ''}\n`;
  yield `events: ${stacks.types.map(({ name }) => name).join(' ')}\nsummary: ${total.join(' ')}\n\n`;
  const named = new Names();
  for (const [frame, { self, calls }] of all) {
    const its = item(stacks.frames, frame);
    yield `${named.of('ob', its.module)}${named.of('fl', its.file)}${named.of('fn', nameOf(stacks.frames, frame))}`;
    yield `${its.line} ${self.join(' ')}\n`;
    for (const { callee, costs } of calls.values()) {
      const called = item(stacks.frames, callee);
      yield (
        named.of('cob', called.module) + named.of('cfi', called.file) + named.of('cfn', nameOf(stacks.frames, callee))
      );
      const calls = Math.max(1, counts.get(frame)?.get(callee) ?? 0);
      yield `calls=${calls} ${called.line}\n${its.line} ${costs.join(' ')}\n`;
    }
    yield '\n';
  }
  yield `totals: ${total.join(' ')}\n`;
}

const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ');
const nameOf = (frames: readonly Frame[], frame: number): string => oneLine(item(frames, frame).name);

/** Name compression: "fn=(1) name" at first use, then "fn=(1)". Callers and callees share the numbers. */
class Names {
  private readonly known = new Map<string, number>();
  of(key: 'ob' | 'fl' | 'fn' | 'cob' | 'cfi' | 'cfn', name: string): string {
    const kind = key.slice(-2).replace('fi', 'fl');
    const text = name === '' ? '???' : oneLine(name);
    const id = this.known.get(`${kind} ${text}`);
    if (id !== undefined) return `${key}=(${id})\n`;
    this.known.set(`${kind} ${text}`, this.known.size + 1);
    return `${key}=(${this.known.size}) ${text}\n`;
  }
}
