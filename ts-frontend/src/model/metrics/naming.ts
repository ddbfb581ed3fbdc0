/** Names of entities, the kinds they are shown as, and groups of entities with the same name. Pure. */
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

/**
 * An object without a name of its own is named after the place that created it, a thread after its start routine. Where
 * no line is known, the address is part of an object's name: a procedure may create several.
 */
function nameOf(raw: Named, entity: Named['entities'][number], procedures: () => Map<number, string>): string {
  const inside = entity.naming === 'inside';
  if (entity.name !== '' && !inside)
    return entity.kind === 'procedure' || entity.kind === 'thread' ? ownName(entity.name) : entity.name;
  const module = entity.module > 0 ? item(raw.modules, entity.module - 1) : undefined;
  const offset = module ? `${baseName(module.path)}+${hex(entity.address - module.bias)}` : hex(entity.address);
  if (inside) return `${entity.kind} in ${ownName(entity.name)} (${offset})`;
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

/** The parts of a profile that names are made of. */
interface Named {
  entities: readonly Pick<RawEntity, 'kind' | 'name' | 'naming' | 'file' | 'line' | 'address' | 'module' | 'record'>[];
  modules: readonly Pick<RawProfile['modules'][number], 'path' | 'bias'>[];
}

/** Returns a function that makes the name of an entity on demand. */
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
 * Groups of entities with the same name, members by id: objects and threads with equal kind and name; procedures only
 * if file and line are equal, too (copies that the compiler made), because two files may each have their own `init`;
 * loops of code if they are in such procedures.
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
  groups: number[][]; // groups of entities with the same name, members by id
  groupOf: Uint32Array; // by entity of the profile: id of its group (groups follow the entities), 0 = none
}
const known = new WeakMap<RawProfile['entities'], Naming>();

/** Cached for each list of entities: as long as no new ones appear, a live screen reads the same list repeatedly. */
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
