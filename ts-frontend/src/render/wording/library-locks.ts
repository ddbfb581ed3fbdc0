/** Advice for contention at locks of libraries that the program does not know of. */
import type { LibraryLockFacts } from '../../model/index.js';
import type { Phrases } from './phrases.js';

export const ofAllocator =
  'This lock belongs to the memory allocator: let it have more arenas (glibc: MALLOC_ARENA_MAX, or ' +
  'glibc.malloc.arena_max in GLIBC_TUNABLES, may limit them; unset it), try another allocator (LD_PRELOAD), or ' +
  'allocate less: reuse memory, or allocate larger blocks';

const remedies: Record<LibraryLockFacts['of'], string> = {
  none: '',
  random:
    'give each thread a generator of its own (rand_r, random_r, erand48_r; in C++, an engine of <random> that is ' +
    'thread_local)',
  stream:
    'write larger pieces (format several lines into a buffer, then one call), give each thread a stream or buffer of ' +
    'its own, or hold the stream (flockfile) for several unlocked calls (putc_unlocked, fwrite_unlocked)',
  time:
    'convert times less often: keep the last result in each thread (the minute or day rarely changes), or compute ' +
    'with a known offset from UTC',
  loader: 'look symbols up once and keep their addresses; where exceptions are thrown, throw fewer of them',
};

/** What to do instead of sharing that state, where the finding is about the code that shares it. */
export const withoutLibrary = ({ of, taker }: LibraryLockFacts, { name }: Pick<Phrases, 'name'>): string =>
  `${taker === null ? 'It' : name(taker)} takes a lock of the C library in each call: ${remedies[of]}`;

/** The same, where the finding is about the lock. */
export function ofLibrary({ of, taker }: LibraryLockFacts, { name }: Pick<Phrases, 'name'>): string {
  const whose =
    taker === null
      ? 'The C library takes this lock in each such call'
      : `${name(taker)} takes this lock, which is the C library's own, in each call`;
  return `${whose}: ${remedies[of]}`;
}
