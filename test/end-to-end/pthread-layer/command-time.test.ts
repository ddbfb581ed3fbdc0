/** How long the command takes beside the program that it starts: whoever times the command measures that, too. */
import test from 'ava';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';

test('a command takes as long as its program, its start, and what it takes besides, at least', async (t) => {
  const file = temporaryFile('profile.quartz'),
    begun = process.hrtime.bigint();
  const { status } = await start(sampler, ['record', '-q', '-o', file, '--', 'sleep', '0.1']).ended;
  const tookNs = Number(process.hrtime.bigint() - begun);
  t.is(status, 0);
  const { elapsedNs, slowdown } = openModel(file);
  t.true(slowdown.commandNs > 0);
  t.true(
    elapsedNs + slowdown.startNs + slowdown.commandNs <= tookNs,
    `${elapsedNs} + ${slowdown.startNs} + ${slowdown.commandNs} of ${tookNs} ns`,
  );
});

test('no command took time for what the program starts', async (t) => {
  const directory = temporaryFile('profiles/');
  const { status } = await start(sampler, [
    'record',
    '-q',
    '--children',
    '-o',
    directory,
    '--',
    'sh',
    '-c',
    'sleep 0.1; :',
  ]).ended;
  t.is(status, 0);
  const took = (name: RegExp): number =>
    openModel(
      join(
        directory,
        readdirSync(directory).find((file) => name.test(file))!,
      ),
    ).slowdown.commandNs;
  t.is(took(/^sleep-\d+\.quartz$/), 0);
  t.true(took(/^sh\.quartz$/) > 0);
});
