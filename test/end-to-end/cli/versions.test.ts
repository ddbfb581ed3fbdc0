/** Parts of Quartz that are of different versions: one line says so, and nothing waits for what never comes. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing } from '../../support/capabilities.js';
import { sampler } from '../../support/record.js';
import { root } from '../../support/root.js';
import { directory, program, run, type Said } from '../../support/run-quartz.js';

const mostMs = 120_000;

/** Quartz, installed in a directory of its own, with one part of the build replaced. */
function installed(part: string, put: (path: string) => void): string {
  const place = directory();
  for (const each of ['package.json', 'dist/quartz', 'ts-frontend/bin', 'CMakeLists.txt'])
    cpSync(join(root, each), join(place, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  const folders = part.split('/');
  for (let depth = 0; depth < folders.length; depth++) {
    const folder = join('build', ...folders.slice(0, depth));
    mkdirSync(join(place, folder));
    for (const name of readdirSync(join(root, folder)))
      if (name !== folders[depth]) symlinkSync(join(root, folder, name), join(place, folder, name));
  }
  put(join(place, 'build', part));
  return join(place, 'ts-frontend/bin/quartz');
}

/** `quartz top` in a terminal; what it says. */
const top = (quartz: string): Promise<Said> =>
  run('timeout', ['-k', '5', String(mostMs / 1000), 'script', '-qefc', `${quartz} top -- sleep 1000`, '/dev/null'], {
    cwd: directory(),
    env: { TERM: 'xterm' },
  });

needing('terminal')('a sampler whose profiles the front end cannot read: the live screen says so', async (t) => {
  const file = join(directory(), 'newer.quartz');
  const recorded = await run(sampler, ['record', '-q', '-o', file, '--', program('serial_then_parallel')]);
  t.is(recorded.status, 0, recorded.stderr);
  const bytes = readFileSync(file);
  bytes.writeUInt32LE(9999, 8);
  writeFileSync(file, bytes);
  const quartz = installed('sampler/quartz-sampler', (path) => {
    writeFileSync(path, `#!/bin/sh\necho "${file}" >&"$3"\nexec sleep 1000\n`);
    chmodSync(path, 0o755);
  });
  const { status, stdout } = await top(quartz);
  t.is(status, 125, stdout);
  t.regex(
    stdout.trim(),
    /^quartz: what \S+\/quartz-sampler records cannot be shown: it was written by another version of Quartz \(format 9999, [^\n]+\); build Quartz again [^\n]+$/,
  );
});

needing('terminal')('a reader of profiles that cannot be loaded: the live screen says so', async (t) => {
  const quartz = installed('quartz_addon.node', (path) => {
    writeFileSync(path, 'of another machine');
  });
  const { status, stdout } = await top(quartz);
  t.is(status, 125, stdout);
  t.regex(stdout.trim(), /^quartz: [^\n]*quartz_addon\.node[^\n]*$/);
});
