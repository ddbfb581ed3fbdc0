/**
 * quartz mcp: answers questions of coding agents about profiles, by the Model Context Protocol over stdin and stdout.
 */
import { createInterface } from 'node:readline';
import type { Command } from '../cli/command.js';
import { print } from '../cli/show/output.js';
import { version } from '../cli/version.js';

/** Longer lines are rejected. */
const longest = 1_000_000;

export const command: Command = {
  name: 'mcp',
  usage: '',
  about:
    'Serves recorded profiles to coding agents by the Model Context Protocol on stdin and stdout, with the tools ' +
    'findings, entity, source and compare. It reads the profiles that an agent names, writes no file, and opens ' +
    'no port. docs/reference/mcp.md says how to configure agents for it.',
  examples: [['claude mcp add quartz -- quartz mcp', 'for one agent; others have a configuration file']],
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
