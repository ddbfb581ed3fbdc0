/** quartz check: holds a profile to the invariants of docs/metrics.md, section 5. */
import type { Command } from '../cli/command.js';
import { exitCodes } from '../cli/failure.js';
import { newestProfile } from '../cli/files.js';
import { print } from '../cli/output.js';

export const command: Command = {
  name: 'check',
  usage: '[FILE]',
  about: 'Checks that the numbers of a profile add up as docs/metrics.md, section 5, promises.\nPrints what does not, and then exits with 125.',
  examples: [['quartz check prog.quartz', 'one line says that all holds']],
  options: [],
  most: 1,
  run: async (args) => {
    const { loadModel } = await import('../cli/profile.js');
    const { checkInvariants } = await import('../model/index.js');
    const file = args.words[0] ?? newestProfile();
    const model = loadModel(file, { raw: true });
    const broken = checkInvariants(model);
    if (broken.length === 0) {
      await print(`${file}: all invariants hold over ${model.samples} samples\n`);
      return exitCodes.ok;
    }
    for (const line of broken) process.stderr.write(`quartz: ${file}: ${line}\n`);
    return exitCodes.failed;
  },
};
