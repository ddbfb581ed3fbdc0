/* The targets of calls, read from bytes as compilers and linkers write them, in the memory of this process. */
#include "sampler/machine_code/call_target.h"
#include "test/support/check.h"

#include <unistd.h>

enum { CALL = 16, PROCEDURE = 64, STUB = 80, SLOT = 120 };
static unsigned char code[160];

#if defined(__x86_64__)
struct example {
  const char *what;
  unsigned char call[6]; /* up to the return address */
  int distance;          /* to what it names; written into its last 4 bytes, unless 0 */
  unsigned char stub[8]; /* at STUB */
  int target;            /* 0: unknown; SLOT: the contents of the slot */
};
static const struct example examples[] = {
  {"call", {0x90, 0xe8}, PROCEDURE, {0}, PROCEDURE},
  {"call of a stub", {0x90, 0xe8}, STUB, {0xff, 0x25}, SLOT},
  {"call of a stub with endbr64", {0x90, 0xe8}, STUB, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25}, SLOT},
  {"call of a stub with endbr64 and bnd", {0x90, 0xe8}, STUB, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}, SLOT},
  {"call through a slot", {0xff, 0x15}, SLOT, {0}, SLOT},
  {"call of a register", {0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, 0, {0}, 0},
  {"no call", {0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, 0, {0}, 0},
};

/* The last bytes before a place; does the place follow a call? */
struct ending {
  const char *what;
  int call;
  unsigned char bytes[8];
};
static const struct ending calls[] = {
  {"call", 1, {0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4}},
  {"call *slot(%rip)", 1, {0x90, 0x90, 0xff, 0x15, 1, 2, 3, 4}},
  {"call *%rax", 1, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}},
  {"call *%r12", 1, {0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4}},
  {"nothing of the kind", 0, {0x90, 0x90, 0x90, 0x90, 0x48, 0x89, 0xe5, 0xc3}},
};

static void put(unsigned char *at, const unsigned char *to) {
  int32_t distance = (int32_t)(to - (at + 4));
  memcpy(at, &distance, 4);
}
#endif

int main(void) {
  int failed = 0;
#if defined(__x86_64__)
  uint64_t base = (uint64_t)(uintptr_t)code, held = base + 1000;
  uint32_t pid = (uint32_t)getpid();
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    const struct example *one = &examples[k];
    memset(code, 0x90, sizeof code);
    memcpy(code + SLOT, &held, 8);
    memcpy(code + CALL, one->call, 6);
    if (one->distance) put(code + CALL + 2, code + one->distance);
    unsigned jump = 0; /* its last two bytes are jmp *slot(%rip) */
    while (jump < 6 && !(one->stub[jump] == 0xff && one->stub[jump + 1] == 0x25)) jump++;
    if (jump < 6) {
      memcpy(code + STUB, one->stub, jump + 2);
      put(code + STUB + jump + 2, code + SLOT);
    }
    uint64_t target = one->target == SLOT ? held : one->target ? base + (uint64_t)one->target : 0;
    uint64_t found = qzi_call_target(pid, base + CALL + 6);
    if (found == target) continue;
    printf("%s: %#llx, not %#llx\n", one->what, (unsigned long long)found, (unsigned long long)target);
    failed = 1;
  }
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    if (qzi_ends_with_call(calls[k].bytes, 8) == calls[k].call) continue;
    printf("%s: wrong\n", calls[k].what);
    failed = 1;
  }
  CHECK(qzi_call_target(pid, 4096) == 0);    /* no memory there */
  CHECK(qzi_jump_target(pid, 4096) == 4096); /* also the target itself */
  CHECK(qzi_jump_target(pid, base) == base); /* no stub: itself */
#endif
  return failed;
}
