/** Notice about other recorded processes of the launched program, whose CPUs this one could not use. Pure. */
import type { RelatedProcessesNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** The least mean number of CPUs that matters. */
const leastCpus = 0.1;

export const relatedProcesses = ({ head, relatedCpus: cpus, usable: left }: Model): RelatedProcessesNotice[] =>
  cpus >= leastCpus ? [{ form: 'related-processes', cpus, left, of: head.cpus }] : [];
