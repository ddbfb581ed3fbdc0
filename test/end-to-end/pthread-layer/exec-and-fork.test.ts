/** Programs that execute or start other programs: the same under Quartz as without, and the recording of each. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import test from 'ava';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program, compare, profiled } from './compared.js';

test.serial('fork: what a library locks in the child counts for the child alone', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { status, stdout, stderr } = await start(
    sampler,
    ['record', '-q', '-o', file, '--', program('process_environment'), 'at_fork'],
    { LD_PRELOAD: program('at_fork.so') },
  ).ended;
  t.deepEqual([status, stderr], [0, '']);
  t.regex(stdout, /the child's handler: its own number/);
  const lock = openModel(file).entities.find(({ name }) => name.includes('at_fork_lock'));
  t.is(lock?.object?.acquisitions, 7, 'of the parent: 3 before the fork, 4 after it');
});

test.serial(
  'exec: the file is of what the process ran last, and what ran before is kept aside where it was seen',
  async (t) => {
    const nice = await compare(t, ['nice', '-n', '0', program('stripped')]);
    t.is(openModel(nice.file).head.endReason, 'exit');
    t.true(openModel(nice.file).entities.some(({ name }) => name.includes('stripped')));
    const twice = await compare(t, [program('process_ends'), 'exec']);
    t.regex(twice.lines[0]!, /the program that the process ran before/);
    const stem = basename(twice.file, '.quartz');
    const aside = readdirSync(dirname(twice.file)).filter((name) => name.startsWith(`${stem}-`));
    t.is(aside.length, 1);
    t.is(openModel(join(dirname(twice.file), aside[0]!)).head.endReason, 'exec');
    t.is(openModel(twice.file).head.exitStatus, 5);
    const gone = await compare(t, ['sh', '-c', `sleep 0.05; exec ${program('static')}`]);
    if (existsSync(gone.file)) t.true(openModel(gone.file).head.outside, 'a profile of the shell alone is none of it');
    else t.regex(gone.lines.join('\n'), /no profile of the program .* last \(exec\): .*statically linked/);
  },
);

test.serial('exec: of a shell that was there for a moment nothing is kept, and nothing said', async (t) => {
  const compared = await compare(t, ['sh', '-c', `sleep 0.05; exec sh -c "sleep 0.05; exec ${program('stripped')}"`]);
  profiled(t, compared);
  const stem = basename(compared.file, '.quartz');
  t.deepEqual(
    readdirSync(dirname(compared.file)).filter((name) => name.startsWith(`${stem}-`)),
    [],
  );
});

test.serial('a script that does not name its interpreter is recorded as a shell', async (t) => {
  const script = temporaryFile('script');
  writeFileSync(script, `exec ${program('stripped')}\n`, { mode: 0o755 });
  profiled(t, await compare(t, ['sh', '-c', `exec ${script}`]));
  const file = temporaryFile('profile.quartz');
  const { status, stderr } = await start(sampler, ['record', '-q', '-o', file, '--', script]).ended;
  t.deepEqual([status, stderr], [(await start(program('stripped'), []).ended).status, '']);
  openModel(file);
});

test.serial('child processes, recorded: those that the layer fits, and the others as they would', async (t) => {
  const { file } = await compare(
    t,
    ['sh', '-c', `${program('address')}; ${program('static')}; ${program('stripped')}; exit 3`],
    ['--children'],
  );
  t.is(openModel(file).head.exitStatus, 3);
  const stem = basename(file, '.quartz');
  const others = readdirSync(dirname(file)).filter((name) => name.startsWith(`${stem}-`));
  t.true(
    others.some((name) =>
      openModel(join(dirname(file), name)).entities.some(
        (entity) => entity.name === 'crew_lock' || entity.name.includes('stripped'),
      ),
    ),
    others.join(' '),
  );
});

test.serial('child processes that are not recorded: their processor time is known', async (t) => {
  const { file } = await compare(t, ['sh', '-c', `${program('spin')}; ${program('spin')}; exit 3`], ['--no-follow']);
  const { head } = openModel(file);
  t.false(head.childrenApart);
  t.true(head.childrenRunNs > head.cpuRunNs, `${head.childrenRunNs} ns, ${head.cpuRunNs} ns`);
});

test.serial('child processes of a process that its own parent waits for: their processor time is known', async (t) => {
  const inner = `${program('spin')}; ${program('spin')}; exit 0`;
  const { file } = await compare(t, ['sh', '-c', `bash -c '${inner}'; exit 3`], ['--children']);
  const stem = basename(file, '.quartz');
  const shell = readdirSync(dirname(file))
    .filter((name) => name.startsWith(`${stem}-`))
    .map((name) => openModel(join(dirname(file), name)).head)
    .find((head) => head.arguments.startsWith('bash -c'));
  const { childrenRunNs, cpuRunNs } = shell!;
  t.true(childrenRunNs > cpuRunNs, `${childrenRunNs} ns, ${cpuRunNs} ns`);
});

test.serial(
  'many child processes at once, recorded: each profile ends when its program did, however many others are being ' +
    'finished',
  async (t) => {
    const { file } = await compare(
      t,
      ['sh', '-c', 'for k in 1 2 3 4 5 6 7 8; do sh -c "sleep 0.5; exit $k" & done; wait'],
      ['--children'],
    );
    const stem = basename(file, '.quartz');
    const children = readdirSync(dirname(file))
      .filter((name) => name.startsWith(`${stem}-`))
      .map((name) => openModel(join(dirname(file), name)));
    t.true(children.length >= 8);
    t.deepEqual(
      children.filter(({ head }) => head.endReason !== 'exit').map(({ head }) => head.endReason),
      [],
    );
    for (const { head, root, elapsedNs } of children)
      t.true(
        root.processorTimeNs <= elapsedNs / 2,
        `${head.arguments}: ${root.processorTimeNs} ns of ${elapsedNs} it only slept, or was over`,
      );
  },
);
