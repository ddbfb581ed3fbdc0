/** The contents of the npm package: everything that an installed quartz opens, and nothing that has to be built. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';
import { directory, program, run } from '../../support/run-quartz.js';

test('npm pack: prebuilt, without sources and tests', (t) => {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  t.is(status, 0, stderr);
  const [{ files, name }] = JSON.parse(stdout) as [{ name: string; files: { path: string }[] }];
  const paths = new Set(files.map(({ path }) => path));
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { quartz: string } };
  t.is(name, 'quartz-profiler');
  for (const path of [
    bin.quartz,
    'ts-frontend/bin/restore-terminal',
    'build/quartz_addon.node',
    'build/sampler/quartz-sampler',
    'build/mpi-layer/libquartz-mpi.so',
    'build/pthread-layer/libquartz-pthread.so',
    'build/threadlib/libquartz.a',
    'threadlib/include/quartz/quartz.h',
    'scripts/quartz-flags',
    'dist/page/main.js',
    'dist/page/page.css',
    'dist/quartz/main.js',
  ])
    t.true(paths.has(path), path);
  t.deepEqual(
    [...paths].filter((path) => /\.(ts|c|map)$|CMakeLists|^dist\/test|^test\//.test(path)),
    [],
  );
});

test('what is compiled is found in the package for this machine; without it one line says so', async (t) => {
  const modules = join(directory(), 'node_modules');
  const own = join(modules, 'quartz-profiler');
  for (const part of ['package.json', 'dist/quartz', 'ts-frontend/bin', 'scripts/quartz-flags', 'threadlib/include'])
    cpSync(join(root, part), join(own, part), { recursive: true });
  mkdirSync(join(own, 'node_modules'));
  for (const each of Object.keys(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }).dependencies,
  ).filter((name) => !name.startsWith('@')))
    symlinkSync(join(root, 'node_modules', each), join(own, 'node_modules', each));
  const quartz = join(own, 'ts-frontend/bin/quartz');
  const profile = join(directory(), 'prog.quartz');
  const alone = await run(quartz, ['run', '-o', profile, '--', program('serial_then_parallel')], {
    env: { PATH: '/usr/bin:/bin' + `:${join(process.execPath, '..')}` },
  });
  t.is(alone.status, 125);
  t.regex(alone.stderr, /^quartz: the sampler is not installed; install Quartz's package for linux-\w+, too [^\n]+\n$/);
  for (const place of [modules, join(own, 'node_modules')]) {
    const compiled = join(place, '@quartz-profiler', `linux-${process.arch}`);
    mkdirSync(compiled, { recursive: true });
    symlinkSync(join(root, 'build'), join(compiled, 'build'));
    const recorded = await run(quartz, ['record', '-q', '-o', profile, '--', program('serial_then_parallel')]);
    t.deepEqual([recorded.status, recorded.stderr], [0, '']);
    const report = await run(quartz, ['report', profile]);
    t.deepEqual([report.status, report.stderr], [0, '']);
    t.regex(report.stdout, /What limits this program/);
    const libs = await run(quartz, ['libs']);
    t.true(libs.stdout.includes(join(compiled, 'build/threadlib/libquartz.a')), libs.stdout);
    rmSync(join(place, '@quartz-profiler'), { recursive: true });
  }
});

test('optional symbols that glibc has since 2.35 or later ask for no version: 2.34 is enough', async (t) => {
  for (const library of [
    'pthread-layer/libquartz-pthread.so',
    'mpi-layer/libquartz-mpi.so',
    'threadlib/libquartz.so',
  ]) {
    const { status, stdout, stderr } = await run('nm', ['-D', join(root, 'build', library)]);
    t.is(status, 0, stderr);
    const optional = stdout.matchAll(/^ +[vw] (\S+)@GLIBC_2\.(\d+)/gm);
    const newer = [...optional].filter(([, , minor]) => Number(minor) > 34).map(([, name]) => name);
    t.deepEqual(newer, [], library);
  }
});
