/* Objects that the program never told of: futexes on which the kernel says that threads sleep.
 *
 * Owns:    their entities (kind QZ_KIND_FUTEX), and those of loops that only wait (QZ_KIND_LOOP). A key QZ_KEY(QZ_KIND_FUTEX, index) means one of them.
 * Writer and reader: the aggregating thread.
 * Must not: grow with the number of addresses: those outside static variables are known by the place in the program that waits, or
 *           calls the library that does; where no code of the program is seen, by that library.
 */
#ifndef QZI_FUTEXES_H
#define QZI_FUTEXES_H

#include "sampler/callpath/call_path.h"

/* Index + 0 of the object, from 1; 0: none. site: where the thread called, as in a walk. */
uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, const struct qzi_walk *walk);
/* The same for a loop that only waits (no_progress.h). In the program's own code that is of kind QZ_KIND_LOOP, known by where it begins;
 * in a library's it is what that sleeps for at the same place. walk: of the thread in it; NULL: unknown. */
uint32_t qzi_loop(struct qzi_interner *in, uint64_t start, const struct qzi_walk *walk);
/* Entity of one; 0: none. */
uint32_t qzi_futex_entity(const struct qzi_interner *in, uint32_t index);
/* Address of the variable that an entity stands for; 0: none. */
uint64_t qzi_futex_address(const struct qzi_interner *in, uint32_t entity);
/* Entry of the library's procedure that the program called when it waited; 0: unknown. */
uint64_t qzi_futex_called(const struct qzi_interner *in, uint32_t entity);
/* It is a loop that tries a lock (poll_detector.h). */
int qzi_futex_tries(const struct qzi_interner *in, uint32_t entity);
/* A thread waited for it in the snapshot that is being added; and, once for each snapshot: statistics and who ran. */
void qzi_futex_wait(struct qzi_interner *in, uint32_t index);
void qzi_futexes_add(struct qzi_sampler *sampler, uint64_t ns);
void qzi_futexes_free(struct qzi_interner *in);

#endif
