/* What a thread waits for where no publisher says so: by the futex that the kernel names, or the loop that it is in.
 *
 * Owns:    nothing: the objects are kept by profile/external_objects.h.
 * Writer and reader: the aggregating thread.
 * Must not: distinguish objects by address alone: those outside static variables are known by the place in the program
 * that waits, or calls the library that does; where no code of the program is seen, by that library.
 */
#ifndef QZI_EXTERNAL_WAITS_H
#define QZI_EXTERNAL_WAITS_H

#include "sampler/callpath/call_path.h"

/* Index of the object for a futex at `address`; 0: no room. walk: where the thread called. */
uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, const struct qzi_walk *walk);
/* The same for a loop that only waits (no_progress.h). In the program's own code that is of kind QZ_KIND_LOOP, known by
 * where it begins; in a library's it is what that sleeps for at the same place. walk: of the thread in it; NULL:
 * unknown. */
uint32_t qzi_loop(struct qzi_interner *in, uint64_t start, const struct qzi_walk *walk);
/* Entry of what the call that returns to `site` calls in a library, where walks found `entered`: that one may be where
 * it went on by a jump. 0: `entered` is; `entered`: no other is known, or it called something of its own module that
 * jumped into the library. */
uint64_t qzi_called_at(struct qzi_interner *in, uint64_t site, uint64_t entered);

#endif
