/* Code that the program generates while it runs, in memory of no file (Java, JavaScript, .NET, ...): which places of it
 * were seen, and the names that its run-time system writes into /tmp/perf-PID.map.
 *
 * Owns:    the places; a descriptor of the program's directory /tmp, since its root directory can't be found any more
 *          when it has ended, which is when HotSpot writes that file.
 * Writer and reader: the aggregating thread, and the control thread before and after the sampling.
 * Must not: trust the file: another user may have written it, it may be old, large, broken, or no file at all; have the
 *           file opened while a snapshot is taken.
 *
 * All such code is one entity until its name is known. The key on a stack contains the place, to 64 bytes, so that the
 * stacks recorded so far get the right entities then. Stacks that were different only in places of one procedure are
 * the same stack then: readers join them (ts-frontend/src/model/profile/joined-stacks.ts).
 */
#ifndef QZI_GENERATED_H
#define QZI_GENERATED_H

#include "interner.h"

/* Finds out where the names of the program's generated code will be. Without memory, or permission, there are none. */
void qzi_generated_open(struct qzi_interner *in, pid_t pid);
void qzi_generated_close(struct qzi_interner *in);

/* The key on a stack of generated code with that instruction (inside: a return address minus 1). */
uint64_t qzi_generated_key(struct qzi_interner *in, uint64_t pc);
/* Entity for such a key; 0: no room. */
uint32_t qzi_generated_entity(struct qzi_interner *in, uint64_t key);
/* Whether the code at the place of that key has frame pointers, or frames of a size: what was found out about it, and 0
 * before. NULL: the place is not kept. */
uint32_t *qzi_generated_frame(struct qzi_interner *in, uint64_t key);

/* Whether that is a procedure of generated code: it has a name, but no place in the program's memory. */
static inline int qzi_entity_is_generated(const struct qz_entity *entity) {
  return entity->kind == QZ_ENTITY_PROCEDURE && entity->name && !entity->address && !entity->module && !entity->record;
}

/* Reads the names, and gives them to the procedures of stacks: where several lines of the map contain a place, the last
 * one counts. Code without a name remains "generated code", with the reason in its detail. */
void qzi_generated_name(struct qzi_interner *in);

#endif
