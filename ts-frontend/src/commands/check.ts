/**
 * quartz check: checks that a profile is undamaged, and that it satisfies the invariants of docs/reference/metrics.md,
 * section 5.
 */
import { statSync } from 'node:fs';
import type { Command } from '../cli/command.js';
import { exitCodes } from '../cli/failure.js';
import { newestProfile } from '../cli/files.js';
import { print } from '../cli/show/output.js';

export const command: Command = {
  name: 'check',
  usage: '[FILE]',
  about:
    'Checks that a profile is undamaged, by its checksums, and that its numbers add up ' +
    '(docs/reference/metrics.md, section 5). If anything is wrong, prints all of it; the exit code is then 125.',
  examples: [['quartz check prog.quartz', 'prints one line if everything is in order']],
  options: [],
  most: 1,
  run: async (args) => {
    const { loadModel, faultRemedies } = await import('../cli/profile.js');
    const { damageOf } = await import('../reader/profile.js');
    const { checkInvariants } = await import('../model/index.js');
    const file = args.words[0] ?? newestProfile();
    // if it is no regular file, loading it reports why
    const damage = statSync(file, { throwIfNoEntry: false })?.isFile() ? damageOf(file) : null;
    if (damage !== null && damage.clauses.length > 0) {
      const remedy = faultRemedies[damage.fault];
      for (const why of damage.clauses) process.stderr.write(`quartz: ${file}: ${why}; ${remedy}\n`);
      return exitCodes.failed;
    }
    const model = loadModel(file, { raw: true });
    const broken = checkInvariants(model);
    if (broken.length === 0) {
      const unfinished = model.head.status === 'abandoned' || model.head.status === 'recording';
      await print(
        `${file}: all invariants hold over ${model.samples} ` +
          `samples${unfinished ? '; it was not finished, so it has no checksums' : ''}\n`,
      );
      return exitCodes.ok;
    }
    for (const line of broken) process.stderr.write(`quartz: ${file}: ${line}\n`);
    return exitCodes.failed;
  },
};
