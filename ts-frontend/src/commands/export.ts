/** quartz export: writes a profile in the format of another tool. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { writeResult } from '../cli/result-file.js';
import { print } from '../cli/show/output.js';
import type { Content, FormatName } from '../export/formats.js';

const bytesOf = (content: Content): Uint8Array =>
  content instanceof Uint8Array ? content : Buffer.from(Array.from(content).join(''));

export const command: Command = {
  name: 'export',
  usage: '--format FORMAT [-o FILE] [options] [FILE]',
  about:
    'Writes a profile in the format of another tool. In formats of stacks, widths are elapsed time, not processor ' +
    'time. docs/reference/export.md describes the formats and the tools that read them.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz export --format pprof -o prog.pb.gz', 'then: go tool pprof -tagfocus=busy=1 prog.pb.gz'],
    ['quartz export --format speedscope -o prog.json', 'for https://www.speedscope.app'],
    ['quartz export --format folded | flamegraph.pl > a.svg', 'a flame graph by elapsed time'],
    ['quartz export --format callgrind -o callgrind.out.1', 'then: callgrind_annotate callgrind.out.1'],
    ['quartz export --format perfetto -o prog.pftrace', 'busy processors over time, for https://ui.perfetto.dev'],
  ],
  options: ['format', 'export-output', 'holders', 'fold-runtime', 'fold-loops', 'raw'],
  most: 1,
  run: async (args) => {
    const format = args.text('format') as FormatName | undefined;
    const { exporters, formatNames, whyEmpty } = await import('../export/formats.js');
    if (format === undefined) throw usage('no format is given', `write --format and one of: ${formatNames.join(', ')}`);
    const { binary, stacks, loses, write } = exporters[format];
    for (const name of ['holders', 'fold-runtime', 'fold-loops'] as const)
      if (args.has(name) && !stacks)
        throw usage(`--${name} applies to call stacks, and ${format} contains none`, 'leave it out');
    const file = args.text('export-output');
    if (binary && file === undefined && process.stdout.isTTY)
      throw usage(`${format} is a binary format, which is not written to a terminal`, 'name a file with -o');
    const { loadModel } = await import('../cli/profile.js');
    const model = loadModel(args.words[0], { raw: args.has('raw') });
    const options = {
      foldRuntime: args.has('fold-runtime'),
      foldLoops: args.has('fold-loops'),
      holders: args.has('holders'),
    };
    const content = write(model, options);
    if (file === undefined) {
      await print(content instanceof Uint8Array ? [content] : content);
    } else {
      writeResult(file, bytesOf(content));
    }
    const empty = stacks ? whyEmpty(model, options) : null;
    if (empty !== null) process.stderr.write(`quartz: ${format} has no stack to show: ${empty}\n`);
    process.stderr.write(`quartz: not in ${format}: ${loses(model).join('; ')}\n`);
    return 0;
  },
};
