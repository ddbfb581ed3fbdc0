/* Busy-wait loops that the program marks with QZ_SPIN_BEGIN and QZ_SPIN_END.
 *
 * Owns:    qzi_thread.marked, marked_serial and marked_ns; qzi_spin_marked.
 * Writer:  the thread itself. Reader: the sampler, through the object record of the call site.
 * Must not: do anything in a foreign kernel thread, or while nothing is published.
 */
#include "sync.h"
#include "quartz/spin.h"

bool qzi_spin_marked;

static struct qzi_thread *marked_self(void) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *self = p ? qzi_self() : NULL;
  return self && self->marked && self->marked_serial == (uint32_t)self->pub.serial ? self : NULL;
}

void qz_spin_begin(const void *object) {
  if (!qzi_publishing() || !qzi_processor_self() || marked_self()) return;
  struct qzi_thread *self = qzi_self();
  struct qzi_publisher *publisher = qzi_publisher_self();
  uint64_t site = (uint64_t)(uintptr_t)__builtin_return_address(0);
  uint32_t index = qzi_pub_loop(publisher, site, object);
  if (!index) return;
  __atomic_store_n(&qzi_spin_marked, true, __ATOMIC_RELAXED);
  self->marked = index;
  self->marked_serial = (uint32_t)self->pub.serial;
  self->marked_ns = qzi_now_ns();
  qzi_pub_count(publisher, site, QZI_PUB_KEY(QZ_KIND_LOOP, index));
  qzi_pub_push(publisher, &self->pub, QZI_PUB_KEY(QZ_KIND_LOOP, index));
  qzi_pub_spinning(publisher, &self->pub, index);
}

void qz_spin_end(const void *object) {
  struct qzi_thread *self = marked_self();
  if (!self) return;
  uint32_t index = self->marked;
  uint64_t ns = qzi_now_ns() - self->marked_ns;
  self->marked = 0;
  qzi_pub_spun(qzi_publisher_self(), &self->pub);
  qzi_pub_waited(index, ns, ns);
  qzi_pub_acquired_shared(index);
  qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_LOOP, index));
}

void qzi_spin_go_on(void) {
  struct qzi_thread *self = marked_self();
  if (self) qzi_pub_spinning(qzi_publisher_self(), &self->pub, self->marked);
}
