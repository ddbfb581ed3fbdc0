/* See pool.h. */
#include "pool.h"

#include <stdlib.h>

int pool_init(struct pool *pool) {
  pool->free = NULL;
  return qz_mutex_init(&pool->lock, "node pool", QZ_ADAPTIVE);
}

void pool_destroy(struct pool *pool) {
  while (pool->free) {
    struct pool_block *block = pool->free;
    pool->free = block->next;
    free(block);
  }
  qz_mutex_destroy(&pool->lock);
}

struct pool_block *pool_take(struct pool *pool) {
  qz_mutex_lock(&pool->lock);
  struct pool_block *block = pool->free;
  if (block) pool->free = block->next;
  qz_mutex_unlock(&pool->lock);
  return block ? block : malloc(sizeof *block);
}

void pool_give(struct pool *pool, struct pool_block *list) {
  if (!list) return;
  struct pool_block *last = list;
  while (last->next) last = last->next;
  qz_mutex_lock(&pool->lock);
  last->next = pool->free;
  pool->free = list;
  qz_mutex_unlock(&pool->lock);
}
