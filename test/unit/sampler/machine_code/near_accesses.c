/* Memory accesses near a place, in code as compilers generate it. */
#include "sampler/machine_code/near_accesses.h"
#include "sampler/machine_code/x86_decode.h"
#include "test/support/check.h"

#ifdef QZI_DECODES

#define BASE UINT64_C(0x401000)

struct example {
  const char *what;
  unsigned char code[40];
  unsigned pc, count;
  struct qzi_access first;
};
static const struct example examples[] = {
  {"addq $1,(%rsi), at it",
   {0x48, 0x83, 0x06, 1, 0xc3},
   0,
   1,
   {.base = 6, .index = NONE, .bytes = 8, .written = 1, .read = 1}},
  {"addq $1,(%rsi), behind it",
   {0x48, 0x83, 0x06, 1, 0xff, 0xc0, 0xc3},
   4,
   1,
   {.base = 6, .index = NONE, .bytes = 8, .written = 1, .read = 1}},
  {"lock incl 8(%rdi,%rax,4)",
   {0xf0, 0xff, 0x44, 0x87, 8, 0xc3},
   0,
   1,
   {.disp = 8, .base = 7, .index = 0, .scale = 4, .bytes = 4, .written = 1, .read = 1, .locked = QZI_LOCKED_CHANGE}},
  {"lock cmpxchg %rcx,(%rdx)",
   {0xf0, 0x48, 0x0f, 0xb1, 0x0a, 0xc3},
   0,
   1,
   {.base = 2, .index = NONE, .bytes = 8, .written = 1, .read = 1, .locked = QZI_LOCKED_COMPARE}},
  {"xchg %eax,(%rdx): a lock", {0x87, 0x02, 0xc3}, 0, 0, {0}},
  {"mov %eax,0x10(%rip)",
   {0x89, 0x05, 0x10, 0, 0, 0, 0xc3},
   0,
   1,
   {.disp = (int64_t)BASE + 6 + 0x10, .base = NONE, .index = NONE, .bytes = 4, .written = 1}},
  {"mov %rax,8(%rsp): its own", {0x48, 0x89, 0x44, 0x24, 8, 0xc3}, 0, 0, {0}},
  {"mov %rax,%fs:8: its own", {0x64, 0x48, 0x89, 0x04, 0x25, 8, 0, 0, 0, 0xc3}, 0, 0, {0}},
  {"lea 8(%rdi),%rax accesses nothing", {0x48, 0x8d, 0x47, 8, 0xc3}, 0, 0, {0}},
  {"mov (%rdi),%rdi; mov %eax,(%rdi): the second address is not known",
   {0x48, 0x8b, 0x3f, 0x89, 0x07, 0xc3},
   0,
   1,
   {.base = 7, .index = NONE, .bytes = 8, .read = 1}},
  {"the same from behind: neither is", {0x48, 0x8b, 0x3f, 0xff, 0xc0, 0xc3}, 3, 0, {0}},
  {"not beyond a branch", {0x74, 2, 0x89, 0x07, 0xc3}, 0, 0, {0}},
};

static int differs(const struct example *one) {
  unsigned char bytes[QZI_NEAR_BEFORE + QZI_NEAR_BEHIND];
  struct qzi_access found[QZI_NEAR_ACCESSES];
  memset(bytes, 0x90, sizeof bytes);
  memcpy(bytes + QZI_NEAR_BEFORE, one->code, sizeof one->code);
  unsigned count = qzi_near_accesses(bytes, sizeof bytes, BASE - QZI_NEAR_BEFORE, BASE + one->pc, found);
  const struct qzi_access *its = &found[0], *is = &one->first;
  if (count == one->count &&
      (!count || (its->disp == is->disp && its->base == is->base && its->index == is->index &&
                  (is->index == NONE || its->scale == is->scale) && its->bytes == is->bytes &&
                  its->written == is->written && its->read == is->read && its->locked == is->locked)))
    return 0;
  printf("%s: %u accesses; %#lx + r%u + r%u * %u, %u bytes, written %u, read %u, locked %u\n", one->what, count,
         (long)its->disp, its->base, its->index, its->scale, its->bytes, its->written, its->read, its->locked);
  return 1;
}

int main(void) {
  int failed = 0;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) failed |= differs(&examples[k]);
  uint64_t general[16] = {[7] = 1000, [0] = 3};
  CHECK(qzi_access_at(&examples[2].first, general) == 1020);
  /* Code that is cut off anywhere is not read beyond its end. */
  for (size_t count = 0; count < 20; count++) {
    struct qzi_access found[QZI_NEAR_ACCESSES];
    unsigned char *cut = malloc(count + 1);
    memcpy(cut, examples[2].code, count);
    qzi_near_accesses(cut, count, BASE, BASE + count / 2, found);
    free(cut);
  }
  return failed;
}

#else
int main(void) { return 77; }
#endif
