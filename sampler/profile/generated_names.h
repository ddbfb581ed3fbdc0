/* Names that run-time systems give to the code they generate, as a programmer would write them.
 *
 * Owns:    nothing. Pure functions of strings, for any thread.
 */
#ifndef QZI_GENERATED_NAMES_H
#define QZI_GENERATED_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define QZI_GENERATED_NAME 1024u /* bytes of a name or path kept, with the NUL */

struct qzi_generated_name {
  char name[QZI_GENERATED_NAME];
  char file[QZI_GENERATED_NAME]; /* "": unknown */
  uint32_t line;                 /* 0: unknown */
};

/* One line of a map of generated code ("START SIZE name", hexadecimal; without the newline). Returns 0, or -1 if it is
 * no such line. *name points into the line. */
int qzi_generated_line(const char *line, size_t length, uint64_t *start, uint64_t *end, const char **name);

/* The name that the map gives, without what is no part of it: kind and tier of the code, return type and parameters;
 * file and line are taken out of it.
 *   "JS:*work file:///srv/a.mjs:12:5"   work, /srv/a.mjs, 12       (V8)
 *   "py::Tree.add:/srv/tree.py"         Tree.add, /srv/tree.py     (CPython)
 *   "long Sum.of(int[], int)"           Sum.of                     (HotSpot)
 *   "void [app] Sum::Of(int32)[Tier1]"  Sum::Of                    (.NET)
 */
void qzi_generated_tidy(const char *text, size_t length, struct qzi_generated_name *its);

#endif
