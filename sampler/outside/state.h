/* What session.c and objects.c share: the session under way.
 *
 * Owns:    nothing but the types. Writer and reader: as session.h says.
 */
#ifndef QZI_OUTSIDE_STATE_H
#define QZI_OUTSIDE_STATE_H

#include <dirent.h>
#include "abi/session.h"
#include "sampler/util/hash_index.h"
#include "session.h"

#define QZI_OUTSIDE_NAME 16u                 /* bytes of a thread's name, the final 0 included */
#define QZI_OUTSIDE_TIDS (UINT32_C(1) << 22) /* the kernel's limit of thread ids */
#define QZI_OUTSIDE_HOT  64u                 /* objects that are looked at in each snapshot */

/* What is remembered of a record. */
struct qzi_outside_thread {
  uint32_t tid;  /* 0: the record is free */
  uint32_t look; /* number of the last one that found it */
  uint64_t born_ns, name_due_ns;
};

/* An object that threads wait for, or did lately. */
struct qzi_outside_lock {
  uint32_t object;
  uint32_t holder;         /* index + 1 of the record that has it on its stack; 0: none */
  uint32_t looks, changes; /* at its owner; how often that was another one than before */
  uint64_t holder_serial;
  uint64_t waited_ns; /* when one last did */
};

struct qzi_outside {
  pid_t pid;
  int fd;
  unsigned char *base; /* the session, mapped for writing */
  size_t bytes;
  struct qz_session *head;
  DIR *tasks;
  struct qzi_outside_thread *threads; /* by record */
  uint32_t *record_of;                /* by thread id: index + 1 */
  uint32_t *free_list, free_count, high, look;
  uint64_t serials, due_ns;
  char own_name[QZI_OUTSIDE_NAME]; /* the process's, which threads inherit */
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

/* A snapshot begins: who owns the locks that are waited for (objects.c). */
void qzi_outside_owners(struct qzi_outside *outside, uint64_t now_ns);

#endif
