/** What the page's script knows of a profile: columns of whole nanoseconds, as they stand in the page's one JSON. */

/** A name as it is shown, and where it is in the source; '' not known. */
export interface NamedPlace {
  name: string;
  where: string;
}
/**
 * The calling context tree by elapsed time, a row for each node; row 0 is the whole program. Rows stand after their
 * parents, siblings with the greatest first.
 */
export interface FlameColumns {
  entity: readonly number[]; // index in PageData.entities
  parent: readonly number[]; // of row 0: 0
  nptNs: readonly number[]; // with all below
  timeNs: readonly number[]; // processor time, likewise
  alone: readonly number[]; // 0: ran alone, ..., 4: all processors were busy
  changeNs: readonly number[] | null; // of NPT, from another profile's; null: nothing to compare with
  complete: boolean; // else the smallest nodes are left out: their time is in those above them alone
}
export interface Layer {
  of: number | string; // index in PageData.entities, or what it is instead
  ns: readonly number[]; // by bin
}
/** Figure 1 of an entity: its NPT by number of busy processors, divided into itself and what it calls. */
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
  bins: readonly { from: number; to: number }[]; // numbers of busy processors
  figures: readonly Figure[]; // the greatest NPT first
}
