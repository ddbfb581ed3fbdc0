/* What threads run whose start routine is a library's, always the same, and so no help: a std::async, a thread of
 * Rust, a worker of OpenMP.
 *
 * Owns:    names and places of thread entities, when the recording ends.
 * Must not: name a thread that the program named.
 */
#ifndef QZI_THREAD_NAMES_H
#define QZI_THREAD_NAMES_H

#include "interner.h"
#include "symbols/symbols.h"

/* Names them by the program's outermost procedure on their paths; workers that ran several, by the library whose they
 * are. */
void qzi_callables(struct qzi_interner *in, qz_symbols *symbols);

#endif
