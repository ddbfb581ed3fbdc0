/** The operating system's message for a failed file operation, in words such as "permission denied". */
import { getSystemErrorMap } from 'node:util';

export function systemReason(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException;
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? code ?? String(error);
}
