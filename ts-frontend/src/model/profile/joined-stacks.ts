/**
 * Generated code has its names only when the recording ends, so stacks that were recorded at different places of one
 * procedure are different nodes of the profile (sampler/profile/generated.h). Here they become one. Pure.
 */
import { u32 } from './columns.js';
import { PairIndex } from './pair-index.js';
import type { RawEntity, RawProfile } from './raw-profile.js';
import { withStacks } from './code-scopes.js';

/** A procedure of generated code has a name, but neither an address nor a module. */
const isGenerated = ({ kind, name, address, module, record }: RawEntity): boolean =>
  kind === 'procedure' && name !== '' && address === 0 && module === 0 && record === 0;

/** The same profile with one node for each path; the same object if it has no generated code. */
export function joinStacks(raw: RawProfile): RawProfile {
  const generated = Uint8Array.from(raw.entities, (entity, id) => (id > 0 && isGenerated(entity) ? 1 : 0));
  if (!generated.includes(1)) return raw;
  const { parent, entity } = raw.stacks;
  const stack = new Uint32Array(parent.length);
  const nodes = { parent: new Uint32Array(parent.length), entity: new Uint32Array(parent.length) };
  const known = new PairIndex(parent.length); // by parent and entity
  let count = Math.min(1, parent.length);
  for (let n = 1; n < parent.length; n++) {
    const up = u32(stack, u32(parent, n)),
      its = u32(entity, n);
    // direct recursion appears once, as in other code
    const node = generated[its] === 1 && up > 0 && u32(nodes.entity, up) === its ? up : known.findOrAdd(up, its, count);
    if (node === count) {
      count++;
      nodes.parent[node] = up;
      nodes.entity[node] = its;
    }
    stack[n] = node;
  }
  return withStacks(raw, stack, { parent: nodes.parent.subarray(0, count), entity: nodes.entity.subarray(0, count) });
}
