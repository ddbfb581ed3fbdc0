/* Places of objects that a library creates or uses first for the program: std::scoped_lock, a wrapper in a header.
 *
 * Owns:    for each object that a thread was seen to wait for, its first place, and the program's calls that led there.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_OBJECT_PLACES_H
#define QZI_OBJECT_PLACES_H

#include "interner.h"

#define QZI_PLACE_CALLERS 4u

struct qzi_object_place {
  uint32_t entity;
  uint32_t count;                      /* of callers */
  uint64_t library;                    /* the place that it had first: where a call returns to */
  uint64_t own;                        /* the place that it was given while the program ran; 0: it kept that one */
  uint64_t callers[QZI_PLACE_CALLERS]; /* return addresses in the program's module, innermost first */
};

/* NULL: nothing is known of that object. */
struct qzi_object_place *qzi_object_place(struct qzi_interner *in, uint32_t entity);
/* Adds an object that is not known, with its present place. NULL: there is no memory. */
struct qzi_object_place *qzi_object_place_add(struct qzi_interner *in, uint32_t entity);
void qzi_object_place_set(struct qzi_interner *in, uint32_t entity, uint64_t site);
void qzi_object_places_free(struct qzi_interner *in);

/* When the recording ends: objects whose place is still in a library's header get that of the first caller that is in
 * none; so do other objects from the same procedure of the library, if all that were seen there have one place in the
 * program. `entry`: the entry of the procedure that contains the call that returns to `site`, if that is in such a
 * header; else 0. */
void qzi_object_places_settle(struct qzi_interner *in, uint64_t (*entry)(struct qzi_interner *in, uint64_t site));

#endif
