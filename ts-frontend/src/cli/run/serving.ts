/** Serves a profile while it is recorded: the sampler runs beside the server, and signals go to the sampler. */
import { existsSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Arguments } from '../command.js';
import { runSampler, statusOf } from './child.js';
import { Failure } from '../failure.js';
import { samplerPath } from '../files.js';
import type { OptionName } from '../options.js';
import { nameIn, profileIn, samplerOptions, withoutSampler } from './recording.js';
import { version } from '../version.js';
import { written, type Address } from '../../serve/address.js';
import { serve, type Serving } from '../../serve/serve.js';
import { systemReason } from '../../reader/system-error.js';

async function listening(address: Address): Promise<Serving> {
  try {
    return await serve(address, version());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const where = written(address);
    // For a directory that is not there Node.js says that permission is missing.
    if ('path' in address) {
      const directory = dirname(address.path);
      if (!existsSync(directory))
        throw new Failure(`${where}: there is no directory ${directory}`, 'create it, or name a socket in another one');
      if (code === 'EADDRINUSE' && !lstatSync(address.path, { throwIfNoEntry: false })?.isSocket())
        throw new Failure(`${where}: another file has that name`, 'name another one, or remove that file');
    }
    if (code === 'EADDRINUSE') throw new Failure(`${where} is in use`, 'choose another one, or end who listens there');
    if (code === 'EACCES' || code === 'EPERM')
      throw new Failure(`${where}: you may not listen there`, 'choose a port from 1024 on, or a directory of yours');
    throw new Failure(`${where}: nobody can listen there (${systemReason(error)})`, 'choose another --listen');
  }
}

/** Defaults for recordings without end: files of an hour, a day of them, together at most 1.5 GiB. */
const usual: readonly (readonly [OptionName, string])[] = [
  ['rotate', '3600'],
  ['max-size', '64M'],
];
const optionsOf = (args: Arguments): string[] => [
  ...samplerOptions(args),
  ...usual.flatMap(([name, value]) => (args.has(name) ? [] : [`--${name}`, value])),
];

/** Returns the exit status of the program; 0 if it was attached to. */
export async function keepServing(args: Arguments, address: Address): Promise<number> {
  const sampler = samplerPath();
  const serving = await listening(address);
  process.stderr.write(`quartz: listening at ${written(serving.at)}\n`);
  const pid = args.text('pid');
  let reported = '';
  const announce = (text: string): void => {
    reported += text;
    const file = nameIn(reported);
    if (file !== undefined) serving.recorded(file);
  };
  try {
    const ended = await runSampler(
      sampler,
      ([fd]) =>
        pid === undefined
          ? ['record', '--tell', String(fd), ...optionsOf(args), '--', ...args.words]
          : ['attach', '--tell', String(fd), '--front', String(fd), ...optionsOf(args), pid],
      [announce],
    );
    return ended.signal === null ? statusOf(ended) : await withoutSampler(ended.signal, profileIn(reported));
  } finally {
    await serving.end();
  }
}
