/* What the files of the pthread layer know of each other.
 *
 * Owns:    the layer's side of a thread and of a synchronization object.
 * Writer:  threads.c and objects.c; through the calls of publish.h, the thread itself.
 * Reader:  every file of the layer.
 * Must not: call a function that the layer stands in front of by its plain name (real.h); add a locked instruction, a
 *          system call or an allocation to an operation that does not wait, but for an object's first use.
 */
#ifndef QZL_LAYER_H
#define QZL_LAYER_H

#include "real.h"
#include "threadlib/src/publish.h"

#pragma GCC visibility push(hidden)

#define QZL_EXPORT __attribute__((visibility("default")))
#define QZL_SITE() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* A thread: publisher and published in one. */
struct qzl_thread {
  struct qzi_publisher pub;
  struct qzi_pub_thread thread;
  struct qz_processor processor; /* nobody's: what a processor of the thread package would publish */
  uint32_t free[2];              /* for pub.free */
  uint32_t slot;                 /* of the pool */
  uint32_t next_free;            /* slot + 1 */
  uint64_t **hot;                /* its qzi_hot; NULL: it does not run */
  pthread_t id;
  void *(*start)(void *);
  int (*start_c11)(void *);
  void *argument;
  unsigned rounds;               /* destructor rounds gone by */
  struct qzi_pub_site_slot sites[QZI_PUB_SITES];
};
extern _Thread_local struct qzl_thread *qzl_self __attribute__((tls_model("initial-exec")));

/* The calling thread where something is published and it has a place; else NULL, and the real function does it all. */
struct qzl_thread *qzl_adopt(void);
static inline struct qzl_thread *qzl_here(void) {
  struct qzl_thread *me = qzl_self;
  return __builtin_expect(me != NULL, 1) ? me : qzl_adopt();
}

/* A synchronization object, found by its address. */
struct qzl_object {
  uint64_t address; /* 0: free; 1: was removed */
  struct qzi_pub_object pub;
  uint64_t reserved;
};
extern struct qzl_object *qzl_objects;
#define QZL_OBJECT_BITS 19
#define QZL_PROBES 16u

static inline uint32_t qzl_first(const void *address) {
  return (uint32_t)((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u >> (64 - QZL_OBJECT_BITS));
}
/* NULL: not known. */
static inline struct qzl_object *qzl_find(const void *address) {
  struct qzl_object *all = qzl_objects;
  if (__builtin_expect(!all, 0)) return NULL;
  uint32_t first = qzl_first(address);
  for (uint32_t k = 0; k < QZL_PROBES; k++) {
    struct qzl_object *object = &all[(first + k) & ((1u << QZL_OBJECT_BITS) - 1)];
    uint64_t at = __atomic_load_n(&object->address, __ATOMIC_ACQUIRE);
    if (at == (uint64_t)(uintptr_t)address) return object;
    if (!at) return NULL;
  }
  return NULL;
}
struct qzl_object *qzl_insert(const void *address, uint64_t site);
/* Index of the record, made at first use; where the table is full, that of the place. 0: none. */
static inline uint32_t qzl_index(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, uint32_t capacity) {
  struct qzl_object *object = qzl_find(address);
  if (__builtin_expect(!object, 0) && !(object = qzl_insert(address, site))) return qzi_pub_site(&me->pub, kind, site);
  return qzi_pub_object(&object->pub, kind, address, site, capacity);
}
/* The record that the object has already; 0: none. */
static inline uint32_t qzl_known(const void *address) {
  struct qzl_object *object = qzl_find(address);
  return object ? __atomic_load_n(&object->pub.index, __ATOMIC_ACQUIRE) : 0;
}
/* The object is made, or made anew, at this place; the object is destroyed. */
void qzl_initialized(const void *address, uint64_t site);
void qzl_destroyed(const void *address);
int qzl_objects_make(void);
void qzl_objects_forked(void);

/* Counts for a thread that has no call table of its own. */
void qzl_count_shared(uint64_t site, uint64_t key);
/* The object goes on the stack, the access is counted. */
static inline void qzl_ask(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site) {
  if (qzi_pub_ask_fast(&me->pub, &me->thread, index, key, site)) return;
  if (!index) return;
  if (me->pub.calls) qzi_pub_count(&me->pub, site, key);
  else qzl_count_shared(site, key);
  qzi_pub_push(&me->pub, &me->thread, key);
}
static inline void qzl_acquired(struct qzl_thread *me, uint32_t index) {
  if (!index || qzi_pub_acquired_fast(index, &me->thread)) return;
  if (index & QZI_PUB_SHARED) qzi_pub_acquired_shared(index); /* several hold it, each another object */
  else qzi_pub_acquired(index, &me->thread);
}
static inline void qzl_pop(struct qzl_thread *me, uint32_t index, uint64_t key) {
  if (index && !qzi_pub_pop_fast(&me->thread, key)) qzi_pub_pop(&me->thread, key);
}

/* A wait for an object, from just before the real call to just after. */
struct qzl_wait {
  struct qzl_thread *me;
  uint64_t begin_ns;
  uint32_t index;
};
void qzl_wait_begin(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state);
/* counted: 1: it had to wait. */
void qzl_wait_end(struct qzl_wait *wait, int counted);
/* Of one that began with state SPINNING. */
void qzl_spin_end(struct qzl_wait *wait);

/* A try-lock failed, or did not. */
void qzl_tried(struct qzl_thread *me, uint32_t index, int failed);

#pragma GCC visibility pop
#endif
