/* Abort of a program that misuses the package, and names of places and threads in messages. */
#ifndef QZI_DIE_H
#define QZI_DIE_H

#include "compiler.h"

#pragma GCC visibility push(hidden)

struct qzi_thread;

/* Writes one line "quartz: ..." to stderr and aborts. */
__attribute__((noreturn, format(printf, 1, 2))) void qzi_die(const char *format, ...);
/* Writes a code address as module+offset, for addr2line, to `text` and returns `text`. The library itself reads no
 * symbol tables, apart from dladdr.
 */
const char *qzi_place_text(uint64_t place, char *text, size_t bytes);
/* Writes the label of a thread for messages to `text` and returns `text`: its name in quotes, or its number and
 * start routine. */
const char *qzi_thread_label(const struct qzi_thread *thread, char *text, size_t bytes);

#pragma GCC visibility pop
#endif
