/** Other recorded processes of the launched program, which had CPUs that this one did not use. Pure. */
import type { KinNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** Below so many CPUs on average they change no conclusion. */
const leastCpus = 0.1;

export const kin = ({ head, kinCpus: cpus, usable: left }: Model): KinNotice[] =>
  cpus >= leastCpus ? [{ form: 'kin', cpus, left, of: head.cpus }] : [];
