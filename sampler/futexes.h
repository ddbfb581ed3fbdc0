/* Objects that the program never told of: futexes on which the kernel says that threads sleep.
 *
 * Owns:    their entities (kind QZ_KIND_FUTEX), and those of loops that only wait (QZ_KIND_LOOP). A key QZ_KEY(QZ_KIND_FUTEX, index) means one of them.
 * Writer and reader: the aggregating thread.
 * Must not: grow with the number of addresses: those outside static variables are known by the place that waits, those that
 *           a library waits for by that library.
 */
#ifndef QZI_FUTEXES_H
#define QZI_FUTEXES_H

#include "intern.h"
#include "snapshot.h"

/* Index + 0 of the object, from 1; 0: none. site: where the program, or a library that is not the C library's, called;
 * 0: unknown. */
uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, uint64_t site, uint32_t site_module);
/* The same for a loop that only waits (stalled.h), by where it begins: its entity is of kind QZ_KIND_LOOP. */
uint32_t qzi_loop(struct qzi_interner *in, uint64_t start);
/* Entity of one; 0: none. */
uint32_t qzi_futex_entity(const struct qzi_interner *in, uint32_t index);
/* Address of the variable that an entity stands for; 0: none. */
uint64_t qzi_futex_address(const struct qzi_interner *in, uint32_t entity);
/* A thread waited for it in the snapshot that is being added; and, once for each snapshot: statistics and who ran. */
void qzi_futex_wait(struct qzi_interner *in, uint32_t index);
void qzi_futexes_add(struct qzi_sampler *sampler, uint64_t ns);
void qzi_futexes_free(struct qzi_interner *in);

#endif
