/* A procedure in assembly (code_assembly_x86_64.s), without unwind information, that calls one in C; steps are counted.
 * Of 8,000 steps in each iteration of the assembly's outer loop, 3,000 and 1,000 are in two loops in it, the rest are
 * here. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

uint64_t assembled(uint64_t v, long turns);

uint64_t called(uint64_t v) {
  for (int k = 0; k < 4000; k++) { // called
    v = v * 3 + 1;
    __asm__ volatile("" : "+r"(v));
  }
  return v;
}

__attribute__((noinline)) static void *caller(void *v) {
  *(uint64_t *)v = assembled(1, 60000);
  return v;
}

int main(void) {
  pthread_t thread;
  uint64_t v;
  pthread_create(&thread, NULL, caller, &v);
  pthread_join(thread, NULL);
  printf("%lu\n", (unsigned long)v);
}
