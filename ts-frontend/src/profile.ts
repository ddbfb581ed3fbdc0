/**
 * Opens profiles through the addon. Loads the addon when the first profile is opened, so that commands which read none
 * do not pay for it.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RawProfile } from './model/index.js';

type Columns = Omit<RawProfile, 'strings'> & { text: Uint8Array };
interface Addon { open(path: string, symbolize: boolean): Columns; save(path: string, target: string): void }

let addon: Addon | undefined;

function load(): Addon {
  const path = join(import.meta.dirname, '../../../build/quartz_addon.node');
  return createRequire(import.meta.url)(path) as Addon;
}

/** What is wrong with a file that is no good profile: `why` is one clause, without the path. */
export interface ProfileError extends Error { code: 'QUARTZ_PROFILE'; why: string }
export function isProfileError(error: unknown): error is ProfileError {
  return error instanceof Error && 'code' in error && error.code === 'QUARTZ_PROFILE';
}

/** Throws a ProfileError where the file is missing, foreign, corrupt or of another version. */
export function openProfile(path: string, options: { symbolize?: boolean } = {}): RawProfile {
  addon ??= load();
  const { text, ...columns } = addon.open(path, options.symbolize !== false);
  const decoder = new TextDecoder();
  const strings = (offset: number): string => {
    if (offset <= 0 || offset >= text.length) return '';
    const end = text.indexOf(0, offset);
    return decoder.decode(text.subarray(offset, end < 0 ? text.length : end));
  };
  return { ...columns, strings };
}

/** Writes what stands in a profile, which may still be recorded, as a file of its own. */
export function saveProfile(path: string, target: string): void {
  addon ??= load();
  addon.save(path, target);
}
