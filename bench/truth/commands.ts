/** How programs of the bench of truth are run, and their inputs made. */
import type { Program } from './program.js';

/** Shell text that makes a file `text` of 80 MB. */
export const text =
  'seq 1 2000000 | awk \'{ print $1 * 48271 % 2147483647, "and some words that come again" }\' > text';

export const sh = (command: string, env?: Record<string, string>): Program['run'] => ({
  argv: ['sh', '-c', `exec ${command}`],
  ...(env ? { env } : {}),
});

export const heredoc = (name: string, body: string): string => `cat > ${name} <<'END'\n${body}END\n`;
