/* Recognizes hooks that quartz/hooks.h has expanded in a program: code that maintains the profile stack, and is not the
 * program's own work.
 *
 * Owns:    nothing; a pure function of bytes. x86-64; elsewhere hooks are calls.
 * Must not: mistake other code for a hook: a hook is recognized by the thread-local word that it begins with, and by
 * what it does with it.
 */
#ifndef QZI_HOOK_CODE_H
#define QZI_HOOK_CODE_H

#include <stddef.h>

enum qzi_hook { QZI_NO_HOOK = 0, QZI_HOOK_ENTRY, QZI_HOOK_EXIT };
/* Whether a hook begins there, and which; *length: number of bytes up to where the procedure continues. */
enum qzi_hook qzi_hook_code(const unsigned char *bytes, size_t left, unsigned *length);

#endif
