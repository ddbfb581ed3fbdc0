/* The end of the time path. See path.h. */
#include "path.h"
#include "private.h"

void qzi_path_ended(struct qzi_publisher *p) {
  if (p->span) qzi_span_ended(p);
  struct qz_path *actor = p->path ? p->path : qzi_path_actor(p->index);
  if (p->path || p->span)
    __atomic_store_n(&qzi_session.head->path_end, qzi_path_now(actor) | QZ_ARRIVAL_OWN, __ATOMIC_RELEASE);
}
