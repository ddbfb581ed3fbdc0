/** Runs the user's editor on the terminal while the screen has released it. */
import { spawnSync } from 'node:child_process';

/** Opens the file at that line and waits for the editor to end; returns a message for the user, '' if there is none. */
export function edit({ file, line }: { file: string; line: number }): string {
  const editor = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi';
  const { status } = spawnSync('sh', ['-c', `${editor} "$@"`, editor, `+${Math.max(1, line)}`, file], {
    stdio: 'inherit',
  });
  return status === 0 ? '' : `${editor} ended with status ${status ?? 'unknown'}: set EDITOR`;
}
