/* Names, files and lines put into a profile when recording ends, so that a report needs no binaries.
 *
 * Owns:    nothing. Writer: the control thread, after sampling has ended.
 */
#ifndef QZI_SYMBOLIZE_H
#define QZI_SYMBOLIZE_H

#include "intern.h"

/* Fills in the names of procedures, places of objects and threads, variables of static objects, and the callers of
 * call sites. Without libdw, does nothing but say so in each procedure's detail. */
void qzi_symbolize(struct qzi_interner *in);

#endif
