/** Advice that findings of several kinds give. */

/** After "Copy less". */
export const waysToCopyLess =
  'pass and return large values by reference or by moving them, append to a string in place of building a new one, ' +
  'use a deque where elements are removed from the front of a vector, copy only the part that is needed, or copy to ' +
  'memory that is used again';

/** After "try" or "keep the memory". */
export const waysToKeepMemory =
  'MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000 in the environment (glibc; in the program: ' +
  'mallopt), or another allocator';

/** By what threads do to a cache line (SharingFacts). */
export const remediesOfSharing = {
  'words-apart':
    'Give each thread a cache line of its own for what it writes (alignas(64), padding), or let it work in a local ' +
    'variable, and store the result at the end',
  changed:
    'Let each thread update a variable of its own, and combine these at the end; if it is a reference count, pass ' +
    'references instead of copies; if it hands out work (the number of the next piece), take several pieces at a time',
  exchanged: 'Let each thread work on data of its own, and combine the results from time to time',
} as const;
