/* Which loops can only wait: code written by hand, as an assembler produces it. */
#include "sampler/machine_code/loops/store_free_loop.h"

#include "loop_example.h"

struct example {
  const char *what;
  unsigned first, last, start; /* where it was seen, relative to the code; where the loop begins */
  int waits;
  size_t count;
  unsigned char bytes[48];
};
static const struct example examples[] = {
  {"mov flag(%rip),%eax; test %eax,%eax; je",
   6,
   8,
   0,
   1,
   10,
   {0x8b, 0x05, 0xd5, 0x2e, 0x00, 0x00, 0x85, 0xc0, 0x74, 0xf6}},
  {"pause; cmpl $0,(%rdi); je", 0, 5, 0, 1, 7, {0xf3, 0x90, 0x83, 0x3f, 0x00, 0x74, 0xf9}},
  {"mov $1,... before; xchg %al,(%rdx); test; jne", 2, 4, 2, 1, 8, {0x31, 0xc0, 0x86, 0x02, 0x84, 0xc0, 0x75, 0xfa}},
  {"lock cmpxchg %ecx,(%rdx); jne", 0, 4, 0, 1, 6, {0xf0, 0x0f, 0xb1, 0x0a, 0x75, 0xfa}},
  {"movzbl 8(%rax),%eax; and $3: exits in the middle",
   0,
   6,
   0,
   1,
   11,
   {0x0f, 0xb6, 0x48, 0x08, 0x84, 0xc9, 0x75, 0x10, 0x90, 0xeb, 0xf5}},
  {"a full fence: lock orq $0,(%rsp); mov (%rdi),%eax; test; je",
   6,
   8,
   0,
   1,
   12,
   {0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf4}},
  {"mfence; cmpl $0,(%rdi); je", 0, 3, 0, 1, 8, {0x0f, 0xae, 0xf0, 0x83, 0x3f, 0x00, 0x74, 0xf8}},
  {"mulsd %xmm1,%xmm0; comisd %xmm2,%xmm0; jb: what it makes is in no general register",
   0,
   4,
   0,
   0,
   10,
   {0xf2, 0x0f, 0x59, 0xc1, 0x66, 0x0f, 0x2f, 0xc2, 0x72, 0xf6}},
  {"mov %eax,(%rdi) writes", 0, 2, 0, 0, 6, {0x89, 0x07, 0x85, 0xc0, 0x74, 0xfa}},
  {"lock incl (%rdi) counts", 0, 3, 0, 0, 7, {0xf0, 0xff, 0x07, 0x85, 0xc0, 0x74, 0xf7}},
  {"addl $1,(%rdi) counts", 0, 3, 0, 0, 7, {0x83, 0x07, 0x01, 0x85, 0xc0, 0x74, 0xf7}},
  {"call something", 0, 5, 0, 0, 9, {0xe8, 0x00, 0x01, 0x00, 0x00, 0x85, 0xc0, 0x74, 0xf7}},
  {"a string store", 0, 2, 0, 0, 6, {0xf3, 0xab, 0x85, 0xc0, 0x74, 0xfa}},
  {"no jump back", 0, 2, 0, 0, 5, {0x8b, 0x07, 0x85, 0xc0, 0xc3}},
  {"seen between two instructions", 1, 6, 0, 0, 10, {0x8b, 0x05, 0xd5, 0x2e, 0x00, 0x00, 0x85, 0xc0, 0x74, 0xf6}},
  {"cut short", 0, 0, 0, 0, 3, {0x8b, 0x05, 0xd5}},
};

int main(void) {
  int failed = 0;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    const struct example *its = &examples[k];
    unsigned char bytes[64];
    struct qzi_code code = loop_code(bytes, sizeof bytes, its->bytes, its->count);
    failed |= loop_differs(its->what, qzi_store_free_loop(&code, LOOP_AT + its->first, LOOP_AT + its->last), its->waits,
                           its->start);
  }
  return failed;
}
