/** What npm puts into a package: all that an installed quartz opens, and nothing to be built. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';

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
