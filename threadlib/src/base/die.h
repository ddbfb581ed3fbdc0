/* How a program that misuses the package ends, and names in messages. */
#ifndef QZI_DIE_H
#define QZI_DIE_H

#include "compiler.h"

#pragma GCC visibility push(hidden)

struct qzi_thread;

/* One line on stderr "quartz: ..." and abort. */
__attribute__((noreturn, format(printf, 1, 2))) void qzi_die(const char *format, ...);
/* A place in the code as module+offset, for addr2line: the library reads no symbol tables of its own. Returns `text`.
 */
const char *qzi_place_text(uint64_t place, char *text, size_t bytes);
/* A thread in messages: its name in quotes, or its number and start routine; written to `text`, which is returned. */
const char *qzi_thread_label(const struct qzi_thread *thread, char *text, size_t bytes);

#pragma GCC visibility pop
#endif
