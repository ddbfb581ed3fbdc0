/** Where the effort of a run went (docs/reference/metrics.md, section 4). Nanoseconds of processor time. */

export const overheadKinds = ['synchronization', 'scheduling', 'threads', 'library'] as const;
export type OverheadKind = (typeof overheadKinds)[number];

/** What idleness and overhead, low or high, say of how the work is divided. */
export type Guidance = 'effective' | 'coarser' | 'finer' | 'another';

export interface Effort {
  effortNs: number; // work + idleness + spinning
  workNs: number;
  idlenessNs: number;
  spinningNs: number;
  overheadNs: number; // part of the work: sum of the next
  overhead: Record<OverheadKind, number>;
  guidance: Guidance | null; // null: the kernel gave no samples, so that overhead is not known
}
