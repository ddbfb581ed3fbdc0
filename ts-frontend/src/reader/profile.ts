/**
 * Opens profiles through the addon. The addon is loaded when the first profile is opened, so that commands that read
 * none do not pay for it.
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
  type ProfileFault,
  type RawProfile,
} from '../model/index.js';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { objectRows, type ObjectColumns } from './object-rows.js';
import { build } from './root.js';

/** What the addon returns: sections as columns, entities from index `from` on, and enumerations as numbers. */
interface Columns extends Omit<RawProfile, 'strings' | 'objects' | 'head' | 'entities'> {
  head: abi.HeadFields;
  entities: EntityRow[];
  text: Uint8Array;
  from: number;
  instances: Uint32Array;
  objects: ObjectColumns;
}
type Coded = 'kind' | 'origin' | 'libraryWait' | 'libraryLock' | 'naming' | 'style' | 'missing';
type EntityRow = Omit<RawEntity, Coded> & Record<Coded, number>;

/** Converts the numeric values of an enumeration to their names. */
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
  libraryLock: namesOf(abi.libraryLocks),
  naming: namesOf(abi.namings),
  style: namesOf(abi.namingStyles),
  missing: namesOf(abi.missings),
};
const faultNamed = namesOf(abi.profileFaults);
const status = namesOf(abi.statuses),
  endReason = namesOf(abi.endReasons),
  publisher = namesOf(abi.publishers);

/** Row 0 of the result is reserved for "no entity". */
const entityOf = (row: EntityRow): RawEntity => ({
  ...row,
  kind: row.kind === 0 ? 'procedure' : coded.kind(row.kind),
  origin: coded.origin(row.origin),
  libraryWait: coded.libraryWait(row.libraryWait),
  libraryLock: coded.libraryLock(row.libraryLock),
  naming: coded.naming(row.naming),
  style: coded.style(row.style),
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

/** Numbers of rows that an earlier read of the same recording returned, which the addon need not return again. */
interface Known {
  pid: number;
  firstNs: number;
  entities: number;
  modules: number;
  callers: Uint32Array;
}
/** The columns that a set of profiles needs; names and files of entities are offsets into the text. */
export interface OutlineColumns extends Pick<
  RawProfile,
  'stacks' | 'balance' | 'onPath' | 'calls' | 'threads' | 'modules' | 'messages'
> {
  head: abi.HeadFields;
  text: Uint8Array;
  entities: Record<'kind' | 'name' | 'file' | 'line' | 'module' | 'record', Uint32Array> & {
    address: Float64Array;
    libraryWait: Uint8Array;
    naming: Uint8Array;
  };
  tuples: MemberProfile['tuples'];
  objects: Record<keyof MemberProfile['objects'][number], ArrayLike<number>>;
}
interface Addon {
  mark: string;
  outline(path: string): OutlineColumns;
  open(path: string, symbolize: boolean, byStack: boolean, known?: Known): Columns;
  save(path: string, target: string): void;
  damage(path: string): { fault: number; clauses: string[] };
  checksum(bytes: Uint8Array): number;
  purposesOf(kind: string, name: string, module: string): number;
  namingStyleOf(kind: string, name: string, module: string): number;
  disassemble(modules: readonly RawModule[], addresses: readonly number[]): CodePiece[];
}

let addon: Addon | undefined;

/** Throws where the addon is of another build: its columns would be taken for others, or be missing. */
export function fitting(addon: Addon, path: string): Addon {
  if (addon.mark !== abi.addonMark)
    throw new Error(`${path} is of another build of Quartz than this program: build again, or install Quartz anew`);
  return addon;
}
function load(): Addon {
  const path = join(build, 'quartz_addon.node');
  return fitting(createRequire(import.meta.url)(path) as Addon, path);
}
export const loadAddon = (): Addon => (addon ??= load());

/** The checksum of all file formats of Quartz (abi/checksum.h). */
export const checksum = (bytes: Uint8Array): number => loadAddon().checksum(bytes);

/** All that is wrong with a file, a clause each; `fault`: what the first of them is about. */
interface Damage {
  fault: ProfileFault;
  clauses: string[];
}

/** Thrown for a file that cannot be read as a profile. `why`: the reason, a clause that does not contain the path. */
export interface ProfileError extends Error {
  code: 'QUARTZ_PROFILE';
  why: string;
  fault: number; // faultOf
}
export function isProfileError(error: unknown): error is ProfileError {
  return error instanceof Error && 'code' in error && error.code === 'QUARTZ_PROFILE';
}

/** Of which kind it is. */
export const faultOf = ({ fault }: ProfileError): ProfileFault => faultNamed(fault);

/** Whether a file that a sampler is writing may be readable soon: it is being made, or replaced by another one. */
export const isPassing = (error: unknown): boolean => isProfileError(error) && faultOf(error) !== 'version';

interface OpenOptions {
  symbolize?: boolean;
  /** The previous read of a recording that is still going on: data that cannot have changed is copied from it. */
  after?: RawProfile | null;
  /**
   * Sort tuples by stack, the order in which the model visits them: twice as fast for large profiles. Only for a
   * profile that is read once, because differences between reads rely on the order in the file.
   */
  byStack?: boolean;
}

/** Throws a ProfileError if the file is missing, not a profile, corrupt, or of an unsupported version. */
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

/** Returns the same array if there are no new entities, so that data derived from it stays valid. */
function grown(before: RawEntity[], added: RawEntity[], instances: Uint32Array): RawEntity[] {
  let changed = added.length > 0;
  const rows = before.map((row, k) => {
    if (row.instances === instances[k]) return row;
    changed = true;
    return { ...row, instances: item(instances, k) };
  });
  return changed ? rows.concat(added) : before;
}

/** Writes the current contents of a profile, which may be in the process of recording, to another file. */
export function saveProfile(path: string, target: string): void {
  const addon = loadAddon();
  addon.save(path, target);
}

/** Everything that is wrong with a file; no clause if it can be read. */
export function damageOf(path: string): Damage {
  const addon = loadAddon();
  const { fault, clauses } = addon.damage(path);
  return { fault: faultNamed(fault), clauses };
}

/** The pieces of code that contain the addresses, which must be ascending, from the modules' binaries. */
export function machineCode(modules: readonly RawModule[], addresses: readonly number[]): CodePiece[] {
  const addon = loadAddon();
  return addon.disassemble(modules, addresses);
}
