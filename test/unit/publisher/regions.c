/* What a program publishes from inside blocking regions, where its threads have no processor: regions CASE. It attaches
 * to its own session. */
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include "own_stack.h"

static void inside_region(void) {
  stack_is("main", 3,
           (uint64_t[]){address((void *)main), address((void *)hooked_region), address((void *)hooked_outer)});
}
static void after_region(void) {
  stack_is("main", 2, (uint64_t[]){address((void *)main), address((void *)hooked_region)});
}

/* What hooks find must not depend on where a page of the stack ends. */
enum { PAGE = 4096, ALIGNMENT = 16, PLACES = PAGE / ALIGNMENT };
__attribute__((noinline)) static void further_down(size_t bytes) {
  volatile char *room = alloca(bytes);
  *room = 0;
  hooked_region(inside_region, after_region);
}
static void places(void) {
  for (size_t place = 1; place <= PLACES; place++) further_down(place * ALIGNMENT);
  CHECK(calls_to(address((void *)hooked_outer)) == 2 * PLACES); /* half of them inside regions */
  CHECK(calls_to(address((void *)hooked_inner)) == 2 * PLACES);
  stack_is("main", 1, (uint64_t[]){address((void *)main)});
}

/* A thread in a region runs `at_the_end`, below procedures of that depth. */
static void (*at_the_end)(void *);
static void *thread_in_region(void *depth) {
  qz_blocking_begin("region");
  hooked_even(*(int *)depth - 1, at_the_end, depth);
  qz_blocking_end();
  return NULL;
}
static void in_region(int depth, void (*what)(void *)) {
  qz_thread_t thread;
  at_the_end = what;
  CHECK(qz_create(&thread, "region", thread_in_region, &depth) == 0);
  let_them();
  CHECK(qz_join(thread, NULL) == 0);
}
static void stack_of_region(int depth) { stack_is("region", procedures((void *)thread_in_region, depth), expected); }

/* The stack outgrows the thread's first record. */
static void is_deep(void *depth) {
  CHECK(is_long("region"));
  stack_of_region(*(int *)depth);
}
static void deep(void) {
  begin_main();
  in_region(12, is_deep);
  CHECK(calls_to(address((void *)hooked_even)) == 6 && calls_to(address((void *)hooked_odd)) == 6);
}

/* A signal arrives, whose handler runs on a stack above the thread's own. */
static void on_signal(int number) {
  (void)number;
  hooked_outer(NULL);
}
static void interrupted(void *depth) {
  CHECK(raise(SIGUSR1) == 0);
  stack_of_region(*(int *)depth);
}
static void interruption(void) {
  char room[1 << 16]; /* main's stack is above all others */
  stack_t above = {.ss_sp = room, .ss_size = sizeof room};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  CHECK(sigaltstack(&above, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
  begin_main();
  in_region(2, interrupted);
  CHECK(calls_to(address((void *)hooked_outer)) == 1);
}

int main(int argc, char **argv) {
  attach();
  qz_yield(); /* main's record is begun */
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "places"))
    places();
  else if (!strcmp(name, "deep"))
    deep();
  else if (!strcmp(name, "interruption"))
    interruption();
  else
    return 2;
  return 0;
}
