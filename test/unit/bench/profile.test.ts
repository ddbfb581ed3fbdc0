/** A figure counts only if the profile of its run is correct. */
import { copyFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { examine } from '../../../bench/harness/profile.js';
import { temporaryFile, start, sampler } from '../../support/record.js';
import { root } from '../../support/root.js';

async function recorded(): Promise<string> {
  const file = temporaryFile('counts.quartz');
  const { status, stderr } = await start(sampler, [
    'record',
    '-q',
    '-o',
    file,
    '--',
    join(root, 'build/test/known-answers/threadlib-programs/counts'),
  ]).ended;
  if (status !== 0) throw new Error(stderr);
  return file;
}

test('a profile that adds up and has the known counts is good, another count is reported', async (t) => {
  const file = await recorded();
  await t.notThrowsAsync(examine(file, []));
  await t.throwsAsync(examine(file, [{ name: 'main', calls: 12345 }]), {
    message: /^its profile counts \d+ calls of main, there were 12345$/,
  });
});

test('a profile that is broken is no good', async (t) => {
  const cut = temporaryFile('cut.quartz');
  copyFileSync(await recorded(), cut);
  truncateSync(cut, 600);
  await t.throwsAsync(examine(cut, []), { message: /^its profile does not add up: / });
});
