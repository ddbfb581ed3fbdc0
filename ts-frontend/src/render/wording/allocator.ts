/** Advice for contention in the memory allocator. */
export const ofAllocator =
  "This lock is the allocator's: give it more arenas (glibc: MALLOC_ARENA_MAX or glibc.malloc.arena_max in " +
  'GLIBC_TUNABLES may limit them; unset it), try another allocator (LD_PRELOAD), or allocate less: reuse memory, or ' +
  'take more at once';
