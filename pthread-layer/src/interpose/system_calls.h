/* syscall(), as the next library in line has it.
 *
 * Owns:    nothing. Writer: seccomp.c, at its first call. Reader: seccomp.c, futex.c.
 */
#ifndef QZL_SYSTEM_CALLS_H
#define QZL_SYSTEM_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern long (*qzl_real_syscall)(long, ...); /* NULL: not called yet */
long (*qzl_find_syscall(void))(long, ...);

/* syscall(SYS_futex, ...); futex.c. Entered by a jump from syscall(), with its arguments where that found them. */
long qzl_futex(long number, const uint32_t *word, int operation, unsigned long value, unsigned long other,
               const uint32_t *second, unsigned long third);
/* syscall(SYS_futex_waitv, ...), the same way. */
struct futex_waitv;
long qzl_futex_waitv(long number, const struct futex_waitv *words, unsigned count, unsigned flags, const void *until,
                     int clock);
#define QZL_FUTEX_WAITV 449 /* SYS_futex_waitv, since Linux 5.16 */

/* There may be threads that have the thread-local data of another one: then those say nothing about who calls. */
extern _Atomic bool qzl_shared_tls;
void qzl_clones(unsigned long flags); /* a thread or process is about to be created with these flags of clone(2) */

#pragma GCC visibility pop
#endif
