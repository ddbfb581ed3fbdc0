/* Lists of names of known libraries, for purpose.c alone.
 *
 * Owns:    qzi_purposes_of_threads, qzi_purposes_of_procedures; a rule whose text is NULL ends each.
 */
#ifndef QZI_PURPOSE_NAMES_H
#define QZI_PURPOSE_NAMES_H

#include <stdint.h>

/* Where a rule's text has to be in a name. START_OF_WORD: only letters, digits and `_` follow it; START_OF_LONGER: at
 * least one of these follows. */
enum qzi_purpose_where { QZI_WHOLE, QZI_START, QZI_START_OF_WORD, QZI_START_OF_LONGER, QZI_ANYWHERE };
struct qzi_purpose_rule {
  enum qzi_purpose_where where;
  const char *text;
  uint32_t purposes;
};

extern const struct qzi_purpose_rule qzi_purposes_of_threads[];
extern const struct qzi_purpose_rule qzi_purposes_of_procedures[]; /* and of what is called inside libraries */

#endif
