/** Advice for contention in the memory allocator. */
export const ofAllocator =
  'This lock belongs to the memory allocator: let it have more arenas (glibc: MALLOC_ARENA_MAX, or ' +
  'glibc.malloc.arena_max in GLIBC_TUNABLES, may limit them; unset it), try another allocator (LD_PRELOAD), or ' +
  'allocate less: reuse memory, or allocate larger blocks';
