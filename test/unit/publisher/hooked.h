/* What the test of the hooks shares with the code that is compiled with them.
 *
 * Owns:    the expectations: each piece of hooked code calls expect() with the procedures that it should stand in.
 * Writer:  hooks_test.c. Reader: hooked.c, hooked_cxx.cc, compiled in several ways.
 * Must not: be instrumented itself.
 */
#ifndef TEST_HOOKED_H
#define TEST_HOOKED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NO_HOOK __attribute__((no_instrument_function, noinline))
#ifdef __clang__
#define NO_INLINE __attribute__((noinline))
#else
#define NO_INLINE __attribute__((noipa)) /* no clones either */
#endif

/* The procedures on the profile stack above the thread's start routine must be exactly these, outermost first. */
void expect_stack(const char *what, int count, ...);
#define EXPECT(what, ...) expect_stack(what, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), __VA_ARGS__)
void expect_overflow(const char *what);
/* A lock that the code takes and releases. */
void take_lock(void);
void release_lock(void);
/* Calls `function` on the alternate signal stack of the thread. */
void on_signal_stack(void (*function)(int));

/* Entry points of hooked code. */
int hooked_c(void);
uint64_t hooked_count(int n);
void hooked_handler(int signal);
extern volatile uint64_t hooked_signals; /* how often it has run */
void hooked_many(void);                  /* calls each of three procedures from 1,000 places */
extern void *hooked_many_address[3];
void *hooked_in_foreign_thread(void *argument);
int hooked_cxx(void);
extern void *hooked_fib_address, *hooked_leaf_address;

#ifdef __cplusplus
}
#endif
#endif
