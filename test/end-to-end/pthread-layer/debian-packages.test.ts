/**
 * Programs that Debian packages, if they are installed: output and status are the same under Quartz; servers answer,
 * and their profiles are complete however they end. `scripts/setup.sh checks` installs the small ones.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { openModel, pause, sampler, start, temporaryFile } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';

const most = { maxBuffer: 1 << 27 };

let line = 1;
const text = temporaryFile('text');
writeFileSync(
  text,
  Array.from({ length: 60_000 }, () => `${(line = (line * 48271) % 2147483647)} and some words that come again\n`).join(
    '',
  ),
);

const packers: [string, string[], string[]][] = [
  ['pigz', ['-p', '4', '-n', '-c', '-b', '128'], ['-d', '-c']],
  ['pbzip2', ['-p4', '-b1', '-c', '-q'], ['-d', '-c', '-q']],
  ['xz', ['-T4', '--block-size=200KiB', '-1', '-c'], ['-d', '-T4', '-c']],
  ['zstd', ['-T4', '-q', '-c'], ['-d', '-q', '-c']],
];
for (const [tool, pack, unpack] of packers) {
  needing(`tool:${tool}`)(`${tool}: the same bytes, packed and unpacked`, async (t) => {
    const packed = temporaryFile('packed'),
      unpacked = temporaryFile('unpacked'),
      profile = temporaryFile('profile.quartz');
    const recorded = async (args: readonly string[], into: string): Promise<void> => {
      const ended = await start('sh', [
        '-c',
        'out=$1; shift; exec "$@" >"$out"',
        'sh',
        into,
        sampler,
        'record',
        '-q',
        '-o',
        profile,
        '--',
        tool,
        ...args,
      ]).ended;
      t.is(ended.status, 0, ended.stderr);
      t.is(ended.stderr, '');
      openModel(profile);
    };
    await recorded([...pack, text], packed);
    t.true(execFileSync('cat', [packed], most).equals(execFileSync(tool, [...pack, text], most)), 'packed as without');
    await recorded([...unpack, packed], unpacked);
    t.true(execFileSync('cat', [unpacked], most).equals(execFileSync('cat', [text], most)), 'unpacked again');
    const missing = ['-d', '-c', '/nowhere/at/all'],
      [plain, under] = [
        await start(tool, missing).ended,
        await start(sampler, ['record', '-q', '-o', profile, '--', tool, ...missing]).ended,
      ];
    t.deepEqual(
      [under.status, under.stdout, under.stderr.replaceAll(/^quartz: .*\n/gm, '')],
      [plain.status, plain.stdout, plain.stderr],
    );
  });
}

const commands: [string, string[]][] = [
  ['sort', ['--parallel=4', '-S', '1M', text]],
  [
    'sqlite3',
    [
      ':memory:',
      'PRAGMA threads=4; CREATE TABLE t AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ' +
        '60000) ' +
        'SELECT k, k * 7919 % 60013 AS v FROM n; CREATE INDEX i ON t(v); SELECT count(*), sum(v), min(v) FROM t; ' +
        'SELECT no_such FROM t;',
    ],
  ],
  [
    'python3',
    [
      '-c',
      'import threading, queue\nq = queue.Queue(8); out = []\ndef take():\n  while (k := q.get()) is not None: ' +
        'out.append(k * k)\n' +
        'ts = [threading.Thread(target=take) for _ in range(4)]\n[t.start() for t in ts]\n[q.put(k) for k in ' +
        'range(5000)]\n[q.put(None) for _ in ts]\n[t.join() for t in ts]\nprint(sum(out)); raise SystemExit(3)',
    ],
  ],
];
for (const [tool, args] of commands) {
  needing(`tool:${tool}`)(`${tool}: the same output and status`, async (t) => {
    const profile = temporaryFile('profile.quartz');
    const plain = await start(tool, args).ended;
    const under = await start(sampler, ['record', '-q', '-o', profile, '--', tool, ...args]).ended;
    // Where the tool is a script that starts the real one, what was seen of the script may be kept, and that is said.
    const said = under.stderr.replace(
      /^quartz: the program that the process ran before \(exec\) is recorded .*\n/m,
      '',
    );
    t.deepEqual([under.status, under.stdout, said], [plain.status, plain.stdout, plain.stderr]);
    openModel(profile);
  });
}

/** A client: sends a request and waits for an answer of that many bytes, again and again. */
async function ask(socket: Socket, question: string, answer: string, times: number): Promise<number> {
  let right = 0;
  for (let k = 0; k < times; k++) {
    let heard = '';
    socket.write(question);
    while (heard.length < answer.length) heard += String(((await once(socket, 'data')) as [Buffer])[0]);
    right += Number(heard === answer);
  }
  return right;
}
async function reach(port: number): Promise<Socket> {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (tries > 10_000) throw error;
      await pause(20);
    }
  }
}
const user = process.getuid!() === 0 ? ['-u', 'nobody'] : [];
const servers: [string, (port: number) => string[], string, string][] = [
  [
    'memcached',
    (port) => ['-l', '127.0.0.1', '-p', String(port), '-t', '4', ...user],
    'set k 0 0 5\r\nvalue\r\nget k\r\n',
    'STORED\r\nVALUE k 0 5\r\nvalue\r\nEND\r\n',
  ],
  [
    'redis-server',
    (port) => ['--port', String(port), '--save', '', '--io-threads', '3'],
    'SET k value\r\nGET k\r\n',
    '+OK\r\n$5\r\nvalue\r\n',
  ],
];
let port = 20_000 + (process.pid % 20_000);
for (const [tool, args, question, answer] of servers) {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    needing(`tool:${tool}`)(`${tool} answers, and its profile is complete after ${signal}`, async (t) => {
      const profile = temporaryFile('profile.quartz'),
        own = ++port;
      const started = start(sampler, ['record', '-q', '-o', profile, '--', tool, ...args(own)]);
      const sockets = await Promise.all(Array.from({ length: 4 }, () => reach(own)));
      t.deepEqual(await Promise.all(sockets.map((socket) => ask(socket, question, answer, 300))), [300, 300, 300, 300]);
      process.kill(openModel(profile).head.pid, signal);
      const ended = await started.ended;
      for (const socket of sockets) socket.destroy();
      t.is(ended.status, signal === 'SIGKILL' ? 137 : 0, ended.stderr);
      const { head, entities } = openModel(profile);
      t.deepEqual([head.status, head.endReason], ['complete', signal === 'SIGKILL' ? 'signal' : 'exit']);
      t.true(entities.filter(({ kind }) => kind === 'thread').length > 1);
    });
  }
}
