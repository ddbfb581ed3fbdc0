/**
 * Opens profiles through the addon. Loads the addon when the first profile is opened, so that commands which read none
 * do not pay for it.
 */
import {
  abi,
  item,
  pathsOf,
  type CodePiece,
  type RawEntity,
  type RawHead,
  type RawModule,
  type MemberProfile,
  type RawProfile,
} from '../model/index.js';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { objectRows, type ObjectColumns } from './object-rows.js';
import { build } from './root.js';

/** What the addon gives: sections as columns; entities from the index `from` on; values of enumerations as numbers. */
interface Columns extends Omit<RawProfile, 'strings' | 'objects' | 'head' | 'entities'> {
  head: abi.HeadFields;
  entities: EntityRow[];
  text: Uint8Array;
  from: number;
  instances: Uint32Array;
  objects: ObjectColumns;
}
type Coded = 'kind' | 'origin' | 'libraryWait' | 'naming' | 'missing';
type EntityRow = Omit<RawEntity, Coded> & Record<Coded, number>;

/** Names by the values that stand for them. */
function namesOf<Name extends string>(values: Readonly<Record<Name, number>>): (value: number) => Name {
  const names = new Map(Object.entries<number>(values).map(([name, value]) => [value, name as Name]));
  return (value) => {
    const name = names.get(value);
    if (name === undefined) throw new Error(`the addon gave ${value}, which is none of ${[...names.values()].join()}`);
    return name;
  };
}
export const coded = {
  kind: namesOf({ ...abi.objectKinds, ...abi.otherKinds }),
  origin: namesOf(abi.origins),
  libraryWait: namesOf(abi.libraryWaits),
  naming: namesOf(abi.namings),
  missing: namesOf(abi.missings),
};
const status = namesOf(abi.statuses),
  endReason = namesOf(abi.endReasons),
  publisher = namesOf(abi.publishers);

/** The first row stands for no entity. */
const entityOf = (row: EntityRow): RawEntity => ({
  ...row,
  kind: row.kind === 0 ? 'procedure' : coded.kind(row.kind),
  origin: coded.origin(row.origin),
  libraryWait: coded.libraryWait(row.libraryWait),
  naming: coded.naming(row.naming),
  missing: coded.missing(row.missing),
});

export const headOf = ({ abandoned, ...head }: abi.HeadFields): RawHead => ({
  ...head,
  status: abandoned ? 'abandoned' : status(head.status),
  endReason: endReason(head.endReason),
  publisher: publisher(head.publisher),
  paths: pathsOf(head.paths),
  samplerCpu: head.samplerCpu < 0 ? null : head.samplerCpu,
});

/** What an earlier read of the same recording has given already. */
interface Known {
  pid: number;
  firstNs: number;
  entities: number;
  modules: number;
  callers: Uint32Array;
}
/** What a set of profiles takes: names and files of entities as offsets into the text. */
export interface OutlineColumns extends Pick<
  RawProfile,
  'stacks' | 'balance' | 'onPath' | 'calls' | 'threads' | 'modules' | 'messages'
> {
  head: abi.HeadFields;
  text: Uint8Array;
  entities: Record<'kind' | 'name' | 'file' | 'line' | 'module' | 'record', Uint32Array> & {
    address: Float64Array;
    libraryWait: Uint8Array;
  };
  tuples: MemberProfile['tuples'];
  objects: Record<keyof MemberProfile['objects'][number], ArrayLike<number>>;
}
interface Addon {
  outline(path: string): OutlineColumns;
  open(path: string, symbolize: boolean, byStack: boolean, known?: Known): Columns;
  save(path: string, target: string): void;
  damage(path: string): string[];
  checksum(bytes: Uint8Array): number;
  purposesOf(kind: string, name: string, module: string): number;
  disassemble(modules: readonly RawModule[], addresses: readonly number[]): CodePiece[];
}

let addon: Addon | undefined;

function load(): Addon {
  return createRequire(import.meta.url)(join(build, 'quartz_addon.node')) as Addon;
}
export const loadAddon = (): Addon => (addon ??= load());

/** The checksum that all of Quartz's files have (abi/checksum.h). */
export const checksum = (bytes: Uint8Array): number => loadAddon().checksum(bytes);

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
  const addon = loadAddon();
  const {
    text,
    from,
    instances,
    head,
    entities: rows,
    ...columns
  } = addon.open(
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
  const read = rows.map(entityOf);
  const entities = after !== null && from > 0 ? grown(after.entities, read, instances) : read;
  const decoder = new TextDecoder();
  const strings = (offset: number): string => {
    if (offset <= 0 || offset >= text.length) return '';
    const end = text.indexOf(0, offset);
    return decoder.decode(text.subarray(offset, end < 0 ? text.length : end));
  };
  return { ...columns, head: headOf(head), entities, objects: objectRows(columns.objects), strings };
}

/** The same list where nothing is new, so that what was made of it holds. */
function grown(before: RawEntity[], added: RawEntity[], instances: Uint32Array): RawEntity[] {
  let changed = added.length > 0;
  const rows = before.map((row, k) => {
    if (row.instances === instances[k]) return row;
    changed = true;
    return { ...row, instances: item(instances, k) };
  });
  return changed ? rows.concat(added) : before;
}

/** Writes what stands in a profile, which may still be recorded, as a file of its own. */
export function saveProfile(path: string, target: string): void {
  const addon = loadAddon();
  addon.save(path, target);
}

/** All that is wrong with a file, each in one clause; empty where it can be read. */
export function damageOf(path: string): string[] {
  const addon = loadAddon();
  return addon.damage(path);
}

/** The pieces of code that the addresses, ascending, are in, as the modules' binaries have them. */
export function machineCode(modules: readonly RawModule[], addresses: readonly number[]): CodePiece[] {
  const addon = loadAddon();
  return addon.disassemble(modules, addresses);
}
