/**
 * Entry and exit of procedures that do nothing. Isolates the hook: the cost of a call in addition to that of the same
 * call without hooks.
 */
import { join } from 'node:path';
import type { Bench, Contender, Readings, RowPlan, Target, Trial } from '../harness/bench.js';
import { execute, readings, scratchDirectory } from '../harness/execute.js';
import { machine } from '../harness/machine.js';
import { peers, root } from '../harness/peers.js';
import { examined, recorded, type Known } from '../harness/profile.js';
import { build, fastest, gprof, hold, plain, quartzVariants, type Source } from '../harness/instrumentations.js';

// Otherwise fib is inlined, or made a loop, if it has no hooks. Aligned, because where the linker puts the procedures
// otherwise changes with the size of Quartz's library, and alone changes what a hook adds by a third.
const source: Source = {
  name: 'calls',
  files: [join(root, 'bench/programs/calls.c')],
  libraries: [],
  flags: ['-falign-functions=64', '-fno-inline', '-fno-optimize-sibling-calls', `-I${root}`],
};

/** Each call of these must be in the profile. */
const known = (of: Readings): Known[] => [
  { name: 'leaf', calls: of['leaf_calls'] ?? NaN },
  { name: 'fib', calls: of['fib_calls'] ?? NaN },
];

function trial(compiler: string): Trial {
  const variants = quartzVariants(compiler);
  const programs = new Map([plain, gprof, ...variants].map((one) => [one.name, build(source, { ...one, compiler })]));
  const program = (name: string): string => programs.get(name)!;
  const contender = (name: string, command: readonly string[], peer = false): Contender => ({
    name,
    peer,
    take: async () =>
      readings(
        (
          await execute(command[0]!, command.slice(1), {
            cwd: scratchDirectory(),
            env: { QUARTZ_PROCESSORS: '1' },
            seconds: 30,
          })
        ).stdout,
      ),
  });
  const missing = peers().find((one) => one.name === 'uftrace')?.missing;
  const traced = ['uftrace', 'record', '-d', join(scratchDirectory(), 'uftrace.data'), program('gprof')];
  const uftrace = { ...contender('uftrace', traced, true), ...(missing === undefined ? {} : { missing }) };
  const gcc = compiler === 'gcc';
  const targets: Target[] = [
    { ours: 'quartz', against: 'gprof', most: 0.45 },
    ...(gcc ? [{ ours: 'quartz', against: 'uftrace', most: 0.04 }] : []),
    { ours: fastest(variants), against: 'gprof', most: 0.25 },
    { ours: 'quartz off', against: 'quartz publishing', most: 0.5 },
  ];
  return {
    contenders: [
      contender('plain', [program('plain')]),
      ...variants.flatMap(({ name }) => [
        examined(contender(name, recorded(program(name))), known),
        contender(`${name} publishing`, [hold, program(name)]),
        contender(`${name} off`, [program(name)]),
      ]),
      contender('gprof', [program('gprof')], true),
      ...(gcc ? [uftrace] : []),
    ],
    rows: ['leaf', 'fib', 'tree'].map((reading): RowPlan => ({
      id: `hooks.${compiler}.${reading}`,
      what: `${reading}, ${compiler}: added for each call`,
      unit: 'ns',
      reading,
      targets,
      value: (of, one) => (one === 'plain' ? of(one) : of(one) - of('plain')),
    })),
  };
}

export const hooks: Bench = {
  name: 'hooks',
  title: 'Procedure hooks',
  isolates:
    'ns of CPU time that entry and exit of a procedure cost together beyond the same call without hooks: `leaf` a ' +
    'loop over ' +
    'an empty procedure, `fib` immediate recursion, ' +
    '`tree` three procedures that call each other. `quartz` is compiled with the flags that `quartz cflags` prints, ' +
    'publishes with exact call counts, and is sampled at the default rate; ' +
    '`publishing` is not sampled; `off` has no session. gprof counts calls by call site and samples the innermost ' +
    'procedure ' +
    'alone; uftrace writes each call down.',
  plan: () => ({ trials: [trial('gcc'), ...(machine().compilers['clang'] === undefined ? [] : [trial('clang')])] }),
};
