/* Strings and records that live as long as the qz_symbols. See internal.h. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct qzi_arena_block {
  struct qzi_arena_block *next;
  size_t used, size;
  char bytes[];
};

void *qzi_arena_get(struct qzi_arena *arena, size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  struct qzi_arena_block *block = arena->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t size = bytes > 65536 ? bytes : 65536;
    block = calloc(1, sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
  }
  void *got = block->bytes + block->used;
  block->used += bytes;
  return got;
}

const char *qzi_arena_text(struct qzi_arena *arena, const char *text, size_t length) {
  char *copy = length ? qzi_arena_get(arena, length + 1) : NULL;
  if (!copy) return "";
  memcpy(copy, text, length);
  return copy;
}

void qzi_arena_free(struct qzi_arena *arena) {
  while (arena->blocks) {
    struct qzi_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}
