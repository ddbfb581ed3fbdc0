/** quartz serve, as used by Prometheus, pprof and a user. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import test from 'ava';
import { lacking, needing } from '../../support/capabilities.js';
import { openModel } from '../../support/record.js';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

const home = directory();
const env = { ...process.env, QUARTZ_PROCESSORS: '4', LC_ALL: 'C.UTF-8' };

interface Served {
  child: ChildProcess;
  at: string; // without a slash at its end
  said: () => string;
  ended: Promise<number>;
}
/** Waits until a program is being recorded. */
async function serve(args: readonly string[], recording: (at: string) => Promise<boolean>): Promise<Served> {
  const child = spawn(command, ['serve', ...args], { cwd: home, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number);
  for (;;) {
    const at = /listening at (\S+?)\/?\n/.exec(said)?.[1];
    if (at !== undefined && (await recording(at))) return { child, at, said: () => said, ended };
    if (child.exitCode !== null) throw new Error(said);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const metric = (text: string, name: string): number =>
  Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);

/** A file of an earlier recording with that name: it is the oldest, so it is removed first. */
const earlier = 'served-20000101T000000Z.quartz';
let served: Served;
const get = async (path: string): Promise<string> => {
  const response = await fetch(`${served.at}${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.text();
};

/** Prometheus, which takes five seconds to start, while other tests run. */
let prometheus: ChildProcess | undefined;
let itSaid = '';
function startPrometheus(): void {
  const file = join(home, 'prometheus.yml');
  const target = served.at.replace('http://', '');
  writeFileSync(
    file,
    `scrape_configs: [{ job_name: q, scrape_interval: 500ms, static_configs: [{ targets: ['${target}'] }] }]\n`,
  );
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(home, 'tsdb')}`];
  prometheus = spawn('prometheus', [...args, '--web.listen-address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  prometheus.stderr?.setEncoding('utf8').on('data', (text: string) => {
    itSaid += text;
  });
}

test.before(async () => {
  writeFileSync(join(home, earlier), '');
  writeFileSync(join(home, 'served-notes.quartz'), '');
  const files = ['-o', 'served.quartz', '--rotate', '1', '--keep', '2'];
  served = await serve(['--listen', '0', '-q', ...files, '--', program('endless')], async (at) => {
    if (!(await fetch(`${at}/health`)).ok) return false;
    return metric(await (await fetch(`${at}/metrics`)).text(), 'quartz_snapshots_total') > 0;
  });
  if (lacking('tool:prometheus') === undefined) startPrometheus();
});
test.after.always(() => {
  prometheus?.kill('SIGKILL');
  served.child.kill('SIGKILL');
});

test.serial('metrics: they grow, and their sums hold', async (t) => {
  const sumOf = (text: string, name: string): number =>
    [...text.matchAll(new RegExp(`^${name}{.*} (\\S+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
  let before = 0;
  for (let k = 0; k < 3; k++) {
    const text = await get('/metrics');
    const recorded = metric(text, 'quartz_recorded_seconds_total');
    t.true(recorded > before);
    before = recorded;
    const near = (a: number, b: number): void => {
      t.true(Math.abs(a - b) < 1e-6 * b + 1e-6, `${a} ${b}`);
    };
    near(sumOf(text, 'quartz_processor_seconds_total'), metric(text, 'quartz_processors') * recorded);
    near(sumOf(text, 'quartz_busy_seconds_total'), recorded);
    near(
      sumOf(text, 'quartz_npt_seconds_total'),
      recorded - metric(text, 'quartz_busy_seconds_total{processors="none"}'),
    );
    t.true(metric(text, 'quartz_sampler_cpu_seconds_total') > 0);
    t.true(metric(text, 'quartz_serve_cpu_seconds_total') > 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

needing('tool:go')('go tool pprof fetches a window: what runs now, and for how long', async (t) => {
  const { status, stdout, stderr } = await run(
    'go',
    ['tool', 'pprof', '-top', '-unit=ns', `${served.at}/debug/pprof/npt?seconds=1`],
    { env: { HOME: home, PPROF_TMPDIR: home } },
  );
  t.is(status, 0, stderr);
  t.regex(stdout, / alone(\n|$)/m);
  t.regex(stdout, / together(\n|$)/m);
  t.regex(stdout, /Type: elapsed/);
});

test.serial('who asks by another name than that of this host, or wants to change something, is refused', async (t) => {
  const status = await new Promise((resolve) => {
    request(`${served.at}/metrics`, { headers: { host: 'example.org' } }, (got) => {
      resolve(got.statusCode);
      got.resume();
    }).end();
  });
  t.is(status, 403);
  t.is((await fetch(`${served.at}/metrics`, { method: 'POST' })).status, 405);
});

test.serial('mistakes are one line', async (t) => {
  const port = served.at.split(':').at(-1)!;
  for (const [args, code, said] of [
    [['--', 'true'], 2, /no address is given; write: --listen PORT/],
    [['--listen', '0.0.0.0:80', '--', 'true'], 2, /only the loopback interface/],
    [['--listen', port, '--', 'true'], 125, /is in use; choose another/],
    [['--listen', 'unix:gone/socket', '--', 'true'], 125, /there is no directory gone; create it/],
    [['--listen', `unix:${command}`, '--', 'true'], 125, /another file has that name; name another one/],
  ] as const) {
    const { status, stdout, stderr } = await quartz(['serve', ...args], { cwd: home });
    t.deepEqual([status, stdout], [code, ''], stderr);
    t.regex(stderr, said);
    t.regex(stderr, /^quartz: [^\n]+; [^\n]+\n$/);
  }
});

test.serial(
  'on a socket of the user alone, of a program that runs; its end is no failure of the program',
  async (t) => {
    const other = spawn(program('endless'), {
      env: { ...env, QUARTZ_ATTACH: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(other.stdout, 'data');
    const path = join(home, 'q.sock');
    const ask = (): Promise<number | undefined> =>
      new Promise((resolve) => {
        request({ socketPath: path, path: '/health', host: 'anything' }, (got) => {
          resolve(got.statusCode);
          got.resume();
        })
          .on('error', () => {
            resolve(undefined);
          })
          .end();
      });
    const args = ['--listen', `unix:${path}`, '-q', '-o', 'attached.quartz', '-p', String(other.pid)];
    const its = await serve(args, async () => (await ask()) === 200);
    t.is(statSync(path).mode & 0o777, 0o600);
    its.child.kill('SIGINT');
    t.is(await its.ended, 0, its.said());
    t.false(existsSync(path));
    t.is(other.exitCode, null);
    other.kill('SIGKILL');
  },
);

needing('tool:prometheus')('Prometheus scrapes it', async (t) => {
  let value: string | undefined;
  while (value === undefined) {
    if (prometheus?.exitCode !== null) throw new Error(itSaid);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const at = /msg="Listening on" address=(\S+)/.exec(itSaid)?.[1];
    if (at === undefined) continue;
    const query = encodeURIComponent('quartz_npt_seconds_total{entity="alone"}');
    const reply = await fetch(`http://${at}/api/v1/query?query=${query}`)
      .then((got) => got.text())
      .catch(() => '');
    value = /"value":\[[^,]*,"([^"]+)"\]/.exec(reply)?.[1];
  }
  t.true(Number(value) > 0);
});

test.serial('it ends with the program, whose status is passed on; who waits gets what there is', async (t) => {
  const waiting = fetch(`${served.at}/debug/pprof/npt?seconds=600`);
  while (metric(await get('/metrics'), 'quartz_profiles_total') < 3)
    await new Promise((resolve) => setTimeout(resolve, 100));
  served.child.kill('SIGTERM');
  t.is((await waiting).status, 200);
  t.is(await served.ended, 128 + 15, served.said());
});

test.serial('so many files are kept, and each is complete; no moment is in two', (t) => {
  const files = readdirSync(home).filter((name) => /^served-\d{8}T\d{6}Z(-\d+)?\.quartz$/.test(name));
  t.true(files.length <= 3, files.join()); // one more if a file is still being finished when the next one is due
  t.false(files.includes(earlier));
  t.true(existsSync(join(home, 'served-notes.quartz')));
  let endNs = 0;
  for (const file of files.sort()) {
    const model = openModel(join(home, file)); // all invariants hold
    t.true(model.head.firstNs >= endNs, file);
    t.is(model.head.status, 'cut');
    endNs = model.head.firstNs + model.elapsedNs;
  }
});
