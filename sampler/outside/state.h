/* What session.c and objects.c share: the session under way.
 *
 * Owns:    nothing but the types. Writer and reader: as session.h says.
 */
#ifndef QZI_OUTSIDE_STATE_H
#define QZI_OUTSIDE_STATE_H

#include <dirent.h>
#include "abi/session.h"
#include "sampler/util/hash_index.h"

#define QZI_OUTSIDE_NAME 16u                 /* maximum length of a thread's name, including the final 0 */
#define QZI_OUTSIDE_TIDS (UINT32_C(1) << 22) /* the kernel's limit of thread IDs */
#define QZI_OUTSIDE_HOT  64u                 /* maximum number of objects whose owner is read in each snapshot */

/* State of a record. */
struct qzi_outside_thread {
  uint32_t tid;  /* 0: the record is free */
  uint32_t look; /* number of the last search that found it */
  uint64_t born_ns, name_due_ns;
};

/* An object for which threads wait, or waited recently. */
struct qzi_outside_lock {
  uint32_t object;
  uint32_t holder;         /* index + 1 of the record whose stack contains it; 0 if none */
  uint32_t looks, changes; /* number of readings of its owner, and of changes among them */
  uint64_t holder_serial;
  uint64_t waited_ns; /* when a thread last waited for it */
};

struct qzi_outside {
  pid_t pid;
  int fd;
  unsigned char *base; /* the session, mapped for writing */
  size_t bytes;
  struct qz_session *head;
  DIR *tasks;
  struct qzi_outside_thread *threads; /* by record */
  uint32_t *record_of;                /* index + 1 by thread ID */
  uint32_t *free_list, free_count, high, look;
  uint64_t serials, due_ns;
  char own_name[QZI_OUTSIDE_NAME]; /* the process's name, which threads inherit */
  /* objects.c */
  struct qzi_table objects; /* by address, or place */
  struct qzi_outside_lock hot[QZI_OUTSIDE_HOT];
  uint32_t hot_count;
};

static inline void *qzi_outside_at(const struct qzi_outside *outside, const struct qz_table *table, uint32_t index) {
  return outside->base + table->offset + (uint64_t)index * table->stride;
}
static inline struct qz_thread *qzi_outside_record(const struct qzi_outside *outside, uint32_t index) {
  return qzi_outside_at(outside, &outside->head->thread_table, index);
}
static inline struct qz_object *qzi_outside_object_at(const struct qzi_outside *outside, uint32_t index) {
  return qzi_outside_at(outside, &outside->head->object_table, index);
}

/* To be called at the beginning of a snapshot: reads the owners of locks with waiters (objects.c). */
void qzi_outside_owners(struct qzi_outside *outside, uint64_t now_ns);

#endif
