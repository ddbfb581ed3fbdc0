/* Names, files and lines put into a profile when recording ends, so that a report needs no binaries.
 *
 * Owns:    the symbols of the program's modules, which the unwinder asks for entries before: large binaries are read
 * once. Writer:  the aggregating thread, and the control thread before and after the sampling.
 */
#ifndef QZI_SYMBOLIZE_H
#define QZI_SYMBOLIZE_H

#include "interner.h"

/* Of all modules in the file by now. NULL: no memory. The interner keeps it until qzi_symbols_close. */
struct qz_symbols *qzi_symbols(struct qzi_interner *in);
void qzi_symbols_close(struct qzi_interner *in);

/* Fills in the names of procedures, places of objects and threads, variables of static objects, and the callers of
 * call sites. Without libdw, does nothing but say so in each procedure's detail. */
void qzi_symbolize(struct qzi_interner *in);

#endif
