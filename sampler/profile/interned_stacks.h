/* Numbers for stacks, and for the objects and threads of the session that they consist of or belong to.
 *
 * Owns:    those parts of struct qzi_interner. Writer and reader: as interner.h says.
 */
#ifndef QZI_INTERNED_STACKS_H
#define QZI_INTERNED_STACKS_H

#include "interner.h"

int qzi_intern_open(struct qzi_interner *in, struct qzi_file *file, const struct qz_session_view *view);
void qzi_intern_close(struct qzi_interner *in);

/* Entity of an object record; 0: none (index 0, record not in use, no room). */
uint32_t qzi_intern_object(struct qzi_interner *in, uint32_t index);
/* Entity of the thread that has this record now; sets the memo. 0: the record is free, or there is no room. */
uint32_t qzi_intern_thread_slow(struct qzi_interner *in, uint32_t index, uint64_t serial);
static inline uint32_t qzi_intern_thread(struct qzi_interner *in, uint32_t index, uint64_t serial) {
  struct qzi_thread_memo *memo = &in->memos[index];
  return memo->serial == serial && memo->entity ? memo->entity : qzi_intern_thread_slow(in, index, serial);
}

/* The stack `parent` extended by the entity of a key of the session. An invalid key is left out (the result is
 * `parent`, and head->invalid counts it); if there is no room the stack is cut (head->stacks_cut). */
uint32_t qzi_intern_child_slow(struct qzi_interner *in, uint32_t parent, uint64_t key, uint32_t hash);
static inline uint32_t qzi_intern_child(struct qzi_interner *in, uint32_t parent, uint64_t key) {
  uint32_t hash = qzi_hash(key, parent);
  QZI_TABLE_EACH(&in->nodes, hash, node)
  if (in->file->stacks[node].parent == parent && in->node_keys[node] == key) return node;
  return qzi_intern_child_slow(in, parent, key, hash);
}

/* Sets the beginning of that thread's path to `node`. If the thread's start routine is on that path already, the path
 * is cut before it, so that threads that create threads of their own kind, level by level or one after another, have
 * the same path. */
void qzi_intern_base(struct qzi_interner *in, uint32_t index, uint64_t serial, uint32_t node);
/* Replaces the first `depth` keys of that thread's record by those of its path; `keys` has room for view->stack_limit.
 * Returns the number of keys. */
uint32_t qzi_intern_based_slow(const struct qzi_interner *in, uint32_t index, uint64_t *keys, uint32_t depth);
static inline uint32_t qzi_intern_based(const struct qzi_interner *in, uint32_t index, uint64_t serial, uint64_t *keys,
                                        uint32_t depth) {
  if (!in->bases || !in->bases[index].node || in->bases[index].serial != serial) return depth;
  return qzi_intern_based_slow(in, index, keys, depth);
}

/* Fills in prints[from .. depth-1]. A fingerprint has 64 bits, and is the parent's plus a term for the key on top and
 * its depth; so stacks with a common beginning need no new work for that part. */
static inline void qzi_prints(const struct qzi_interner *in, const uint64_t *keys, uint64_t *prints, uint32_t from,
                              uint32_t depth) {
  uint64_t seed = in->seed[0], factor = in->seed[1] + 2 * (uint64_t)from, print = from ? prints[from - 1] : 0;
  for (uint32_t k = from; k < depth; k++, factor += 2) {
    unsigned __int128 product = (unsigned __int128)(keys[k] ^ seed) * factor;
    prints[k] = print += (uint64_t)product ^ (uint64_t)(product >> 64);
  }
}
/* Node of the whole stack keys[0 .. depth-1], whose fingerprints are prints[0 .. depth-1]. */
uint32_t qzi_intern_stack_slow(struct qzi_interner *in, const uint64_t *keys, const uint64_t *prints, uint32_t depth);
static inline uint32_t qzi_intern_stack(struct qzi_interner *in, const uint64_t *keys, const uint64_t *prints,
                                        uint32_t depth) {
  if (!depth) return 0;
  uint64_t print = prints[depth - 1];
  QZI_TABLE_EACH(&in->prints, (uint32_t)(print >> 32), node)
  if (in->node_prints[node] == print) return node;
  return qzi_intern_stack_slow(in, keys, prints, depth);
}

#endif
