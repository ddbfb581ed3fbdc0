/** Opening profiles: a real one, foreign and damaged ones. */
import test from 'ava';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildModel,
  checkInvariants,
  findEntities,
  type RawEntity,
  type RawProfile,
} from '../../../ts-frontend/src/model/index.js';
import { fitting, isProfileError, loadAddon, openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { temporaryDirectory } from '../../support/temporary.js';

const root = join(import.meta.dirname, '../../../..');
const folder = temporaryDirectory();
const good = join(folder, 'good.quartz');

test.before(() => {
  execFileSync(
    join(root, 'build/sampler/quartz-sampler'),
    ['record', '-q', '-o', good, '--', join(root, 'build/test/known-answers/threadlib-programs/serial_then_parallel')],
    { env: { ...process.env, QUARTZ_PROCESSORS: '4' }, stdio: 'ignore', timeout: 300_000 },
  );
});

test('an addon of another build is refused, with what to do', (t) => {
  const addon = loadAddon();
  t.is(fitting(addon, 'addon.node'), addon);
  const refused = { message: /^addon\.node is of another build of Quartz .*: build again, or install Quartz anew$/ };
  t.throws(
    () => fitting({ ...addon, mark: addon.mark.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }, 'addon.node'),
    refused,
  );
  t.throws(
    () => fitting({ ...addon, mark: undefined as unknown as string }, 'addon.node'),
    refused,
    'from before there were marks',
  );
});

test('a real profile: columns of equal length, names, files and lines, and a model that holds', (t) => {
  const raw = openProfile(good);
  t.is(raw.head.status, 'complete');
  t.is(raw.head.processors, 4);
  t.true(
    raw.tuples.ns instanceof Float64Array &&
      raw.tuples.state instanceof Uint8Array &&
      raw.tuples.busy instanceof Uint16Array,
  );
  for (const column of Object.values(raw.tuples)) t.is(column.length, raw.tuples.ns.length);
  const model = buildModel(raw);
  t.deepEqual(checkInvariants(model), []);
  const a = model.entities[findEntities(model, 'a')[0]!]!;
  t.regex(a.file, /serial_then_parallel\.c$/);
  t.true(a.line > 0);
  t.is(a.calls, 1);
});

test('a growing profile read on from an earlier read is the same as one read afresh', async (t) => {
  const path = join(folder, 'growing.quartz');
  spawn(
    join(root, 'build/sampler/quartz-sampler'),
    ['record', '-q', '-o', path, '--', join(root, 'build/test/known-answers/threadlib-programs/endless')],
    { env: { ...process.env, QUARTZ_PROCESSORS: '4' }, stdio: 'ignore' },
  );
  const grown = async (snapshots: number): Promise<RawProfile> => {
    for (let waited = 0; waited < 300_000; waited += 20) {
      try {
        const raw = openProfile(path);
        if (raw.head.snapshots > snapshots && raw.calls.count.length > 0) return raw;
      } catch (error) {
        if (!isProfileError(error)) throw error; // it is being made
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    throw new Error('nothing was recorded');
  };
  const earlier = await grown(0);
  t.teardown(() => {
    process.kill(earlier.head.pid, 'SIGKILL');
  });
  const anew = await grown(earlier.head.snapshots + 100);
  const on = openProfile(path, { after: earlier });
  const n = anew.entities.length;
  t.true(on.head.snapshots >= anew.head.snapshots && on.entities.length >= n);
  // it may have more by now
  const lasting = ({ instances, ...rest }: RawEntity): object => ({ ...rest, any: instances > 0 });
  t.deepEqual(on.entities.slice(0, n).map(lasting), anew.entities.map(lasting));
  t.deepEqual(on.calls.caller.slice(0, anew.calls.caller.length), anew.calls.caller);
  t.deepEqual(
    openProfile(good, { after: earlier }).entities,
    openProfile(good).entities,
    'another recording: all of it',
  );
});

test('tuples by stack are those of the file, those of one stack in its order', (t) => {
  const rows = ({ tuples }: RawProfile): number[][] =>
    Array.from(tuples.ns, (_, k) => Object.values(tuples).map((column) => column[k]!));
  const byFile = openProfile(good),
    byStack = openProfile(good, { byStack: true });
  t.true(byFile.tuples.ns.length > 1);
  t.deepEqual(
    rows(byStack),
    rows(byFile)
      .map((row, k) => ({ row, k, stack: byFile.tuples.stack[k]! }))
      .sort((a, b) => a.stack - b.stack || a.k - b.k)
      .map(({ row }) => row),
  );
  t.deepEqual({ ...byStack, strings: null, tuples: null }, { ...byFile, strings: null, tuples: null });
});

const reject = (name: string, bytes: Uint8Array): Error => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  try {
    openProfile(path);
  } catch (error) {
    if (isProfileError(error)) return error;
    throw error;
  }
  throw new Error(`${name} was taken for a profile`);
};

test('missing, foreign, cut and newer files are refused with a reason', (t) => {
  const missing = t.throws(() => openProfile(join(folder, 'none.quartz')));
  t.true(isProfileError(missing));
  t.regex(missing.message, /none\.quartz: it can't be read|No such file/);
  t.regex(
    reject('text', Buffer.from('not a profile, but long enough to be looked at'.repeat(50))).message,
    /not a Quartz profile/,
  );
  t.regex(reject('empty', new Uint8Array()).message, /not a Quartz profile/);
  const bytes = readFileSync(good);
  t.regex(reject('cut', bytes.subarray(0, bytes.length / 2)).message, /cut short|does not fit/);
  const newer = Buffer.from(bytes);
  newer.writeUInt32LE(99, 8);
  t.regex(reject('newer', newer).message, /another version of Quartz \(format 99/);
  t.throws(() => openProfile(folder), { message: /not a file/ });
});

test('damaged files give an error or numbers that the model can stand, never a crash', (t) => {
  const bytes = readFileSync(good);
  let seed = 99;
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  let refused = 0;
  for (let round = 0; round < 300; round++) {
    const copy = Buffer.from(bytes);
    for (let k = 0; k < 1 + (round % 20); k++) copy[random(round % 2 === 0 ? copy.length : 1200)] = random(256);
    const path = join(folder, 'damaged');
    writeFileSync(path, copy);
    try {
      const model = buildModel(openProfile(path, { byStack: round % 3 === 0 }));
      t.true(model.findings.length <= 3 && model.ranking.length < model.entities.length);
      for (const entity of model.entities) JSON.stringify([entity.states, entity.object, entity.callers, entity.ci95]);
    } catch (error) {
      if (!isProfileError(error)) throw error;
      refused++;
    }
  }
  t.true(refused > 50, `${refused} refused`);
});
