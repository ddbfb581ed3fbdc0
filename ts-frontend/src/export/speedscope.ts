/** The file format of speedscope (https://www.speedscope.app/file-format-schema.json): one profile per value type. */
import { item } from '../model/index.js';
import type { WeightedStacks } from './weighted-stacks.js';

export function* speedscope(name: string, all: readonly WeightedStacks[]): Iterable<string> {
  const frames = item(all, 0).frames; // all profiles share the model's list of frames
  const profiles = all.flatMap((stacks) =>
    stacks.types.map((type, at) => {
      const samples = stacks.samples.filter(({ values }) => (values[at] ?? 0) > 0);
      const weights = samples.map(({ values }) => item(values, at));
      return {
        type: 'sampled',
        name: `${stacks.title}: ${type.title}`,
        unit: type.unit === 'count' ? 'none' : type.unit,
        startValue: 0,
        endValue: weights.reduce((sum, weight) => sum + weight, 0),
        samples: samples.map((sample) => sample.frames),
        weights,
      };
    }),
  );
  yield JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'quartz',
    name,
    activeProfileIndex: 0,
    shared: {
      frames: frames.map(({ name: called, file, line }) => ({
        name: called,
        ...(file === '' ? {} : { file }),
        ...(line === 0 ? {} : { line }),
      })),
    },
    profiles: profiles.filter(({ samples }, at) => at === 0 || samples.length > 0),
  });
  yield '\n';
}
