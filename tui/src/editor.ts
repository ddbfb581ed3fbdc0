/** The user's editor, on the terminal that the screen has left. */
import { spawnSync } from 'node:child_process';

/** Opens the file at that line, and waits; returns what to say, '': nothing. */
export function edit({ file, line }: { file: string; line: number }): string {
  const editor = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi';
  const { status } = spawnSync('sh', ['-c', `${editor} "$@"`, editor, `+${Math.max(1, line)}`, file], {
    stdio: 'inherit',
  });
  return status === 0 ? '' : `${editor} ended with status ${status ?? 'unknown'}: set EDITOR`;
}
