/**
 * The processor time on paths with neither a loop nor a line: with hooks, paths of which no sample was taken; else code
 * whose debug information had not been read yet, and code outside all loops. Pure.
 */
import { f64, u32, u8 } from '../profile/columns.js';
import { isCode } from '../profile/code-scopes.js';
import { State } from '../profile/raw-profile.js';
import { isBuilt, tablesOf } from '../metrics/tables.js';
import type { Model } from '../result/types.js';

/** null: the profile has neither loops nor lines, or the model is a modified copy. */
export function withoutCodeNs(model: Model): number | null {
  if (!isBuilt(model)) return null;
  const { lines, weights } = tablesOf(model);
  const { tuples, stacks, entities } = lines.raw;
  const isPlace = Uint8Array.from(entities, ({ kind }) => (isCode(kind) ? 1 : 0));
  if (!isPlace.includes(1)) return null;
  const has = new Uint8Array(Math.max(1, stacks.parent.length));
  for (let n = 1; n < stacks.parent.length; n++)
    has[n] = u8(isPlace, u32(stacks.entity, n)) | u8(has, u32(stacks.parent, n));
  let ns = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    const works = state === State.useful || state === State.overhead;
    if (works && u8(has, u32(tuples.stack, k)) === 0) ns += f64(weights, k);
  }
  return ns;
}
