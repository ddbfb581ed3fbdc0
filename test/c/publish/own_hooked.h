/* The procedures with hooks of own.c. */
#ifndef TEST_OWN_HOOKED_H
#define TEST_OWN_HOOKED_H
void hooked_region(int turns);
void hooked_outer(void (*check)(void));
void hooked_inner(void);
void hooked_deep(int depth, void *result);
/* Called in them, without hooks. */
void inside_region(void);
void inside_main(void);
#endif
