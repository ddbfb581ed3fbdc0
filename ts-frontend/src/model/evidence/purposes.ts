/** What procedures and threads of known libraries are for, which the sampler decides by their names (abi/purpose.h). */
import type { Purpose } from '../profile/abi.js';
import type { Entity } from '../result/types.js';

type Bit = (typeof Purpose)[keyof typeof Purpose];

export const isFor = ({ purposes }: Pick<Entity, 'purposes'>, purpose: Bit): boolean => (purposes & purpose) !== 0;
