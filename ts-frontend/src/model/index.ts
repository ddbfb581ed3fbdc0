/** The model: every metric of docs/metrics.md from a profile. Pure: no I/O, no clock, no state between calls. */
export type * from './raw.js';
export { State } from './raw.js';
export type * from './types.js';
export { stateNames } from './types.js';
