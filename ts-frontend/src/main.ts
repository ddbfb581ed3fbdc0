/** The entry point: finds the command and runs it. Loads only the modules that the command needs. */
import { reportFailure, usage } from './cli/failure.js';
import { print } from './cli/show/output.js';
import { commands } from './commands/index.js';

async function main(argv: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = argv;
  if (name === '--help' || name === '-h' || name === 'help') {
    const asked = name === 'help' ? rest[0] : undefined;
    if (asked !== undefined) return main([asked, '--help']);
    const { overview } = await import('./cli/overview.js');
    await print(overview(commands));
    return 0;
  }
  if (name === '--version' || name === '-V') {
    const { version } = await import('./cli/version.js');
    await print(`quartz ${version()}\n`);
    return 0;
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) {
    const { didYouMean } = await import('./cli/nearest.js');
    const what = name.startsWith('-') ? `there is no option "${name}"` : `there is no command "${name}"`;
    throw usage(what, didYouMean(name, [...Object.keys(commands), '--help', '--version'], 'see "quartz --help"'));
  }
  const { command } = await entry.load();
  const { parse } = await import('./cli/command.js');
  const args = parse(command, rest);
  if (args.has('help')) {
    const { helpOf } = await import('./cli/help.js');
    await print(helpOf(command));
    return 0;
  }
  return command.run(args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error);
}
