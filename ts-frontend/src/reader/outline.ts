/**
 * Reads only the parts of a profile that a set needs. Several times faster than openProfile: names are decoded when
 * first used, and objects that no thread waited for are skipped.
 */
import { abi, item, type MemberProfile, type RawEntity } from '../model/index.js';
import { coded, headOf, loadAddon, openProfile, type OutlineColumns } from './profile.js';

type OutlineObject = MemberProfile['objects'][number];

class EntityRow implements Pick<RawEntity, keyof MemberProfile['entities'][number]> {
  #name: string | undefined;
  constructor(
    private readonly columns: OutlineColumns['entities'],
    private readonly text: Buffer,
    private readonly row: number,
  ) {}
  get kind(): RawEntity['kind'] {
    const kind = item(this.columns.kind, this.row);
    return kind === 0 ? 'procedure' : coded.kind(kind); // row 0 is reserved for "no entity"
  }
  get name(): string {
    return (this.#name ??= this.#string(item(this.columns.name, this.row)));
  }
  get file(): string {
    return this.#string(item(this.columns.file, this.row));
  }
  get line(): number {
    return item(this.columns.line, this.row);
  }
  get address(): number {
    return item(this.columns.address, this.row);
  }
  get module(): number {
    return item(this.columns.module, this.row);
  }
  get record(): number {
    return item(this.columns.record, this.row);
  }
  get naming(): RawEntity['naming'] {
    return coded.naming(item(this.columns.naming, this.row));
  }
  get libraryWait(): RawEntity['libraryWait'] {
    return coded.libraryWait(item(this.columns.libraryWait, this.row));
  }
  #string(offset: number): string {
    return offset <= 0 ? '' : this.text.toString('utf8', offset, this.text.indexOf(0, offset));
  }
}

/** Throws a ProfileError, as openProfile does. */
export function openOutline(path: string): MemberProfile {
  const { head, text, entities, objects, ...rest } = loadAddon().outline(path);
  // an unfinished profile has no names, which openProfile looks up
  if (head.abandoned || head.status === abi.statuses.recording) return openProfile(path);
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const names = Object.keys(objects) as (keyof OutlineColumns['objects'])[];
  return {
    ...rest,
    objects: Array.from(
      objects.entity,
      (_, row) => Object.fromEntries(names.map((name) => [name, item(objects[name], row)])) as OutlineObject,
    ),
    head: headOf(head),
    entities: Array.from(entities.kind, (_, row) => new EntityRow(entities, bytes, row)),
  };
}
