/**
 * Damaged profiles: however a finished file was damaged, in storage or in transit, it is refused with one line, and
 * `check` says what is wrong. Every case changes at least one byte; the seed is fixed.
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { record, sampler, start, until, openModel } from '../../support/record.js';
import { root } from '../../support/root.js';
import { damageOf, isProfileError, openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { directory, program, quartz, run } from '../../support/run-quartz.js';

const copies = 350;
const layered = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);
const home = directory();

/** Numbers from 0 to n - 1, the same ones in each run (xorshift). */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

type Below = (n: number) => number;
const pageBytes = 4096;
const damages: [string, (good: Buffer, below: Below, other: Buffer) => Buffer][] = [
  [
    'bits turned',
    (good, below) => {
      const bad = Buffer.from(good);
      for (let k = below(4); k >= 0; k--) bad[below(bad.length)]! ^= 1 << below(8);
      return bad;
    },
  ],
  ['cut', (good, below) => good.subarray(0, below(good.length))],
  [
    'a page of zeros',
    (good, below) => {
      const at = below(Math.ceil(good.length / pageBytes)) * pageBytes;
      return Buffer.from(good).fill(0, at, Math.min(at + pageBytes, good.length));
    },
  ],
  [
    'two blocks swapped',
    (good, below) => {
      const bad = Buffer.from(good);
      const blocks = Math.floor(good.length / 512);
      const [a, b] = [below(blocks) * 512, below(blocks) * 512];
      good.copy(bad, a, b, b + 512);
      good.copy(bad, b, a, a + 512);
      return bad;
    },
  ],
  [
    'the head of another',
    (good, below, other) => {
      const bad = Buffer.from(good);
      other.copy(bad, 0, 0, 8 + below(Math.min(8192, other.length, good.length) - 8));
      return bad;
    },
  ],
  [
    'the tail of another',
    (good, below, other) => Buffer.concat([good.subarray(0, below(good.length)), other.subarray(below(other.length))]),
  ],
  ['more at the end', (good, below) => Buffer.concat([good, Buffer.alloc(1 + below(100))])],
  [
    'a byte lost',
    (good, below) => {
      const at = below(good.length);
      return Buffer.concat([good.subarray(0, at), good.subarray(at + 1)]);
    },
  ],
];

/** A recording whose sampler is killed. */
async function unfinished(): Promise<string> {
  const file = join(home, 'unfinished.quartz');
  const started = start(sampler, ['record', '-q', '-o', file, '--rate', '1000', '--', program('endless')], {
    QUARTZ_PROCESSORS: '4',
  });
  let pid = 0;
  await until('it has snapshots', () => {
    try {
      const { head } = openProfile(file, { symbolize: false });
      pid = head.pid;
      return head.snapshots > 100;
    } catch {
      return false;
    }
  });
  started.child.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  await started.ended;
  return file;
}

const profiles: [string, () => Promise<string>][] = [
  ['hooks', async () => (await record(program('serial_then_parallel'), { processors: 4 })).file],
  ['locks', async () => (await record(program('nested_locks'), { processors: 4 })).file],
  ['plain pthreads', async () => (await record(layered('lock'))).file],
];
const good: Buffer[] = [];
let open: Buffer;

test.before(async () => {
  for (const [, make] of profiles) good.push(readFileSync(await make()));
  open = readFileSync(await unfinished());
});

for (const [index, [name]] of profiles.entries()) {
  test.serial(`${name}: ${copies} damaged copies, none is shown, none passes`, (t) => {
    const below = numbers(index + 1);
    const original = good[index]!;
    const file = join(home, 'bad.quartz');
    const shown: string[] = [];
    writeFileSync(file, original);
    t.deepEqual(damageOf(file), { fault: 'none', clauses: [] });
    for (let k = 0, made = 0; made < copies; k++) {
      const [what, damage] = damages[k % damages.length]!;
      const other = [...good, open][(index + 1 + below(profiles.length)) % (profiles.length + 1)]!;
      const bad = damage(original, below, other);
      if (bad.equals(original)) continue;
      made++;
      writeFileSync(file, bad);
      if (damageOf(file).fault === 'none') shown.push(`${k} passes: ${what}`);
      try {
        openProfile(file);
        shown.push(`${k} is shown: ${what}`);
      } catch (error) {
        if (!isProfileError(error) || !/^it .|^its ./.test(error.why)) throw error;
      }
    }
    t.deepEqual(shown, []);
  });
}

test.serial('check says all that is wrong, report one line; the documented status', async (t) => {
  const file = join(home, 'twice.quartz');
  const bad = Buffer.from(good[0]!);
  bad[bad.length - 200]! ^= 1;
  bad[bad.readUInt32LE(12) + 8]! ^= 1; // the first section, of strings, follows the head
  writeFileSync(file, bad);
  const check = await quartz(['check', file]);
  t.is(check.status, 125);
  const lines = check.stderr.trimEnd().split('\n');
  t.true(lines.length >= 2, check.stderr);
  for (const line of lines) t.regex(line, /^quartz: .*twice\.quartz: its section of [a-z ]+ is damaged; /);
  const report = await quartz(['report', file]);
  t.deepEqual([report.status, report.stdout], [125, '']);
  t.is(report.stderr, `${lines[0]!}\n`);
});

test.serial('of an earlier format: one line says so', async (t) => {
  const file = join(home, 'earlier.quartz');
  const old = Buffer.from(good[0]!);
  old.writeUInt32LE(10, 8);
  writeFileSync(file, old);
  for (const name of ['report', 'check']) {
    const { status, stderr } = await quartz([name, file]);
    t.is(status, 125);
    t.regex(
      stderr,
      /^quartz: .*another version of Quartz \(format 10, this one reads \d+ to \d+\); read it with the Quartz that recorded it, or record again\n$/,
    );
  }
});

test.serial('not finished: shown, with a word that nothing vouches for it; no holes', async (t) => {
  const file = join(home, 'unfinished.quartz');
  const { stdout, status } = await quartz(['report', '--ascii', '--width', '400', file]);
  t.is(status, 0);
  t.regex(stdout, /the sampler died: complete up to its last\s+snapshot, without checksums/);
  const check = await quartz(['check', file]);
  t.is(check.status, 0, check.stderr);
  t.regex(check.stdout, /; it was not finished, so it has no checksums\n$/);
  const { size } = statSync(file);
  t.true(size < 1e6, `${size} bytes`);
});

test.serial('copied, packed and cut by tools: the copy is the profile, or is refused', async (t) => {
  const cwd = directory();
  writeFileSync(join(cwd, 'a.quartz'), good[1]!);
  mkdirSync(join(cwd, 'out'));
  t.is(
    (
      await run(
        'sh',
        [
          '-c',
          'cp a.quartz out/cp.quartz && tar czf a.tgz a.quartz && tar xzf a.tgz -C out && dd if=a.quartz ' +
            'of=out/dd.quartz conv=sparse 2>/dev/null',
        ],
        { cwd },
      )
    ).status,
    0,
  );
  for (const name of readdirSync(join(cwd, 'out'))) {
    t.true(readFileSync(join(cwd, 'out', name)).equals(good[1]!), name);
    openModel(join(cwd, 'out', name));
  }
  copyFileSync(join(cwd, 'a.quartz'), join(cwd, 'half.quartz'));
  truncateSync(join(cwd, 'half.quartz'), good[1]!.length - 1);
  t.regex(
    (await quartz(['report', 'half.quartz'], { cwd })).stderr,
    /^quartz: half\.quartz: it is cut short, or damaged at its end; copy it again/,
  );
});
