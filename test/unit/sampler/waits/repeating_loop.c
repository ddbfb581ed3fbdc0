/* Threads that stay in a loop without state: samples made by hand, of code in this process. */
#include "sampler/waits/repeating_loop.h"

#include <unistd.h>
#include "sampler/machine_code/code_flow.h"
#include "sampler/machine_code/x86_decode.h"
#include "test/support/check.h"

#ifdef QZI_DECODES

enum { AT = 1024, ROUNDS = 8, SP = 0x10000 };
static unsigned char code[4096], stack[512];
static struct qzi_repeating_loop of;
static struct qzi_stateless_known known;
static struct qzi_sample sample;

/* sum = 0; k = 0; do sum += a[k++] while (k <= 64); while (sum <= 99) */
static const unsigned char sums[] = {0x31, 0xc0, 0x31, 0xd2, 0x0f, 0x1f, 0x40, 0x00, 0x48, 0x63, 0xc8,
                                     0x83, 0xc0, 0x01, 0x48, 0x8b, 0x0c, 0xce, 0x48, 0x01, 0xca, 0x83,
                                     0xf8, 0x40, 0x75, 0xee, 0x48, 0x83, 0xfa, 0x63, 0x7e, 0xe0};

static uint64_t start;

static void begin(void) {
  memset(&of, 0, sizeof of);
  memset(&known, 0, sizeof known);
  memset(stack, 0, sizeof stack);
  sample =
    (struct qzi_sample){.user = 1, .at = {.sp = SP}, .copy = {.address = SP, .bytes = sizeof stack, .data = stack}};
}
/* Adds a sample at that place of the loop; rax and rdx are what it changes. */
static uint64_t look_at(uint64_t pc, uint64_t rax, uint64_t rdx, const struct qzi_walk *walk) {
  sample.at.pc = pc;
  sample.general[RAX] = rax;
  sample.general[RDX] = rdx;
  return qzi_repeating_loop_look(&of, &known, NULL, (uint32_t)getpid(), &sample, walk);
}
/* At random in the loop, as its rounds go on. */
static uint64_t look(unsigned k) { return look_at(start + (k % 2 ? 8 : 18), k * 7 % 5, k * 3 % 4, NULL); }

/* How many samples it takes until the loop is found; 0: it is not. */
static unsigned until_found(void) {
  for (unsigned k = 1; k <= 100; k++) {
    uint64_t found = look(k);
    CHECK(!found || found == start);
    if (found) return k;
  }
  return 0;
}

int main(void) {
  memset(code, 0x90, sizeof code);
  memcpy(code + AT, sums, sizeof sums);
  start = (uint64_t)(uintptr_t)(code + AT);

  /* The first sample says only where to look. */
  begin();
  CHECK_IS(until_found(), 1 + ROUNDS);
  CHECK(look(3) == start); /* and goes on */

  static const struct {
    const char *what;
    int reg, on_stack;
  } traces[] = {{"another register that the loop does not change", 6 /* %rsi */, 0}, {"the stack", -1, 64}};
  for (unsigned k = 0; k < sizeof traces / sizeof *traces; k++) {
    begin();
    CHECK_IS(until_found(), 1 + ROUNDS);
    if (traces[k].reg >= 0)
      sample.general[traces[k].reg]++;
    else
      stack[traces[k].on_stack]++;
    if (look(1)) fprintf(stderr, "%s\n", traces[k].what);
    CHECK(!look(1)); /* it was called again: this may be work */
  }
  /* Another depth of the stack. */
  begin();
  CHECK_IS(until_found(), 1 + ROUNDS);
  sample.at.sp += 16;
  CHECK(!look(1));

  /* One long pass over an array: what it counts only grows. */
  begin();
  for (unsigned k = 1; k < 50; k++) CHECK(!look_at(start + 8, k, 1, NULL));
  /* Samples in the kernel are no evidence, nor do they end it. */
  begin();
  sample.user = 0;
  for (unsigned k = 1; k < 50; k++) CHECK(!look(k));
  sample.user = 1;
  CHECK_IS(until_found(), ROUNDS);

  /* Other code in between. */
  begin();
  for (unsigned k = 0; k < ROUNDS; k++) CHECK(!look(k));
  CHECK(!look_at((uint64_t)(uintptr_t)code + 3500, 0, 0, NULL));
  CHECK_IS(until_found(), 1 + ROUNDS);

  /* A loop that waits for a procedure to return: its frame is where the return address is. */
  begin();
  struct qzi_walk walk = {.callers = 1, .caller = {{.pc = start + 8}}};
  memcpy(stack + 32, &walk.caller[0].pc, 8);
  unsigned found = 0;
  for (unsigned k = 1; k <= 20 && !found; k++) {
    stack[8] = (unsigned char)k; /* below the loop's frame, all may change */
    if (look_at((uint64_t)(uintptr_t)code + 3500, k * 7 % 5, k * 3 % 4, &walk)) found = k;
  }
  CHECK_IS(found, 1 + ROUNDS);
  memset(stack + 32, 0, 8); /* the frame is not found: this counts as work */
  CHECK(!look_at((uint64_t)(uintptr_t)code + 3500, 0, 0, &walk));

  /* A loop with state (the sum is not set to 0 again) is none. */
  memcpy(code + AT + 2, "\x66\x90", 2);
  begin();
  for (unsigned k = 1; k < 50; k++) CHECK(!look(k));
  return 0;
}

#else
int main(void) { return 77; }
#endif
