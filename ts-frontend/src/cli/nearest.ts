/** Spelling suggestions for mistyped names. */

import { item } from '../model/index.js';

/** Edit distance: letters inserted, deleted, replaced, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? item(before, j - 2) + 1 : Infinity;
      next.push(
        Math.min(swapped, item(row, j) + 1, item(next, j - 1) + 1, item(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    }
    [before, row] = [row, next];
  }
  return item(row, b.length);
}

/** The name with the smallest edit distance, if it is small enough for the word to be a misspelling of it. */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const name of names) {
    if (Math.abs(name.length - word.length) >= least) continue;
    const far = name.startsWith(word) && word.length > 1 ? 0.5 : distance(word.toLowerCase(), name.toLowerCase());
    if (far < least) [best, least] = [name, far];
  }
  return least <= Math.max(1, Math.floor(word.length / 3)) ? best : undefined;
}

export const didYouMean = (word: string, names: Iterable<string>, otherwise: string): string => {
  const near = nearest(word, names);
  return near === undefined ? otherwise : `did you mean "${near}"?`;
};
