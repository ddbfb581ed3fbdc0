/** What entities are called, which kind they are shown as, and which of them are namesakes. Pure. */
import { isCode } from '../profile/code-scopes.js';
import { item } from '../profile/columns.js';
import { isLockKind } from '../profile/lock-kinds.js';
import type { EntityKind, RawEntity, RawProfile } from '../profile/raw-profile.js';
import type { Kind } from '../result/types.js';
import { ownName } from './own-name.js';

export function kindOf(raw: EntityKind): Kind {
  return isLockKind(raw) ? 'lock' : (raw as Kind);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

export function placeOf(file: string, line: number): string {
  return file === '' ? '' : line > 0 ? `${baseName(file)}:${line}` : baseName(file);
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

/** Without a name of its own an object is known by the place that made it, a thread by its start routine. */
function nameOf(raw: Named, entity: Named['entities'][number], procedures: () => Map<number, string>): string {
  if (entity.name !== '')
    return entity.kind === 'procedure' || entity.kind === 'thread' ? ownName(entity.name) : entity.name;
  const module = entity.module > 0 ? item(raw.modules, entity.module - 1) : undefined;
  const offset = module ? `${baseName(module.path)}+${hex(entity.address - module.bias)}` : hex(entity.address);
  if (entity.kind === 'procedure') return offset;
  if (entity.kind === 'thread') {
    if (entity.address === 0) return entity.record === 0 ? 'main thread' : 'thread';
    return procedures().get(entity.address) ?? `thread ${offset}`;
  }
  const place = placeOf(entity.file, entity.line);
  if (entity.kind === 'code-loop') return `loop at ${place === '' ? offset : place}`;
  if (entity.kind === 'code-line') return place;
  return place !== ''
    ? `${entity.kind} at ${place}`
    : entity.address !== 0
      ? `${entity.kind} at ${offset}`
      : entity.kind;
}

/** What a name is made of. */
interface Named {
  entities: readonly Pick<RawEntity, 'kind' | 'name' | 'file' | 'line' | 'address' | 'module' | 'record'>[];
  modules: readonly Pick<RawProfile['modules'][number], 'path' | 'bias'>[];
}

/** Names of entities one by one, made when they are asked for. */
export function namer(raw: Named): (id: number) => string {
  let known: Map<number, string> | undefined;
  const procedures = (): Map<number, string> => {
    if (known) return known;
    known = new Map<number, string>();
    for (const entity of raw.entities)
      if (entity.kind === 'procedure' && entity.name !== '' && entity.record === 0)
        known.set(entity.address, ownName(entity.name));
    return known;
  };
  return (id) => (id === 0 ? '' : nameOf(raw, item(raw.entities, id), procedures));
}

/**
 * Groups of namesakes, members by id: objects and threads of one kind and name; procedures only where file and line
 * agree too (copies that the compiler made of one procedure), for two files may each have their own `init`; loops of
 * code where they are in namesakes.
 */
function namesakes(raw: RawProfile, names: string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (let id = 1; id < raw.entities.length; id++) {
    const entity = item(raw.entities, id);
    if (entity.kind === 'procedure' && (entity.file === '' || entity.line === 0)) continue;
    const name = item(names, id);
    const place =
      entity.kind === 'procedure'
        ? `${entity.file}:${entity.line}`
        : isCode(entity.kind)
          ? `${entity.file}:${names[entity.record] ?? ''}`
          : '';
    const key = `${entity.kind}\0${name}\0${place}`;
    const group = groups.get(key);
    if (group) group.push(id);
    else groups.set(key, [id]);
  }
  return [...groups.values()].filter((members) => members.length > 1);
}

export interface Naming {
  names: string[]; // by entity of the profile
  groups: number[][]; // namesakes, members by id
  groupOf: Uint32Array; // by entity of the profile: its group's id (the groups follow the entities), 0 = none
}
const known = new WeakMap<RawProfile['entities'], Naming>();

/** Remembered for a list of entities: while no new ones come up, a live screen reads the same list again and again. */
export function namingOf(raw: RawProfile): Naming {
  const before = known.get(raw.entities);
  if (before) return before;
  const nameOfId = namer(raw);
  const names = raw.entities.map((_, id) => nameOfId(id));
  const groups = namesakes(raw, names);
  const groupOf = new Uint32Array(Math.max(1, raw.entities.length));
  groups.forEach((members, k) => {
    for (const member of members) groupOf[member] = groupOf.length + k;
  });
  const naming = { names, groups, groupOf };
  known.set(raw.entities, naming);
  return naming;
}
