/* What a procedure or thread of a known library is for, by its name: the one definition, for whoever names things.
 *
 * Owns:    the names of C's, C++'s, Go's and OpenMP's libraries, of allocators and garbage collectors that findings
 *          need to know. Pure functions of strings; any thread.
 * Writer:  the sampler puts the answers into the profile (struct qz_entity), when it names what it saw; the addon asks
 *          for what an unfinished or older profile does not say.
 */
#ifndef QZ_ABI_PURPOSE_H
#define QZ_ABI_PURPOSE_H

#include <stdbool.h>
#include <stdint.h>
#include "purpose_bits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the name of a thread, else of a procedure or what is called inside a library, in the module of that path ("": in
 * none). */
uint32_t qz_purposes_of(bool is_thread, const char *name, const char *path);
/* The same arguments. */
enum qz_naming_style qz_naming_style_of(bool is_thread, const char *name, const char *path);

#ifdef __cplusplus
}
#endif
#endif
