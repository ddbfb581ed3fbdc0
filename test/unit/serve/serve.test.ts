/**
 * The responses of quartz serve, from profiles made by hand: windows over files, sums that only grow, bounded labels.
 */
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { Profile } from 'pprof-format';
import { buildModel, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import { addressOf, isLoopback, written } from '../../../ts-frontend/src/serve/address.js';
import { Answers, type Answer } from '../../../ts-frontend/src/serve/answers.js';
import { exposition } from '../../../ts-frontend/src/serve/exposition.js';
import { Source } from '../../../ts-frontend/src/serve/source.js';
import { other, Totals } from '../../../ts-frontend/src/serve/totals.js';
import { ProfileBuilder, run, wait } from '../../support/profile-builder.js';

const ms = 1e6;
const never = new AbortController().signal;

test('addresses: a port, one of the loopback interface, a socket; others are refused', (t) => {
  t.deepEqual(addressOf('9464'), { host: '127.0.0.1', port: 9464 });
  t.deepEqual(addressOf('localhost:0'), { host: '127.0.0.1', port: 0 });
  t.deepEqual(addressOf('[::1]:80'), { host: '::1', port: 80 });
  t.deepEqual(addressOf('unix:q.sock'), { path: 'q.sock' });
  t.deepEqual(addressOf('/run/q.sock'), { path: '/run/q.sock' });
  for (const text of ['', 'x', '65536', '1:2:3', 'unix:', '-1']) t.is(addressOf(text), null, text);
  for (const text of ['0.0.0.0:80', ':80', 'example.org:80', '[::]:80', '127.0.0.1.example.org:80'])
    t.throws(() => addressOf(text), { instanceOf: RangeError }, text);
  t.is(written({ host: '::1', port: 80 }), 'http://[::1]:80/');
  t.false(isLoopback('127.evil.org'));
});

test('exposition: names, help and labels are escaped', (t) => {
  const text = exposition([
    { name: 'q', type: 'gauge', help: 'a\\b\nc', samples: [{ labels: { of: 'x"y\\z\nw' }, value: 1.5 }, { value: 2 }] },
  ]);
  t.is(text, '# HELP q a\\\\b\\nc\n# TYPE q gauge\nq{of="x\\"y\\\\z\\nw"} 1.5\nq 2\n');
});

/** Reads of one recording: `ms` of it, alternately ten of `alone` and ten of two threads. */
const recording = (periods: number, firstNs = 1): RawProfile => {
  const builder = new ProfileBuilder({ processors: 2, head: { pid: 7, firstNs, startedRealtimeNs: 1e18 } });
  for (let k = 0; k < periods; k++)
    builder
      .stretch(10 * ms, [run('main', ['main', 'alone'])])
      .stretch(10 * ms, [run('a', ['part']), run('b', ['part']), wait('main', ['main', 'join:part'])]);
  return builder.build();
};

class Files {
  readonly all = new Map<string, RawProfile>();
  readonly source = new Source((file) => this.all.get(file) ?? null);
  ended = new AbortController();
  up = true;
  readonly answers = new Answers(
    this.source,
    () => ({ version: '1', up: this.up, cpuSeconds: 0, residentBytes: 0, profileBytes: 0, profiles: 1 }),
    this.ended.signal,
  );
  async get(path: string): Promise<Answer> {
    return (await this.answers.to(new URL(path, 'http://localhost'), never))!;
  }
  async metrics(): Promise<Map<string, number>> {
    const rows = String((await this.get('/metrics')).body)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(rows.map((line) => [line.replace(/ [^ ]*$/, ''), Number(line.split(' ').at(-1))]));
  }
}

test('metrics: sums go on from file to file, and each part of a file counts once', async (t) => {
  const files = new Files();
  t.is((await files.metrics()).get('quartz_recorded_seconds_total'), 0);
  for (const [name, periods, firstNs, wanted] of [
    ['one', 5, 1, 0.1],
    ['one', 10, 1, 0.2],
    ['two', 5, 2, 0.3],
    ['renamed', 6, 2, 0.32],
  ] as const) {
    files.all.set(name, recording(periods, firstNs));
    if (files.source.file !== name) files.source.follow(name);
    const metrics = await files.metrics();
    t.is(metrics.get('quartz_recorded_seconds_total'), wanted, name);
    t.is(metrics.get('quartz_busy_seconds_total{processors="one"}'), wanted / 2);
    t.is(metrics.get('quartz_busy_seconds_total{processors="all"}'), wanted / 2);
    t.is(metrics.get('quartz_npt_seconds_total{entity="alone"}'), wanted / 2);
    t.is(metrics.get('quartz_npt_seconds_total{entity="part"}'), wanted / 2);
    t.is(metrics.get('quartz_processor_seconds_total{state="idle"}'), wanted / 2);
    t.is(metrics.get('quartz_thread_seconds_total{state="blocked"}'), wanted / 2);
  }
});

test('a window over two files is what happened in both since it was opened', async (t) => {
  const files = new Files();
  files.all.set('one', recording(5));
  files.source.follow('one');
  const answer = files.get('/debug/pprof/npt?seconds=60');
  files.all.set('one', recording(7)); // 40 ms more
  files.all.set('two', recording(3, 2)); // 60 ms
  files.source.follow('two');
  files.ended.abort();
  const { status, body } = await answer;
  t.is(status, 200);
  const profile = Profile.decode(gunzipSync(body));
  t.is(Number(profile.durationNanos), 100 * ms);
  t.is(Number(profile.timeNanos), 1e18 + 100 * ms);
  const sum = profile.sample.reduce((all, { value }) => all + Number(value[0]), 0);
  t.is(sum, 100 * ms);
});

test('what is not there, what is asked wrongly, and health', async (t) => {
  const files = new Files();
  files.source.follow('none');
  for (const [path, status, said] of [
    ['/', 200, /\/metrics/],
    ['/health', 200, /recording/],
    ['/nothing', 404, /no \/nothing/],
    ['/debug/pprof/npt?seconds=0', 400, /seconds wants/],
    ['/debug/pprof/npt?seconds=1e3', 400, /at most 3600/],
    ['/debug/pprof/npt?seconds=-1', 400, /not -1/],
    ['/debug/pprof/npt?seconds=0.01', 503, /no snapshot/],
  ] as const) {
    const answer = await files.get(path);
    t.is(answer.status, status, path);
    t.regex(String(answer.body), said);
  }
  const open = Array.from({ length: 8 }, () => files.get('/debug/pprof/npt'));
  t.is((await files.get('/debug/pprof/npt')).status, 503);
  files.ended.abort();
  await Promise.all(open);
  files.up = false;
  t.is((await files.get('/health')).status, 503);
  t.is((await files.get('/debug/pprof/npt')).status, 503);
});

test('labels are bounded: who comes later, or takes too little, is other; nothing is lost', (t) => {
  const totals = new Totals();
  for (let round = 0; round < 4; round++) {
    const builder = new ProfileBuilder({ processors: 1 });
    for (let k = 0; k < 30; k++) builder.stretch(ms * (k + 1), [run('t', [`p${round}-${k}`])]);
    totals.add(buildModel(builder.build(), { compensate: false }));
  }
  t.is(totals.code.sums.size, 21);
  t.is(
    [...totals.code.sums.values()].reduce((sum, ns) => sum + ns, 0),
    totals.elapsedNs,
  );
  t.true(totals.code.sums.has('p0-29') && totals.code.sums.get(other)! > 0);
});
