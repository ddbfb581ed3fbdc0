/** What procedures and threads of known libraries are for, which the sampler decides by their names (abi/purpose.h). */
import type { Entity } from '../result/types.js';

/** `any`: bits of Purpose. */
export const isFor = ({ purposes }: Pick<Entity, 'purposes'>, any: number): boolean => (purposes & any) !== 0;
