/** The profile as the page's script sees it: columns of integers in ns, stored in the page as one JSON text. */

/** The displayed name, and the source location; '' if unknown. */
export interface NamedPlace {
  name: string;
  where: string;
}
/**
 * The calling context tree by elapsed time, one row per node; row 0 is the whole program. Parents precede their
 * children; siblings are sorted by size, largest first.
 */
export interface FlameColumns {
  entity: readonly number[]; // index in PageData.entities
  parent: readonly number[]; // 0 for row 0
  nptNs: readonly number[]; // including descendants
  timeNs: readonly number[]; // processor time, including descendants
  alone: readonly number[]; // 0: no other processor was busy, ..., 4: all processors were busy
  changeNs: readonly number[] | null; // difference to the NPT in another profile; null if there is none
  complete: boolean; // false: the smallest nodes are left out, and their time is contained only in their ancestors'
}
export interface Layer {
  of: number | string; // index in PageData.entities, or a text if the layer is no entity
  ns: readonly number[]; // by bin
}
/** Figure 1 of an entity: its NPT by number of busy processors, divided among itself and its callees. */
export interface Figure {
  entity: number; // index in PageData.entities
  nptNs: number;
  layers: readonly Layer[];
}
export interface PageData {
  processors: number;
  elapsedNs: number;
  entities: readonly NamedPlace[];
  flame: FlameColumns;
  bins: readonly { from: number; to: number }[]; // ranges of numbers of busy processors
  figures: readonly Figure[]; // sorted by NPT, largest first
}
