/** Failures that the user can correct: reported in one line on stderr, with an exit code of Quartz's own. */
export const exitCodes = { ok: 0, gate: 1, usage: 2, failed: 125, cannotExecute: 126, notFound: 127 } as const;

export class Failure extends Error {
  /** `what`: what is wrong, as a clause. `remedy`: what the user can do about it, where `what` does not say it. */
  constructor(
    what: string,
    remedy = '',
    readonly exitCode: number = exitCodes.failed,
  ) {
    super(remedy === '' ? what : `${what}; ${remedy}`);
  }
}

export const usage = (what: string, remedy: string): Failure => new Failure(what, remedy, exitCodes.usage);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Writes the failure to stderr and returns its exit code. */
export function reportFailure(error: unknown): number {
  const line = messageOf(error).replace(/\s*\n\s*/g, ' ');
  process.stderr.write(`quartz: ${line}\n`);
  if (!(error instanceof Failure) && process.env['QUARTZ_DEBUG'] && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  return error instanceof Failure ? error.exitCode : exitCodes.failed;
}
