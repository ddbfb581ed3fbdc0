/* Adds names, files and lines to a profile when recording ends, so that a report needs no binaries.
 *
 * Owns:    the symbols of the program's modules, which the unwinder uses before for entries of procedures; so large
 * binaries are read once.
 * Writer:  the aggregating thread, and the control thread before and after the sampling.
 */
#ifndef QZI_SYMBOLIZE_H
#define QZI_SYMBOLIZE_H

#include "interner.h"

/* Symbols of all modules in the file so far; valid until qzi_symbols_close. Returns NULL if there is no memory. */
struct qz_symbols *qzi_symbols(struct qzi_interner *in);
void qzi_symbols_close(struct qzi_interner *in);

/* Fills in the names of procedures, places of objects and threads, variables of static objects, and callers of call
 * sites. Without libdw, only notes in each procedure's detail that symbols are not available. */
void qzi_symbolize(struct qzi_interner *in);

#endif
