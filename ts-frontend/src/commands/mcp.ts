/** quartz mcp: what coding agents can ask of profiles, by the Model Context Protocol over stdin and stdout. */
import { createInterface } from 'node:readline';
import type { Command } from '../cli/command.js';
import { print } from '../cli/show/output.js';
import { version } from '../cli/version.js';

/** Longer lines are no questions. */
const longest = 1_000_000;

export const command: Command = {
  name: 'mcp',
  usage: '',
  about:
    'A server of the Model Context Protocol on stdin and stdout, for coding agents: tools findings, entity,\n' +
    'source and compare over recorded profiles. It reads profiles that it is asked for, writes nothing, and\n' +
    'opens no port. docs/reference/mcp.md says how to configure agents for it.',
  examples: [['claude mcp add quartz -- quartz mcp', 'for one agent; others have a file for it']],
  options: [],
  most: 0,
  run: async () => {
    const { answer } = await import('../mcp/protocol.js');
    const { server } = await import('../mcp/tools.js');
    const its = server(version());
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
      if (line.trim() === '') continue;
      const reply = answer(its, line.length > longest ? '' : line);
      if (reply !== null) await print(`${reply}\n`);
    }
    return 0;
  },
};
