/** Folded stacks, "outer;inner 1234" per line, as read by flamegraph.pl, inferno and others; weights are elapsed ns. */
import { addTo, item } from '../model/index.js';
import { wholeNumbers, type WeightedStacks } from './weighted-stacks.js';

export function* folded({ frames, samples }: WeightedStacks): Iterable<string> {
  const sums = new Map<string, number>();
  const names = frames.map(({ name }) => name.replaceAll(';', ':').replace(/[\r\n]/g, ' '));
  for (const sample of samples) {
    const line = sample.frames.map((frame) => item(names, frame)).join(';');
    addTo(sums, line, sample.values[0] ?? 0);
  }
  const lines = [...sums.keys()];
  const numbers = wholeNumbers(sums.values());
  for (const [at, line] of lines.entries()) if (item(numbers, at) > 0) yield `${line} ${item(numbers, at)}\n`;
}
