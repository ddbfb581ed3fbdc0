/** The model: every metric of docs/metrics.md from a profile. Pure: no I/O, no clock, no state between calls. */
export type * from './raw.js';
export { noPaths, State, Waiting } from './raw.js';
export type * from './types.js';
export { stateNames } from './types.js';
export { buildModel } from './model.js';
export { findEntities, focusOn } from './focus.js';
export { checkInvariants } from './invariants.js';
export { compare } from './compare.js';
export type { Comparison, EntityChange, FindingChange } from './compare.js';
export { difference } from './difference.js';
export { independentSnapshots, shareInterval } from './interval.js';
export { baseName, inlinedText, placeOf, saysItsKind } from './names.js';
export { formsOf } from './short-names.js';
export { formatNs } from './format.js';
