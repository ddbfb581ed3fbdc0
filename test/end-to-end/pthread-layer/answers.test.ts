/** A read is a wait for a reply if it is of a socket: what another process answers. */
import test from 'ava';
import { skip } from '../../support/capabilities.js';
import { factsOf, findingOf } from '../../support/facts.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

for (const [by, expected] of [
  ['socket', 'replies'],
  ['pipe', 'device'],
] as const)
  test(`answers that are read from a ${by}`, async (t) => {
    const file = temporaryFile('profile.quartz');
    const command = [sampler, 'record', '-q', '-o', file, '--', program('answers'), by];
    const { status, stderr } = await start(command[0]!, command.slice(1)).ended;
    t.is(status, 0, stderr);
    const model = openModel(file);
    if (model.head.paths.noCalls) {
      skip(t, 'in which calls threads sleep may not be read here');
      return;
    }
    t.deepEqual([model.head.readsSockets, model.head.readsElsewhere], [by === 'socket', by === 'pipe']);
    const finding = findingOf(model, 'io');
    t.is(factsOf(finding, 'io').waits, expected);
    if (by === 'socket') t.is(model.findings[0], finding);
  });
