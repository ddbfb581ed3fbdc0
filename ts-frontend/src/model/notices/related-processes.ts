/** Other recorded processes of the launched program, which had CPUs that this one did not use. Pure. */
import type { RelatedProcessesNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** Below so many CPUs on average they change no conclusion. */
const leastCpus = 0.1;

export const relatedProcesses = ({ head, relatedCpus: cpus, usable: left }: Model): RelatedProcessesNotice[] =>
  cpus >= leastCpus ? [{ form: 'related-processes', cpus, left, of: head.cpus }] : [];
