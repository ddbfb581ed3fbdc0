/* What a thread waits for if no publisher reports it: found by the futex on which it sleeps according to the kernel, or
 * by the loop that it is in.
 *
 * Owns:    nothing: the objects are kept by profile/external_objects.h.
 * Writer and reader: the aggregating thread.
 * Must not: distinguish objects only by address: objects outside static variables are identified by the program's place
 * that waits, or calls the library that does; if no code of the program is on the path, by that library.
 */
#ifndef QZI_EXTERNAL_WAITS_H
#define QZI_EXTERNAL_WAITS_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/own_descriptors.h"

/* Index of the object for a futex at `address`; 0: no room. walk: the call path of the waiting thread. */
uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, const struct qzi_walk *walk);
/* The same for a wait that the pthread layer reports, by `thread` (an entity), for the object with that record. */
uint32_t qzi_futex_reported(struct qzi_interner *in, uint32_t record, uint32_t thread, const struct qzi_walk *walk);
/* The same for the first wait for it, if none was seen yet. */
void qzi_futex_first(struct qzi_interner *in, uint32_t record, uint32_t thread, const struct qzi_walk *walk);
/* The same for a wait at a descriptor of the program's own (linux/own_descriptors.h); `number` is the descriptor.
 * its.kind is not QZI_NOT_OWN. */
uint32_t qzi_own_wait(struct qzi_interner *in, struct qzi_own_descriptor its, int number, const struct qzi_walk *walk);
/* The same for a loop that only waits (no_progress.h). A loop in the program's own code is an object of kind
 * QZ_KIND_LOOP, identified by its beginning; for a loop in a library, the object is the one for which the library
 * sleeps at the same place. walk: of the thread in the loop; NULL: unknown. */
uint32_t qzi_loop(struct qzi_interner *in, uint64_t start, const struct qzi_walk *walk);
/* Entry of the library's procedure called by the call that returns to `site`, given that walks found the thread in
 * `entered`, which the called procedure may have reached by a jump (tail call). Returns `entered` if no other is known,
 * or if the procedure called is in the caller's own module; so 0 if `entered` is 0. */
uint64_t qzi_called_at(struct qzi_interner *in, uint64_t site, uint64_t entered);

#endif
