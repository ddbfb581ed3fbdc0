/* Looks at one thread record, running or not. */
#ifndef QZI_THREAD_LOOK_H
#define QZI_THREAD_LOOK_H

#include "snapshot.h"

/* Result of one consistent look at a thread record; serial 0: no thread. */
struct qzi_look {
  uint64_t serial, state;
  uint32_t node, entity;
  int torn;
};
void qzi_thread_look(struct qzi_sampler *sampler, uint32_t index, struct qzi_look *look);
/* Counts pushes refused since the last call. */
void qzi_thread_overflows(struct qzi_sampler *sampler, uint32_t index);
/* Whether that object is at the top of the path. */
int qzi_waits_at_top(const struct qzi_sampler *sampler, uint32_t node, uint32_t object);

/* Node of the path of a thread of the session, running or not; *entity receives the thread's. 0, 0: nobody. */
uint32_t qzi_thread_path(struct qzi_sampler *sampler, uint32_t index, uint32_t *entity);

#endif
