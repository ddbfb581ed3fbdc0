/**
 * Maps pairs of numbers to numbers, such as parent node and entity to a node: a hash table with open addressing,
 * several times as fast as a Map with one key made of both. Pure.
 */
import { hashFactor } from './abi.js';
import { u32 } from './columns.js';

export class PairIndex {
  readonly #slots: Uint32Array; // value, 0 = free
  readonly #firsts: Uint32Array;
  readonly #seconds: Uint32Array;
  readonly #mask: number;
  /** `most`: maximum number of pairs. */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * most + 2));
    this.#slots = new Uint32Array(size);
    this.#firsts = new Uint32Array(size);
    this.#seconds = new Uint32Array(size);
    this.#mask = size - 1;
  }

  /** The value that was stored for the pair earlier; else stores `value`, which must not be 0, and returns it. */
  findOrAdd(first: number, second: number, value: number): number {
    let at = ((Math.imul(first, hashFactor) ^ Math.imul(second, 0x85ebca6b)) >>> 7) & this.#mask;
    for (let known = u32(this.#slots, at); known !== 0; known = u32(this.#slots, at)) {
      if (this.#firsts[at] === first && this.#seconds[at] === second) return known;
      at = (at + 1) & this.#mask;
    }
    this.#slots[at] = value;
    this.#firsts[at] = first;
    this.#seconds[at] = second;
    return value;
  }
}
