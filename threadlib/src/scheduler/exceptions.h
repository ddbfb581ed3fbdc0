/* C++ exception state of each thread. The C++ run-time library keeps it per kernel thread, so it is saved and restored
 * at switches.
 *
 * Owns:    the two words of the library's globals (struct __cxa_eh_globals of the Itanium C++ ABI, section 2.2.2: the
 *          exceptions that are currently caught, and the number of those thrown but not caught yet).
 * Writer:  a thread, before it leaves its processor and when it runs again, possibly on another kernel thread.
 * Must not: require the C++ library: in a program without it the address is NULL, and nothing is done.
 */
#ifndef QZI_EXCEPTIONS_H
#define QZI_EXCEPTIONS_H

#include "processor.h"

struct qzi_exceptions {
  void *caught;
  unsigned thrown;
};

extern void *__cxa_get_globals(void) __attribute__((weak, visibility("default")));

/* Returns the globals of the calling kernel thread, or NULL. */
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
