/**
 * Opens profiles through the addon. Loads the addon when the first profile is opened, so that commands which read none
 * do not pay for it.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RawEntity, RawProfile } from '../model/index.js';
import { objectRows, type ObjectColumns } from './object-rows.js';

/** What the addon gives: sections as columns; entities from the index `from` on. */
interface Columns extends Omit<RawProfile, 'strings' | 'objects'> {
  text: Uint8Array;
  from: number;
  instances: Uint32Array;
  objects: ObjectColumns;
}
/** What an earlier read of the same recording has given already. */
interface Known {
  pid: number;
  firstNs: number;
  entities: number;
  modules: number;
  callers: Uint32Array;
}
interface Addon {
  open(path: string, symbolize: boolean, byStack: boolean, known?: Known): Columns;
  save(path: string, target: string): void;
  damage(path: string): string[];
}

let addon: Addon | undefined;

function load(): Addon {
  const path = join(import.meta.dirname, '../../../../build/quartz_addon.node');
  return createRequire(import.meta.url)(path) as Addon;
}

/** What is wrong with a file that is no good profile: `why` is one clause, without the path. */
export interface ProfileError extends Error {
  code: 'QUARTZ_PROFILE';
  why: string;
}
export function isProfileError(error: unknown): error is ProfileError {
  return error instanceof Error && 'code' in error && error.code === 'QUARTZ_PROFILE';
}

export interface OpenOptions {
  symbolize?: boolean;
  /** The read before this one, of a recording that goes on: what can't have changed since is taken from it. */
  after?: RawProfile | null;
  /**
   * Tuples in the order of their stacks, in which the model visits them: twice as fast where they are many. For a
   * profile that is read once; what one read adds to another is found by the order of the file.
   */
  byStack?: boolean;
}

/** Throws a ProfileError where the file is missing, foreign, corrupt or of another version. */
export function openProfile(
  path: string,
  { symbolize = true, after = null, byStack = false }: OpenOptions = {},
): RawProfile {
  addon ??= load();
  const { text, from, instances, ...columns } = addon.open(
    path,
    symbolize,
    byStack,
    after === null
      ? undefined
      : {
          pid: after.head.pid,
          firstNs: after.head.firstNs,
          entities: after.entities.length,
          modules: after.modules.length,
          callers: after.calls.caller,
        },
  );
  if (after !== null && from > 0) columns.entities = grown(after.entities, columns.entities, instances);
  const decoder = new TextDecoder();
  const strings = (offset: number): string => {
    if (offset <= 0 || offset >= text.length) return '';
    const end = text.indexOf(0, offset);
    return decoder.decode(text.subarray(offset, end < 0 ? text.length : end));
  };
  return { ...columns, objects: objectRows(columns.objects), strings };
}

/** The same list where nothing is new, so that what was made of it holds. */
function grown(before: RawEntity[], added: RawEntity[], instances: Uint32Array): RawEntity[] {
  let changed = added.length > 0;
  const rows = before.map((row, k) => {
    if (row.instances === instances[k]) return row;
    changed = true;
    return { ...row, instances: instances[k]! };
  });
  return changed ? rows.concat(added) : before;
}

/** Writes what stands in a profile, which may still be recorded, as a file of its own. */
export function saveProfile(path: string, target: string): void {
  addon ??= load();
  addon.save(path, target);
}

/** All that is wrong with a file, each in one clause; empty where it can be read. */
export function damageOf(path: string): string[] {
  addon ??= load();
  return addon.damage(path);
}
