/**
 * What this machine can show. A test that needs what is not here is skipped with the reason, and counted so by npm
 * test; it does not pass.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

const root = join(import.meta.dirname, '../../..');

/** What test/support/probe.c tries: each is explained there. */
export type Need =
  | 'perf_event_open'
  | 'process_vm_readv'
  | 'ptrace'
  | 'user-namespaces'
  | 'mounts'
  | 'terminal'
  | 'root'
  | 'x86-64'
  | 'spare-cpu'
  | 'own-cpus'
  | `tool:${string}`
  | `file:${string}`
  | `made:${string}=${string}`
  | `cpus:${number}`;

const known = new Map<string, string | undefined>();

/** Why one of these is not here; undefined: all are. Tried once in each file of tests. */
export function lacking(...needs: readonly Need[]): string | undefined {
  const all = needs.join(' ');
  if (needs.length > 0 && !known.has(all)) {
    const { status, stdout, stderr, error } = spawnSync(join(root, 'build/test/support/probe'), needs, {
      encoding: 'utf8',
    });
    const reason = /^skipped: (.*)$/m.exec(stdout ?? '')?.[1];
    if (status !== 0 && reason === undefined)
      throw new Error(`the probe of capabilities failed: ${error?.message ?? stderr}`);
    known.set(all, reason);
  }
  return known.get(all);
}

/** Ends a test that has found out that this machine cannot show what it is about; the caller returns. */
export function skip(t: ExecutionContext, reason: string): void {
  t.log(`skipped: ${reason}`);
  t.pass();
}

export type Body = (t: ExecutionContext) => Promise<void> | void;

/** The same, skipped with the reason where one of these is not here. */
export const where =
  (needs: readonly Need[], body: Body): Body =>
  async (t) => {
    const reason = lacking(...needs);
    if (reason === undefined) await body(t);
    else skip(t, reason);
  };

/** A program of OpenMP that the build makes with that suffix of its name: '' with the compiler itself, '-clang'. */
export const openmpProgram = (path: string, suffix: '' | '-clang'): Need =>
  `made:${path}${suffix}=${suffix === '' ? 'OpenMP' : 'clang and its OpenMP library'}`;

/** Like test.serial, of what needs these. */
export const needing =
  (...needs: readonly Need[]) =>
  (title: string, body: Body): void => {
    test.serial(title, where(needs, body));
  };
