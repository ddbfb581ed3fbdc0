/* Which loops of aarch64 only poll: code as gcc generates it, and, on aarch64, the code that the compiler generates for
 * this file. */
#include "sampler/machine_code/loops/arm_poll_loop.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define AT    UINT64_C(0x401000)
#define WORDS 12

struct example {
  const char *what;
  unsigned seen, start; /* instructions */
  int polls, waits, tries;
  uint32_t words[WORDS];
};
static const struct example examples[] = {
  {"ldar w1,[x0]; cbz", 1, 0, 1, 1, 0, {0x88dffc01, 0x34ffffe1, 0xd65f03c0}},
  {"yield; ldr w1,[x0]; cbz", 0, 0, 1, 1, 0, {0xd503203f, 0xb9400001, 0x34ffffc1, 0xd65f03c0}},
  {"wfe; ldar w1,[x0]; tbnz #2", 1, 0, 1, 1, 0, {0xd503205f, 0x88dffc01, 0x3717ffc1, 0xd65f03c0}},
  {"a lock is tried: ldaxr w1; stlxr w3,w2; cbnz w3; cbnz w1",
   0,
   0,
   1,
   1,
   1,
   {0x885ffc01, 0x8803fc02, 0x35ffffc3, 0x35ffffa1, 0xd65f03c0}},
  {"the same, seen at its end", 3, 0, 1, 1, 1, {0x885ffc01, 0x8803fc02, 0x35ffffc3, 0x35ffffa1, 0xd65f03c0}},
  {"ldaxr w2; cmp #0; b.ne over; stlxr w3,w1; cmp w3,#0; b.ne",
   1,
   0,
   1,
   1,
   1,
   {0x885ffc02, 0x7100005f, 0x54000061, 0x8803fc01, 0x7100007f, 0x54ffff61, 0xd65f03c0}},
  {"swpal w1,w2,[x0]; cbnz w2", 0, 0, 1, 1, 1, {0xb8e18002, 0x35ffffe2, 0xd65f03c0}},
  {"so many times: ldar w2; sub w1,#1; cbnz w2 out; cmp w1,#0; b.gt",
   3,
   0,
   1,
   1,
   0,
   {0x88dffc02, 0x51000421, 0x350000a2, 0x7100003f, 0x54ffff8c, 0xd65f03c0}},
  {"a ticket: isb; ldar w2; cmp w2,w1; b.ne",
   1,
   0,
   1,
   1,
   0,
   {0xd5033fdf, 0x88dffc02, 0x6b01005f, 0x54ffffa1, 0xd65f03c0}},
  {"by a pointer: ldar x1,[x0]; ldar w1,[x1]; cbz", 2, 0, 1, 1, 0, {0xc8dffc01, 0x88dffc21, 0x34ffffc1, 0xd65f03c0}},
  {"until some time: mrs x0,cntvct; ldar w1,[x2]; cmp w1,#0; ccmp x0,x3; b.ls",
   2,
   0,
   1,
   1,
   0,
   {0xd53be040, 0x88dffc41, 0x7100003f, 0xfa430002, 0x54ffff89, 0xd65f03c0}},
  {"a clock alone: mrs x0,cntvct; cmp x0,x1; b.ls", 0, 0, 0, 1, 0, {0xd53be040, 0xeb01001f, 0x54ffffc9, 0xd65f03c0}},
  {"a sum: ldr x1,[x2],#8; add x0,x0,x1; cmp x2,x3; b.ne",
   1,
   0,
   0,
   0,
   0,
   {0xf8408441, 0x8b010000, 0xeb03005f, 0x54ffffa1, 0xd65f03c0}},
  {"a list: ldr x1,[x1]; add x0,#1; cbnz x1", 1, 0, 0, 1, 0, {0xf9400021, 0x91000400, 0xb5ffffc1, 0xd65f03c0}},
  {"up to what is read: add x1,#1; ldar x2,[x0]; cmp x2,x1; b.gt",
   1,
   0,
   0,
   1,
   0,
   {0x91000421, 0xc8dffc02, 0xeb01005f, 0x54ffffac, 0xd65f03c0}},
  {"an update: add w3,w1,#2; ldaxr w2; cmp w2,w1; b.ne over; stlxr w4,w3; cbnz w4; mov w1,w2; b",
   1,
   0,
   0,
   1,
   1,
   {0x11000823, 0x885ffc02, 0x6b01005f, 0x54000061, 0x8804fc03, 0x34000084, 0x2a0203e1, 0x17fffff9, 0xd65f03c0}},
  {"it stores: ldar w1,[x0]; str w1,[x2]; cbz", 0, 0, 0, 0, 0, {0x88dffc01, 0xb9000041, 0x34ffffc1, 0xd65f03c0}},
  {"it calls: ldar w1,[x0]; bl; cbz", 0, 0, 0, 0, 0, {0x88dffc01, 0x94000100, 0x34ffffc1, 0xd65f03c0}},
  {"floating point: ldar w1,[x0]; fadd d0,d0,d1; cbz", 0, 0, 0, 0, 0, {0x88dffc01, 0x1e612800, 0x34ffffc1, 0xd65f03c0}},
  {"only a count: subs x0,x0,#1; b.ne", 0, 0, 0, 1, 0, {0xf1000400, 0x54ffffe1, 0xd65f03c0}},
  {"no jump back: ldar w1,[x0]; ret", 0, 0, 0, 0, 0, {0x88dffc01, 0xd65f03c0}},
};

static int differs(const struct example *its) {
  struct qzi_code code = {.address = AT, .bytes = (const unsigned char *)its->words, .count = sizeof its->words};
  uint64_t seen = AT + 4 * its->seen, start = AT + 4 * its->start;
  uint64_t polls = qzi_arm_poll_loop(&code, seen, 0), waits = qzi_arm_store_free_loop(&code, seen, seen);
  int tries = qzi_arm_loop_tries(&code, start);
  if (polls == (its->polls ? start : 0) && waits == (its->waits ? start : 0) && tries == its->tries) return 0;
  printf("%s: polls from %#lx, waits from %#lx, tries %d\n", its->what, (unsigned long)polls, (unsigned long)waits,
         tries);
  return 1;
}

#if defined(__aarch64__)
typedef void procedure(atomic_long *word, long number);
#define HIDDEN __attribute__((noinline)) static void

HIDDEN flag(atomic_long *word, long number) {
  while (atomic_load(word) != number) {}
}
HIDDEN flag_with_yield(atomic_long *word, long number) {
  while (atomic_load_explicit(word, memory_order_relaxed) < number) __asm__ volatile("yield");
}
HIDDEN spinlock(atomic_long *word, long number) {
  while (atomic_exchange(word, number)) {}
}
HIDDEN some_times(atomic_long *word, long number) {
  while (number-- > 0 && !atomic_load(word)) {}
}
HIDDEN search(atomic_long *word, long number) {
  while (atomic_load_explicit(word, memory_order_relaxed) != number) word++;
}
HIDDEN remainders(atomic_long *word, long number) {
  long other = atomic_load(word);
  while (other) {
    long left = number % other;
    number = other;
    other = left;
  }
  atomic_store(word, number);
}
HIDDEN stores(atomic_long *word, long number) {
  while (number-- > 0) atomic_store_explicit(word++, number, memory_order_relaxed);
}

/* Whether any instruction up to its return is in a loop that polls. */
static int polls(procedure *its) {
  const unsigned char *bytes = (const unsigned char *)its;
  struct qzi_code code = {.address = (uintptr_t)bytes, .bytes = bytes};
  for (uint32_t word = 0; word != 0xd65f03c0; code.count += 4) memcpy(&word, bytes + code.count, sizeof word);
  for (size_t at = 0; at < code.count; at += 4)
    if (qzi_arm_poll_loop(&code, code.address + at, 0)) return 1;
  return 0;
}
static int native(void) {
  static procedure *const waiting[] = {flag, flag_with_yield, spinlock, some_times}, *const working[] = {
                                                                                       search, remainders, stores};
  int failed = 0;
  for (size_t k = 0; k < sizeof waiting / sizeof *waiting; k++)
    if (!polls(waiting[k])) failed |= printf("loop %zu, which waits, was not found\n", k);
  for (size_t k = 0; k < sizeof working / sizeof *working; k++)
    if (polls(working[k])) failed |= printf("loop %zu, which is at work, was taken for one that waits\n", k);
  return failed;
}
#else
static int native(void) { return 0; }
#endif

int main(void) {
  int failed = native();
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) failed |= differs(&examples[k]);
  return failed != 0;
}
