/** Profiles for the screen: a small one with every kind of thing in it, and large ones. */
import { ProfileBuilder, overhead, run, spin, wait } from '../../support/profile-builder.js';
import type { RawProfile } from '../../../ts-frontend/src/model/index.js';

const ms = 1e6;
/** 4 processors: setup alone, workers with a contended lock and a barrier that one of them spins at, an end alone. */
export function small(scale = 1): RawProfile {
  const stack = (...names: string[]): string[] => ['main', ...names];
  const raw = new ProfileBuilder({
    processors: 4,
    undecidedNs: 60 * ms * scale,
    head: { pid: 4711, program: '/home/me/prog', samplerCpuNs: 10 * ms * scale, status: 'recording', firstNs: 1 },
  })
    .describe('setup', { file: '/src/prog.c', line: 2 })
    .stretch(400 * ms * scale, [run('main', stack('setup'))])
    .stretch(300 * ms * scale, [
      run('worker 1', stack('work')),
      run('worker 2', stack('work')),
      run('worker 3', stack('work', 'mutex:table')),
      wait('worker 4', stack('work', 'mutex:table')),
      wait('main', stack('join:end')),
    ])
    .stretch(200 * ms * scale, [
      run('worker 1', stack('work', 'inner')),
      overhead('worker 2', stack('work')),
      spin('worker 3', stack('work', 'barrier:step')),
      wait('worker 4', stack('work', 'barrier:step')),
      wait('main', stack('join:end')),
    ])
    .stretch(100 * ms * scale, [run('main', stack('finish'))])
    .object('mutex:table', { acquisitions: 1000, contended: 40, waitMaxNs: 9 * ms })
    .call('main', 'setup', 1)
    .call('work', 'inner', 123_456)
    .onPath(400 * ms * scale, 'main', stack('setup'))
    .onPath(20 * ms * scale, 'worker 3', stack('work'), { state: 'ready', came: 'created' })
    .onPath(230 * ms * scale, 'worker 3', stack('work', 'mutex:table'))
    .onPath(50 * ms * scale, 'worker 1', stack('work'), { came: 'woken', by: 'mutex:table' })
    .onPath(80 * ms * scale, 'worker 1', stack('work', 'inner'), { inferred: true })
    .onPath(70 * ms * scale, 'worker 2', stack('work'), { state: 'overhead', came: 'woken', by: 'barrier:step' })
    .onPath(40 * ms * scale, 'worker 3', stack('work', 'barrier:step'), { state: 'spinning', came: 'own' })
    .onPath(10 * ms * scale, 'worker 3', stack('work'), { state: 'blocked', waitedFor: 'barrier:step' })
    .onPath(100 * ms * scale, 'main', stack('finish'), { came: 'joined' })
    .build();
  const share = (useful: number, over: number, spinning: number, idle: number): number[] =>
    [useful, over, spinning, idle].map((value) => value * ms * scale);
  const rows = [share(1000, 0, 0, 0), share(300, 200, 0, 500), share(300, 0, 200, 500), share(0, 0, 0, 1000)];
  const column = (k: number): Float64Array => Float64Array.from(rows, (row) => row[k]!);
  return {
    ...raw,
    processors: { usefulNs: column(0), overheadNs: column(1), spinningNs: column(2), idleNs: column(3) },
  };
}

/** `processors` processors, each with a thread of its own; of `procedures` procedures each runs once. */
export function large(processors: number, procedures: number): RawProfile {
  const builder = new ProfileBuilder({ processors });
  for (let k = 0; k < procedures; k++)
    builder.stretch(
      ms,
      Array.from({ length: Math.min(processors, 1 + (k % 3)) }, (_, p) => run(`t${p}`, ['main', `procedure_${k}`])),
    );
  const raw = builder.build();
  const whole = Float64Array.from({ length: processors }, (_, p) => (p % 4) * 1e9);
  return {
    ...raw,
    processors: {
      usefulNs: whole,
      overheadNs: whole.map(() => 0),
      spinningNs: whole.map((_, p) => (p === 7 ? 1e10 : 0)),
      idleNs: whole.map((ns) => 3e9 - ns),
    },
  };
}
