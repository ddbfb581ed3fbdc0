#!/usr/bin/env node
/**
 * Makes the pictures of docs/pictures anew, each in the real program that it shows, of one recording of
 * examples/verify. Needs a build with checks (scripts/build.sh checks) and Chromium; each picture also needs what it
 * shows, and is left as it is, with one line, where that is missing.
 *
 *     node scripts/pictures.js               all pictures
 *     node scripts/pictures.js page screen   these
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import xterm from '@xterm/headless';
import { Chromium } from '../dist/test/support/chromium.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quartz = join(root, 'ts-frontend/bin/quartz');
const verify = join(root, 'build/examples/verify');
const folder = mkdtempSync(join(tmpdir(), 'quartz-pictures-'));
const profile = join(folder, 'verify.quartz');
const inputs = ['first.bench', 'second.bench'].map((name) => join(folder, name));
const env = { ...process.env, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' };
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const children = [];
const start = (program, words, options = {}) => {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env, ...options });
  children.push(child);
  return child;
};
/** Waits until what the child writes contains the pattern; returns the match. */
async function said(child, pattern) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (more) => (text += more));
  for (let tries = 0; tries < 600; tries++) {
    const match = pattern.exec(text);
    if (match) return match;
    if (child.exitCode !== null) break;
    await rest(50);
  }
  throw new Error(`${child.spawnfile} has not begun: ${text}`);
}
const has = (program) => {
  if (process.env[program] !== undefined) return true;
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const exported = (format, name) => {
  const file = join(folder, name);
  execFileSync(quartz, ['export', '--format', format, '-o', file, profile], { stdio: 'ignore' });
  return file;
};

/** The page at an address, once `ready` is true there, cut at `height` px. */
async function photograph(address, { width = 1240, height, ready = 'true', keys = [] }) {
  const browser = await Chromium.open(address, width);
  try {
    for (const key of keys) await browser.press(key);
    for (let tries = 0; !(await browser.evaluate(ready)); tries++) {
      if (tries === 200) throw new Error(`${address} is not ready`);
      await rest(100);
    }
    // Some pages draw only once something has been shown.
    for (let times = 0; times < 2; times++) {
      await browser.screenshot();
      await rest(2000);
    }
    return await browser.screenshot(height === undefined ? undefined : { width, height });
  } finally {
    await browser.close();
  }
}

/** A port of this machine that nobody listens on. */
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** What a terminal shows, as HTML: each cell with its colours. */
function terminalPage(emulator) {
  const palette = ['#000', '#cd3131', '#0dbc79', '#e5e510', '#2472c8', '#bc3fbc', '#11a8cd', '#e5e5e5'];
  const colour = (cell, which, otherwise) =>
    cell[`is${which}Palette`]()
      ? cell[`get${which}Color`]() < 8
        ? palette[cell[`get${which}Color`]()]
        : '#777'
      : otherwise;
  const { active } = emulator.buffer;
  const lines = Array.from({ length: emulator.rows }, (_, y) => {
    const line = active.getLine(active.baseY + y);
    return Array.from({ length: emulator.cols }, (_, x) => {
      const cell = line.getCell(x);
      const [ink, paper] = [colour(cell, 'Fg', '#d4d4d4'), colour(cell, 'Bg', '#1e1e1e')];
      const style = cell.isInverse() ? `color:${paper};background:${ink}` : `color:${ink};background:${paper}`;
      const text = (cell.getChars() || ' ').replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
      return `<span style="${style}${cell.isBold() ? ';font-weight:700' : ''}">${text}</span>`;
    }).join('');
  });
  return (
    '<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;background:#1e1e1e}pre{margin:8px;font:14px/18px ' +
    `"DejaVu Sans Mono",monospace}</style><pre>${lines.join('\n')}</pre>`
  );
}

/** The live screen after these keys. */
async function screen(...keys) {
  const [cols, rows] = [132, 34];
  const emulator = new xterm.Terminal({ cols, rows, allowProposedApi: true });
  const words = `stty cols ${cols} rows ${rows}; exec '${quartz}' top '${profile}'`;
  const child = start('script', ['-qefc', words, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.on('data', (bytes) => emulator.write(bytes));
  await rest(5000);
  for (const key of keys) {
    child.stdin.write(key);
    await rest(1000);
  }
  child.stdin.write('q');
  const file = join(folder, 'screen.html');
  writeFileSync(file, terminalPage(emulator));
  return photograph(file, { width: 1128, height: rows * 18 + 16 });
}

async function page() {
  const file = join(folder, 'page.html');
  execFileSync(quartz, ['html', '-o', file, profile]);
  return photograph(file, { width: 1000, height: 1400 });
}

async function pprof() {
  // pprof does not say which port it got, if it may choose.
  const port = await freePort();
  const child = start('go', [
    'tool',
    'pprof',
    `-http=127.0.0.1:${port}`,
    '-no_browser',
    exported('pprof', 'verify.pb.gz'),
  ]);
  await said(child, /http:/);
  const address = `http://127.0.0.1:${port}/ui/flamegraph`;
  for (let tries = 0; tries < 100 && !(await fetch(address).catch(() => undefined))?.ok; tries++) await rest(100);
  return photograph(address, { height: 330, ready: 'document.querySelector("g.frame, #stack-chart *") !== null' });
}

async function speedscope() {
  const release = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist/release');
  const file = exported('speedscope', 'verify.json');
  const script = join(folder, 'speedscope.js');
  const content = readFileSync(file).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64("verify.json", "${content}")`);
  const address = `${pathToFileURL(join(release, 'index.html')).href}#localProfilePath=${script}`;
  return photograph(address, { height: 350, ready: 'document.querySelector("canvas") !== null', keys: ['2'] });
}

async function flamegraph() {
  const svg = execFileSync('flamegraph.pl', ['--countname', 'ns', exported('folded', 'verify.folded')]);
  const file = join(folder, 'flamegraph.html');
  writeFileSync(file, `<!DOCTYPE html><style>body { margin: 0 }</style>${svg}`);
  return photograph(file, { width: 1200, height: 310 });
}

/** Of a copy of Firefox Profiler that is served at QUARTZ_FIREFOX_PROFILER, such as http://localhost:4242. */
async function firefox() {
  execFileSync(quartz, ['export', '--format', 'firefox', '-o', join(folder, 'verify.json'), profile]);
  const files = createHttpServer((_, answer) => {
    answer.setHeader('Access-Control-Allow-Origin', '*');
    answer.end(readFileSync(join(folder, 'verify.json')));
  });
  await new Promise((done) => files.listen(0, '127.0.0.1', done));
  const from = encodeURIComponent(`http://127.0.0.1:${files.address().port}/verify.json`);
  try {
    const address = `${process.env.QUARTZ_FIREFOX_PROFILER}/from-url/${from}/marker-chart/`;
    return await photograph(address, { height: 480, ready: 'document.querySelector("canvas") !== null' });
  } finally {
    files.close();
  }
}

async function kcachegrind() {
  const display = ':97';
  const file = exported('callgrind', 'callgrind.out.1');
  start('Xvfb', [display, '-screen', '0', '1100x560x24'], { stdio: 'ignore' });
  await rest(1000);
  writeFileSync(join(folder, 'kcachegrindrc'), '[TipOfDay]\nRunOnStart=false\n');
  start('dbus-run-session', ['kcachegrind', '-qwindowgeometry', '1100x560+0+0', file], {
    stdio: 'ignore',
    env: { ...env, DISPLAY: display, XDG_CONFIG_HOME: folder },
  });
  await rest(10_000);
  return execFileSync('import', ['-display', display, '-window', 'root', 'png:-'], { maxBuffer: 2 ** 26 });
}

async function prometheus() {
  const served = start(quartz, ['serve', '--listen', '127.0.0.1:0', '--', join(verify, 'verify'), ...inputs], {
    cwd: folder,
  });
  const [, target] = await said(served, /listening at http:\/\/([^\s/]+)/);
  const config = join(folder, 'prometheus.yml');
  const scrape = `job_name: quartz, scrape_interval: 500ms, static_configs: [{ targets: ['${target}'] }]`;
  writeFileSync(config, `scrape_configs: [{ ${scrape} }]\n`);
  const child = start('prometheus', [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const [, port] = await said(child, /Listening on"? address=127\.0\.0\.1:(\d+)/);
  await rest(12_000);
  const query = encodeURIComponent('rate(quartz_npt_seconds_total[5s])');
  const address = `http://127.0.0.1:${port}/graph?g0.expr=${query}&g0.tab=0&g0.range_input=20s`;
  return photograph(address, { width: 930, height: 560, ready: 'document.querySelector("canvas") !== null' });
}

/** What each needs beside Chromium: programs, or variables of the environment. */
const pictures = {
  page: [page],
  screen: [screen, 'script'],
  flame: [() => screen('0', 'j', 'j', 'j'), 'script'],
  pprof: [pprof, 'go'],
  speedscope: [speedscope],
  flamegraph: [flamegraph, 'flamegraph.pl'],
  firefox: [firefox, 'QUARTZ_FIREFOX_PROFILER'],
  kcachegrind: [kcachegrind, 'kcachegrind', 'dbus-run-session', 'Xvfb', 'import'],
  prometheus: [prometheus, 'prometheus'],
};

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pictures);
const unknown = wanted.find((name) => !(name in pictures));
if (unknown !== undefined || !has('chromium')) {
  const why = unknown === undefined ? 'there is no chromium' : `there is no picture ${unknown}`;
  console.error(`pictures: ${why}; pictures are ${Object.keys(pictures).join(', ')}`);
  process.exit(2);
}
try {
  execFileSync('sh', [join(root, 'examples/verify/inputs.sh'), join(verify, 'verify-generate'), folder]);
  // it writes a trace into its working directory
  execFileSync(quartz, ['record', '-q', '--timeline', '-o', profile, '--', join(verify, 'verify'), ...inputs], {
    stdio: 'ignore',
    cwd: folder,
  });
  for (const name of wanted) {
    const [make, ...needs] = pictures[name];
    const missing = needs.find((program) => !has(program));
    if (missing === undefined) writeFileSync(join(root, `docs/pictures/${name}.png`), await make());
    console.log(missing === undefined ? `ok ${name}` : `not made: ${name} (there is no ${missing})`);
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  await rest(300);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
