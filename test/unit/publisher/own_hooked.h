/* The procedures with hooks for own.c and regions.c. */
#ifndef TEST_OWN_HOOKED_H
#define TEST_OWN_HOOKED_H
void hooked_region(void (*inside)(void), void (*after)(void));
void hooked_outer(void (*check)(void));
void hooked_inner(void);
void hooked_deep(int depth, void *result);
void hooked_even(int depth, void (*at_the_end)(void *), void *argument);
void hooked_odd(int depth, void (*at_the_end)(void *), void *argument);
#endif
