/** Where the effort of a run went (docs/reference/metrics.md, section 4). Nanoseconds of processor time. */

export const overheadKinds = ['synchronization', 'scheduling', 'threads', 'library'] as const;
export type OverheadKind = (typeof overheadKinds)[number];

/** What low or high idleness and overhead indicate about the division of the work. */
export type Guidance = 'effective' | 'coarser' | 'finer' | 'another';

export interface Effort {
  effortNs: number; // work + idleness + spinning
  workNs: number;
  idlenessNs: number;
  spinningNs: number;
  overheadNs: number; // part of the work; the sum of `overhead`
  overhead: Record<OverheadKind, number>;
  guidance: Guidance | null; // null: not known, because the kernel provided no samples that show overhead
}
