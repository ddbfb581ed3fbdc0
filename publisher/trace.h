/* The oracle: an exact record of everything that is published, for tests of the sampler. Compiled in only if QZI_ORACLE
 * is defined (library quartz_oracle of the test tree); otherwise every macro here is empty.
 *
 * Owns:    the layout of a trace, and the macros by which publishing adds to it.
 * Writer:  the kernel thread that publishes; each has a file of its own, QUARTZ_ORACLE.TID.
 * Reader:  test/known-answers/oracle/trace.ts.
 * Must not: change what is published. Time stamps are taken just before the store that they stand for, so that causes
 * precede effects in the merged trace.
 */
#ifndef QZI_PUBLISH_TRACE_H
#define QZI_PUBLISH_TRACE_H

#ifdef QZI_ORACLE
#include <stdint.h>
#include "abi/session.h"

enum qzi_oracle_kind {
  QZI_ORACLE_NOW = 1,   /* subject: processor; value: its `now` */
  QZI_ORACLE_STATE = 2, /* subject: thread index; value: its `state` */
  QZI_ORACLE_BEGIN = 3, /* subject: thread index; value: serial */
  QZI_ORACLE_END = 4,   /* subject: thread index, whose record is released */
  QZI_ORACLE_STACK = 5, /* subject: thread index; value: depth; as many QZI_ORACLE_ENTRY follow, bottom first */
  QZI_ORACLE_ENTRY = 6, /* value: key */
  QZI_ORACLE_QUEUE = 7  /* subject: object index; value: queue length */
};
struct qzi_oracle_event {
  uint64_t ns;   /* CLOCK_MONOTONIC */
  uint32_t kind; /* enum qzi_oracle_kind */
  uint32_t subject;
  uint64_t value;
};
#define QZI_ORACLE_MAGIC UINT64_C(0x314352544f5a5551) /* "QUZOTRC1" as little-endian bytes */
struct qzi_oracle_head {
  uint64_t magic;
  uint64_t count; /* number of events; stored after each event */
  uint64_t lost;  /* events that did not fit */
};

/* Sets the session, relative to whose tables subjects are counted. */
void qzi_oracle_session(const struct qz_session *session);
void qzi_oracle_now(const struct qz_processor *processor, uint64_t now);
void qzi_oracle_thread(const struct qz_thread *thread, unsigned kind, uint64_t value);
/* Records the stack as it will be when `word` is stored. */
void qzi_oracle_stack(const struct qz_thread *thread, uint64_t word);
void qzi_oracle_queue(uint32_t object, uint32_t length);
#define QZI_TRACE(call) qzi_oracle_##call

#else
#define QZI_TRACE(call) ((void)0)
#endif
#endif
