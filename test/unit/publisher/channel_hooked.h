/* What channel_test.c has to know about the program in channel_hooked.c. */
#ifndef TEST_CHANNEL_HOOKED_H
#define TEST_CHANNEL_HOOKED_H
#define LOCKERS 8
#define LOCKS   2000
#define RESIZED 3 /* processors */
int run_counts(void);
int run_resized(void);
int run_forks(int until);
int run_paths(int until);
extern void *const path_addresses[4];
extern void *const run_paths_address;
extern void *const locker_address;
#endif
