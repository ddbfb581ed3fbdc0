/** A wait of a rank at a call of MPI for another rank that was late (docs/reference/mpi-layer.md). */
import type { JobEvent } from './job-events.js';

export type Pattern = 'late sender' | 'late receiver' | 'late rank' | 'late root';

/** A call that waited because another rank was late. Times are converted to the clock of the first member's host. */
export interface Wait {
  event: JobEvent;
  late: JobEvent; // the event that was late
  pattern: Pattern;
  ns: number; // from the begin of the call to the late event, at most to the end of the call
  endNs: number;
  lateNs: number; // time of the late event
}
