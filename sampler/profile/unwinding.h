/* Results of stack walks, by the module that they went through.
 *
 * Owns:    the section UNWINDING.
 * Writer and reader: the aggregating thread of one recording.
 */
#ifndef QZI_UNWINDING_H
#define QZI_UNWINDING_H

#include "interner.h"

/* The row of a module (index + 1; 0: code in no file). NULL: no room. Valid until the next call. */
struct qz_unwinding *qzi_unwinding_of(struct qzi_interner *in, uint32_t module);

#endif
