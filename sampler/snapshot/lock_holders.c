/* See lock_holders.h. */
#include "lock_holders.h"
#include "sampler/util/array.h"
#include "sampler/util/lazy_memory.h"

#include <stdlib.h>

/* A thread that held a lock. */
struct holding {
  uint32_t object, node, entity;
  uint32_t next; /* index + 1 of another holder of the same lock */
};
struct qzi_holders {
  uint32_t *lock_up; /* by node: the nearest lock at or above it towards the root; 0: none */
  size_t bytes;
  uint32_t filled; /* number of nodes for which that is known */
  struct holding *all;
  uint32_t count, room;
};

struct qzi_holders *qzi_holders_open(const struct qzi_file *file) {
  struct qzi_holders *holders = calloc(1, sizeof *holders);
  if (!holders) return NULL;
  holders->bytes = file->head->sections[QZ_SECTION_STACKS].capacity * sizeof *holders->lock_up;
  holders->lock_up = qzi_lazy_memory(holders->bytes);
  holders->filled = 1;
  if (holders->lock_up) return holders;
  free(holders);
  return NULL;
}

void qzi_holders_close(struct qzi_holders *holders) {
  if (!holders) return;
  qzi_lazy_free(holders->lock_up, holders->bytes);
  free(holders->all);
  free(holders);
}

void qzi_holders_begin(struct qzi_holders *holders) { holders->count = 0; }

static int is_lock(uint64_t key) { return key & QZ_KEY_OBJECT && qz_kind_is_lock(QZ_KEY_KIND(key)); }

/* Fills in lock_up for new nodes; parents have smaller indices than their children. */
static void fill(struct qzi_sampler *sampler, struct qzi_holders *holders) {
  uint32_t nodes = (uint32_t)qzi_file_count(sampler->file, QZ_SECTION_STACKS);
  for (; holders->filled < nodes; holders->filled++) {
    uint32_t node = holders->filled;
    holders->lock_up[node] =
      is_lock(sampler->in.node_keys[node]) ? node : holders->lock_up[sampler->file->stacks[node].parent];
  }
}

static void add(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t object, uint32_t node,
                uint32_t entity) {
  struct qzi_object_memo *memo = &sampler->objects[object];
  if (memo->held_round != sampler->round) memo->holdings = 0;
  memo->held_round = sampler->round;
  if (memo->holdings && holders->all[memo->holdings - 1].entity == entity &&
      holders->all[memo->holdings - 1].node == node)
    return; /* the lock is twice on one stack */
  if (qzi_grow((void **)&holders->all, &holders->room, holders->count + 1, sizeof *holders->all)) return;
  holders->all[holders->count++] =
    (struct holding){.object = object, .node = node, .entity = entity, .next = memo->holdings};
  memo->holdings = holders->count;
}

void qzi_holders_add(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t entity,
                     uint32_t waits_for) {
  fill(sampler, holders);
  uint32_t top = node, high = qz_session_object_high(sampler->view);
  for (uint32_t at = holders->lock_up[node]; at; at = holders->lock_up[sampler->file->stacks[at].parent]) {
    uint32_t object = QZ_KEY_INDEX(sampler->in.node_keys[at]);
    if ((at == top && object == waits_for) || object >= high) continue;
    add(sampler, holders, object, node, entity);
  }
}

int qzi_holders_has(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t object,
                    uint32_t waits_for) {
  fill(sampler, holders);
  for (uint32_t at = holders->lock_up[node]; at; at = holders->lock_up[sampler->file->stacks[at].parent])
    if (QZ_KEY_INDEX(sampler->in.node_keys[at]) == object && !(at == node && object == waits_for)) return 1;
  return 0;
}

int qzi_holders_any(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t waits_for) {
  fill(sampler, holders);
  uint32_t at = holders->lock_up[node];
  if (at == node && at && QZ_KEY_INDEX(sampler->in.node_keys[at]) == waits_for)
    at = holders->lock_up[sampler->file->stacks[at].parent];
  return at != 0;
}

uint32_t qzi_holders_of(const struct qzi_sampler *sampler, const struct qzi_holders *holders, uint32_t object,
                        uint32_t *at, uint32_t *node, uint32_t *entity) {
  const struct qzi_object_memo *memo = &sampler->objects[object];
  if (!*at)
    *at = memo->held_round == sampler->round ? memo->holdings : 0;
  else
    *at = holders->all[*at - 1].next;
  if (*at) *node = holders->all[*at - 1].node, *entity = holders->all[*at - 1].entity;
  return *at;
}
