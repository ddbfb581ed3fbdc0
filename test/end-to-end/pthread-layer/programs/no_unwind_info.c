/* Code without unwind information, such as other languages' compilers and assembly produce: a procedure whose symbol
 * has a data type (as those of GHC), followed by one without a symbol. Each of two threads runs one of them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "work.h"

#if defined(__x86_64__)
#define LOOP "1: dec %rdi\n jnz 1b\n ret\n"
#else
#define LOOP "1: subs x0, x0, #1\n b.ne 1b\n ret\n"
#endif
__asm__(
  ".text\n .balign 16\n .globl looks_like_data, bare_end\n .type looks_like_data, %object\n .type bare_end, %object\n"
  "looks_like_data:\n" LOOP ".size looks_like_data, . - looks_like_data\n" LOOP "bare_end = .\n .size bare_end, 0\n");
extern const unsigned char looks_like_data[], bare_end[];

static void *runs(void *from) {
  void (*counts_down)(uint64_t);
  memcpy(&counts_down, &from, sizeof counts_down);
  for (uint64_t end = own_ns() + 400000000; own_ns() < end;) counts_down(1000000);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  uintptr_t first = (uintptr_t)looks_like_data;
  pthread_create(&threads[0], NULL, runs, (void *)first);
  pthread_create(&threads[1], NULL, runs, (void *)(first + ((uintptr_t)bare_end - first) / 2));
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  puts("done");
  return 0;
}
