/** Profiles for the screen: a small one with every kind of entity in it, and large ones. */
import { ProfileBuilder, overhead, run, spin, wait } from '../../support/profile-builder.js';
import type { CodePiece, RawProfile } from '../../../ts-frontend/src/model/index.js';

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

/** The same with instructions of `inner`. */
export function withInstructions(raw: RawProfile): RawProfile {
  const inner = raw.entities.findIndex(({ name }) => name === 'inner');
  const entities = raw.entities.map((one, id) => (id === inner ? { ...one, address: 0x401000 } : one));
  return {
    ...raw,
    entities,
    modules: [{ start: 0x400000, end: 0x500000, bias: 0x400000, path: '/home/me/prog', buildId: '' }],
    instructions: {
      address: Float64Array.of(0x401008, 0x40100c, 0x401018),
      procedure: Uint32Array.of(inner, inner, inner),
      count: Float64Array.of(150, 40, 10),
      ns: Float64Array.of(150 * ms, 40 * ms, 0),
      nptPs: Float64Array.of(75e9, 20e9, 0),
      spinNs: Float64Array.of(0, 0, 10 * ms),
    },
  };
}
/** Its code. */
export const innerCode: CodePiece = {
  start: 0x401000,
  error: '',
  instructions: [
    'mov rax, rdi',
    'xor edx, edx',
    'div rsi',
    'add rcx, 0x1',
    'cmp rcx, r8',
    'jnz 0x1000',
    'cmp dword ptr [rip+0x2ee1], 0x0',
    'jz 0x1018',
  ].map((text, k) => ({
    address: 0x401000 + 4 * k,
    text,
    file: '/src/prog.c',
    line: k < 3 ? 12 : k < 6 ? 11 : 20,
    loops:
      k < 6
        ? [
            { address: 0x401000, file: '/src/prog.c', line: 11 },
            { address: 0x400ff0, file: '/src/prog.c', line: 9 },
          ]
        : [{ address: 0x401018, file: '', line: 0 }],
    polls: k >= 6,
  })),
};

/** `processors` processors, each with a thread of its own; each of `procedures` procedures runs once. */
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
