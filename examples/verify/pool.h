/* Blocks of memory that all workers share, so that what one worker no longer needs another one uses.
 * Owns the free blocks, under the mutex "node pool".
 */
#ifndef VERIFY_POOL_H
#define VERIFY_POOL_H

#include <quartz/quartz.h>

#define POOL_BLOCK_BYTES ((size_t)16384)

struct pool_block {
  struct pool_block *next;
  uint64_t data[POOL_BLOCK_BYTES / 8 - 1];
};

struct pool {
  qz_mutex lock;
  struct pool_block *free;
};

int pool_init(struct pool *pool);                /* 0 or an error number */
void pool_destroy(struct pool *pool);            /* all blocks have been given back */
struct pool_block *pool_take(struct pool *pool); /* NULL: out of memory */
void pool_give(struct pool *pool, struct pool_block *list);

#endif
