/**
 * The purposes of procedures and threads of known libraries, which the sampler derives from their names
 * (abi/purpose.h).
 */
import type { Entity } from '../result/types.js';

/** Whether the entity has any of the purposes; `any`: bits of Purpose. */
export const isFor = ({ purposes }: Pick<Entity, 'purposes'>, any: number): boolean => (purposes & any) !== 0;
