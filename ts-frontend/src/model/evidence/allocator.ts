/** Which procedures are an allocator's, by their names. Pure. */
import type { Entity } from '../result/types.js';

/** Procedures of allocators: C's, C++'s, inner ones of glibc, then mimalloc, jemalloc and tcmalloc. */
const allocates = new RegExp(
  '^(' +
    'malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|malloc_trim|' +
    'operator (new|delete).*|_Zn[wa].*|_Zd[la].*|' +
    '__libc_(malloc|free|calloc|realloc)|_int_(malloc|free)|sysmalloc|systrim.*|heap_trim|' +
    'mi_\\w+|je_\\w+|tc_\\w+' +
    ')$',
);
export const isAllocator = ({ name }: Pick<Entity, 'name'>): boolean => allocates.test(name);
