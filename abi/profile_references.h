/* Whether all that a copy of a profile refers to is there, and every value is a known one.
 *
 * Owns:    nothing; the copy is only read. Used by profile_read.c. 0; or -1, and the source says what is wrong.
 */
#ifndef QZ_ABI_PROFILE_REFERENCES_H
#define QZ_ABI_PROFILE_REFERENCES_H

#include "profile_copy.h"
#include "profile_sections.h"

/* Strings, entities, modules and stacks, which all others refer to. */
int qzi_profile_check_names(struct qzi_profile_source *source, const struct qz_profile_copy *copy);
/* What refers to them. */
int qzi_profile_check_references(struct qzi_profile_source *source, const struct qz_profile_copy *copy);

#endif
