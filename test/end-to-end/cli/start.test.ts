/**
 * The first commands: in a checkout that is not built, after a start that failed, and what the demo suggests to try
 * next.
 */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';
import { command, directory, run, type Said } from '../../support/run-quartz.js';

/** A fresh checkout, but with the packages of others already installed, so that no registry is accessed. */
function unbuilt(): string {
  const place = directory();
  for (const part of ['CMakeLists.txt', 'scripts', 'ts-frontend/bin'])
    cpSync(join(root, part), join(place, part), { recursive: true });
  const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...description, dependencies: {}, devDependencies: {} }));
  return place;
}
/** The environment of a user's shell, not that of `npm test`. */
function environment(home: string, more: Record<string, string> = {}): Record<string, string> {
  const path = process.env['PATH']!.split(':')
    .filter((place) => !place.includes('node_modules'))
    .join(':');
  const npm = Object.keys(process.env).filter((name) =>
    /^npm_(command|lifecycle_|package_|execpath)|^INIT_CWD$/.test(name),
  );
  return { ...Object.fromEntries(npm.map((name) => [name, ''])), HOME: home, PATH: path, ...more };
}
/** npm and the demo take seconds, or many times that if other tests run at the same time. */
const limitMs = 240_000;
const ours = ({ stdout, stderr }: Said): string[] =>
  `${stdout}\n${stderr}`.split('\n').filter((line) => line.startsWith('quartz: '));

const commands = [
  'ts-frontend/bin/quartz report',
  'npm run demo',
  'npm test',
  'npm run build',
  'npm run bench',
  'npx quartz demo',
];
for (const line of commands) {
  test.serial(`not built: ${line} says one line`, async (t) => {
    const [name = '', ...args] = line.split(' ');
    t.timeout(2 * limitMs);
    const cwd = unbuilt();
    const said = await run(name.includes('/') ? join(cwd, name) : name, args, {
      cwd,
      env: environment(directory()),
      limitMs,
    });
    t.not(said.status, 0);
    const lines = ours(said);
    t.is(lines.length, 1, `${said.stdout}\n${said.stderr}`);
    t.true(lines[0]!.endsWith(`; run: npm ci (in ${cwd})`), lines[0]);
    t.notRegex(said.stdout + said.stderr, /^ +at |node:internal/m, 'no stack trace');
  });
}

test.serial('a start that failed breaks nothing: once it is built, npx works, too', async (t) => {
  t.timeout(2 * limitMs);
  const cwd = unbuilt(),
    env = environment(directory());
  writeFileSync(join(cwd, 'scripts/setup.sh'), 'echo "quartz: needs something" >&2\nexit 1\n');
  const install = await run('npm', ['install', '--no-package-lock'], { cwd, env, limitMs });
  t.not(install.status, 0);
  t.regex(install.stderr + install.stdout, /quartz: needs something/);
  t.is(ours(await run('npx', ['quartz', 'demo'], { cwd, env, limitMs })).length, 1);
  t.is(ours(await run('npx', ['quartz', 'demo'], { cwd, env, limitMs })).length, 1, 'again');
  for (const part of ['dist', 'build', 'node_modules'])
    if (!readdirSync(cwd).includes(part)) symlinkSync(join(root, part), join(cwd, part));
  const { status, stdout, stderr } = await run('npx', ['quartz', '--version'], { cwd, env, limitMs });
  t.is(status, 0, stderr);
  t.regex(stdout, /^quartz \d/m);
});

/** The lines below "Try next". */
const next = (stdout: string): string[] =>
  [...stdout.slice(stdout.indexOf('Try next')).matchAll(/^ {2}(\S.*)$/gm)].map(([, line]) => line!);

test.serial(
  'npm run demo, from elsewhere: the profile lies where the user stands, and what to try next works there',
  async (t) => {
    t.timeout(2 * limitMs);
    const cwd = directory(),
      env = environment(directory());
    const { status, stdout, stderr } = await run('npm', ['--prefix', root, 'run', 'demo'], { cwd, env, limitMs });
    t.is(status, 0, stderr);
    t.deepEqual(readdirSync(cwd), ['demo.quartz']);
    const lines = next(stdout);
    t.is(lines.length, 4, stdout);
    for (const line of lines) {
      const said = await run('sh', ['-c', line], { cwd, env, limitMs });
      t.is(said.status, 0, `${line}\n${said.stderr}`);
    }
  },
);

test.serial('where quartz is on the PATH, that is what to try; another program of that name is not', async (t) => {
  const bin = directory(),
    another = directory(),
    env = environment(directory());
  symlinkSync(command, join(bin, 'quartz'));
  symlinkSync('/bin/true', join(another, 'quartz'));
  // what each line below "Try next" begins with
  const module = JSON.stringify(join(root, 'dist/ts-frontend/src/cli/invocation.js')),
    script = `import { invocation } from ${module}; console.log(invocation());`;
  for (const [places, begin] of [
    [[bin], 'quartz\n'],
    [[another, bin], `${command}\n`],
  ] as const) {
    const said = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: bin,
      env: { ...env, PATH: [...places, env['PATH']].join(':') },
    });
    t.deepEqual([said.status, said.stdout], [0, begin], said.stderr);
  }
});

test('no library is taken from the current directory', async (t) => {
  const place = directory();
  for (const name of ['libc.so.6', 'libdw.so.1', 'libstdc++.so.6']) writeFileSync(join(place, name), 'no library');
  const { status, stdout, stderr } = await run(join(root, 'build/sampler/quartz-sampler'), ['--version'], {
    cwd: place,
  });
  t.is(status, 0, stderr);
  t.regex(stdout, /\d/);
});
