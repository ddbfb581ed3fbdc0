/* Marks a loop that waits by looking again and again, so that it does not pass for work:
 *
 *   QZ_SPIN_BEGIN(&flag);
 *   while (!atomic_load(&flag)) pause();
 *   QZ_SPIN_END(&flag);
 *
 * The argument is the address of what is looked at; reports name it by its variable, else by the place of QZ_SPIN_BEGIN. In
 * programs with the thread package and in those with plain pthreads; without Quartz both do nothing, and need no library.
 * While a sampler is connected the pair takes two readings of the clock: put it around the loop, not around the first look.
 */
#ifndef QUARTZ_SPIN_H
#define QUARTZ_SPIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Call them through the macros: in a program without Quartz they are not there. Pairs do not nest: an inner one does nothing. */
void qz_spin_begin(const void *object) __attribute__((weak));
void qz_spin_end(const void *object) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#define QZ_SPIN_BEGIN(object) ((void)(qz_spin_begin ? (qz_spin_begin(object), 0) : 0))
#define QZ_SPIN_END(object)   ((void)(qz_spin_end ? (qz_spin_end(object), 0) : 0))

#endif
