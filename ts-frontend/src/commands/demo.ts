/** quartz demo: builds examples/verify, runs it on two circuits under the sampler, and shows the report. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from '../cli/command.js';
import { runChild } from '../cli/run/child.js';
import { Failure } from '../cli/failure.js';
import { root, samplerPath } from '../cli/files.js';
import { invocation, pathFromHere, shellWord, restoreWorkingDirectory } from '../cli/invocation.js';
import { displayOptions } from '../cli/options.js';
import { print } from '../cli/show/output.js';
import { display } from '../cli/terminal.js';
import type { Model } from '../model/index.js';

const profile = 'demo.quartz';
const build = join(root, 'build');
const binaries = join(build, 'examples/verify');
const directory = join(build, 'demo');

/** Runs a preparatory step; shows its output only if it fails. */
function prepare(what: string, file: string, args: readonly string[]): void {
  process.stderr.write(`quartz: ${what}\n`);
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  throw new Failure(`${what} failed${error ? ` (${error.message})` : ''}`, `run: npm run build (in ${root})`);
}

function next(model: Model, verify: string, circuits: readonly string[]): string {
  const focus = model.findings[0]?.name ?? 'main';
  const quartz = invocation();
  const rows = [
    [`${quartz} report --focus ${shellWord(focus)}`, 'when it ran, beside what, and what it called'],
    [`${quartz} locks`, 'who waited for which lock'],
    [`${quartz} threads`, 'what each thread did'],
    [
      `${quartz} run -- ${[verify, '--stage', 'nolog', ...circuits].map(shellWord).join(' ')}`,
      'the same program without its trace log',
    ],
  ] as const;
  return `\nTry next\n${rows.map(([command, about]) => `  ${command}\n      ${about}\n`).join('')}`;
}

export const command: Command = {
  name: 'demo',
  usage: '[options]',
  about:
    'Builds examples/verify, a parallel program that proves two circuits equal, runs it under the sampler, and ' +
    `shows the report. The profile ${profile} is kept in this directory.`,
  examples: [['quartz demo', 'takes less than a minute']],
  options: displayOptions,
  run: async (args) => {
    const options = display(args);
    restoreWorkingDirectory();
    if (!existsSync(join(root, 'examples/verify/inputs.sh')))
      throw new Failure(
        'this package has no examples',
        "use Quartz's source tree, or profile a program of your own: quartz run",
      );
    mkdirSync(directory, { recursive: true });
    prepare('building examples/verify', 'cmake', ['--build', build, '--target', 'verify', 'verify-generate']);
    prepare('making two circuits that compute the same in different ways', 'sh', [
      join(root, 'examples/verify/inputs.sh'),
      join(binaries, 'verify-generate'),
      directory,
    ]);
    process.stderr.write('quartz: proving them equal, under the sampler\n');
    const verify = join(binaries, 'verify');
    const file = resolve(profile);
    const status = await runChild(samplerPath(), ['record', '-o', file, '--', verify, 'first.bench', 'second.bench'], {
      cwd: directory,
    });
    if (status !== 0) return status;
    const { loadModel } = await import('../cli/profile.js');
    const { report } = await import('../render/index.js');
    const model = loadModel(file, { raw: false });
    const circuits = ['first.bench', 'second.bench'].map((name) => pathFromHere(join(directory, name)));
    await print(
      `\n${report(model, 'procedures', { ...options, top: Math.min(options.top, 12) })}` +
        next(model, pathFromHere(verify), circuits),
    );
    return 0;
  },
};
