/**
 * Profiles of the measured runs: a figure counts only if its profile adds up and contains what is known about the run.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender, Readings } from './bench.js';
import { execute, Failed, scratchDirectory } from './execute.js';
import { root } from './peers.js';

const quartz = join(root, 'ts-frontend/bin/quartz');
export const sampler = join(root, 'build/sampler/quartz-sampler');
export const profile = (): string => join(scratchDirectory(), 'profile.quartz');

/** A command that records a program as `quartz record` does. */
export const recorded = (file: string): string[] => [sampler, 'record', '-q', '-o', profile(), '--', file];

/** A count that is known in advance: calls of a procedure, or uses of an object. */
export interface Known {
  name: string;
  calls: number;
}

interface Report {
  losses: Record<string, number>;
  entities: readonly { name: string; calls: number | null }[];
}

/**
 * Throws Failed if the profile violates an invariant; if something is known, also if it has another count, or lost
 * calls, threads or names.
 */
export async function examine(file: string, known: readonly Known[]): Promise<void> {
  await execute(quartz, ['check', file]).catch((error: unknown) => {
    throw new Failed(`its profile does not add up: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (known.length === 0) return;
  const { losses, entities } = JSON.parse((await execute(quartz, ['report', '--json', file])).stdout) as Report;
  for (const lost of ['callsLost', 'threadsDropped', 'stringsDropped']) {
    if (losses[lost] !== 0) throw new Failed(`its profile leaves out: ${lost} ${losses[lost] ?? 'unknown'}`);
  }
  for (const { name, calls } of known) {
    const seen = entities.filter((one) => one.name === name).reduce((sum, one) => sum + (one.calls ?? 0), 0);
    if (seen !== calls) throw new Failed(`its profile counts ${seen} calls of ${name}, there were ${calls}`);
  }
}

/**
 * A contender whose command is `recorded`; each of its profiles is checked. `known`: derived from the program's output.
 */
export const examined = (
  contender: Contender,
  known: (readings: Readings) => readonly Known[] = () => [],
): Contender => ({
  ...contender,
  take: async () => {
    rmSync(profile(), { force: true });
    const readings = await contender.take();
    await examine(profile(), known(readings));
    return readings;
  },
});
