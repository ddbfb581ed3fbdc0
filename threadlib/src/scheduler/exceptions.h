/* Each thread has its own C++ exceptions, though the C++ run-time library keeps them for each kernel thread.
 *
 * Owns:    the two words of the library's globals (struct __cxa_eh_globals of the Itanium C++ ABI, section 2.2.2:
 * exceptions that are caught now, and the number of those thrown but not caught yet). Writer:  a thread, about to leave
 * its processor and when it is back, maybe on another kernel thread. Must not: need the C++ library: in a program
 * without it the address is NULL, and nothing is done.
 */
#ifndef QZI_EXCEPTIONS_H
#define QZI_EXCEPTIONS_H

#include "processor.h"

struct qzi_exceptions {
  void *caught;
  unsigned thrown;
};

extern void *__cxa_get_globals(void) __attribute__((weak, visibility("default")));

/* For the calling kernel thread. */
static inline struct qzi_exceptions *qzi_exceptions_here(void) {
  return __cxa_get_globals ? __cxa_get_globals() : NULL;
}

static inline struct qzi_exceptions qzi_exceptions_save(struct qzi_processor *p) {
  return QZI_UNLIKELY(p->exceptions) ? *p->exceptions : (struct qzi_exceptions){0};
}
static inline void qzi_exceptions_restore(struct qzi_exceptions saved) {
  struct qzi_processor *p = qzi_processor_self();
  if (QZI_UNLIKELY(p->exceptions)) *p->exceptions = saved;
}

#endif
