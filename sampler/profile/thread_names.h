/* Names of threads whose start routine belongs to a library and is always the same, so that it does not distinguish
 * them: std::async, Rust's threads, OpenMP's workers.
 *
 * Owns:    names and places of thread entities, when the recording ends.
 * Must not: rename a thread that the program named.
 */
#ifndef QZI_THREAD_NAMES_H
#define QZI_THREAD_NAMES_H

#include "interner.h"
#include "symbols/symbols.h"

/* Names such threads after the program's outermost procedure on their paths; workers that ran several procedures, after
 * their library. */
void qzi_callables(struct qzi_interner *in, qz_symbols *symbols);

#endif
