/* Hooks as quartz/hooks.h expands them, and as earlier versions did, are recognized; other code is not. Where this file
 * is compiled with such hooks, so are its own, and the rest of an exit, which is elsewhere, can be unwound. */
#include "sampler/machine_code/hook_code.h"
#include "test/support/check.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OF_THREAD          "\x64\x4c\x8b\x1c\x25\xe8\xff\xff\xff"      /* movq %fs:.., %r11 */
#define TESTED             "\x4d\x85\xdb"                              /* testq %r11, %r11 */
#define EXIT               OF_THREAD TESTED "\x0f\x85\xd0\x00\x00\x00" /* jnz to the rest */
#define HOOK(code, length) qzi_hook_code((const unsigned char *)(code), sizeof(code) - 1, length)

static void known_bytes(void) {
  unsigned length = 0;
  CHECK(HOOK(OF_THREAD TESTED "\x74\x05\x4c\x8b\x14\x24\x90\xc3", &length) == QZI_HOOK_ENTRY && length == 19);
  CHECK(HOOK(EXIT "\xc3", &length) == QZI_HOOK_EXIT && length == 18);
  CHECK(HOOK(OF_THREAD TESTED "\x75\x7a\xc3", &length) == QZI_HOOK_EXIT && length == 14); /* in a small file */
  CHECK(HOOK(EXIT "\xf3\xc3", &length) == QZI_HOOK_EXIT && length == 18);
  CHECK(HOOK(EXIT "\xe9\x00\x01\x00\x00", &length) == QZI_HOOK_EXIT);
  CHECK(HOOK("\x4c\x8b\x1d\x10\x00\x00\x00\x64\x4d\x8b\x1b" TESTED "\x0f\x85\xd0\x00\x00\x00\xc3", &length) ==
        QZI_HOOK_EXIT); /* in a shared library */
  /* earlier versions: the rest of the exit in place, clang's saves %rcx first */
  CHECK(HOOK(OF_THREAD TESTED "\x74\x04\x45\x8b\x13\x90\xc3", &length) == QZI_HOOK_EXIT && length == 18);
  CHECK(HOOK(OF_THREAD TESTED "\x74\x06\x48\x89\x4c\x24\xf8\x90\xc3", &length) == QZI_HOOK_EXIT && length == 20);

  CHECK(HOOK(EXIT "\x90\xc3", &length) == QZI_NO_HOOK); /* goes on: a test of the program's own */
  CHECK(HOOK(EXIT, &length) == QZI_NO_HOOK);
  CHECK(HOOK(OF_THREAD TESTED "\x0f\x85\xd0\xff\xff\xff\xc3", &length) == QZI_NO_HOOK); /* a loop */
  CHECK(HOOK(OF_THREAD TESTED "\x75\xf2\xc3", &length) == QZI_NO_HOOK);
  CHECK(HOOK(OF_THREAD TESTED "\x78\x10\xc3", &length) == QZI_NO_HOOK); /* another jump */
  CHECK(HOOK("\x64\x4c\x8b\x14\x25\xe8\xff\xff\xff\x4d\x85\xd2\x0f\x85\xd0\x00\x00\x00\xc3", &length) == QZI_NO_HOOK);
}

#ifdef QUARTZ_HOOKS_EXPANDED
typedef struct {
  void *text, *data, *function;
} bases;
const void *_Unwind_Find_FDE(void *pc, bases *where);

__attribute__((noinline, noclone)) static int hooked(volatile int *count) { return ++*count; }

__attribute__((no_instrument_function)) static void own_hooks(void) {
  const unsigned char *code = (const unsigned char *)(uintptr_t)hooked;
  unsigned length = 0, at = 0;
  enum qzi_hook hook = qzi_hook_code(code, 256, &length);
  CHECK(hook == QZI_HOOK_ENTRY);
  for (at = length; hook != QZI_HOOK_EXIT; at++) {
    CHECK(at < 256);
    hook = qzi_hook_code(code + at, 256 - at, &length);
  }
  const unsigned char *back = code + at - 1 + length; /* where the procedure goes on */
  int32_t far = (signed char)back[-1];
  if (back[-2] != 0x75) memcpy(&far, back - 4, sizeof far);
  bases where;
  CHECK(far > 0);
  CHECK(_Unwind_Find_FDE((void *)(uintptr_t)(back + far), &where) != NULL);
}
#else
static void own_hooks(void) {}
#endif

int main(void) {
  known_bytes();
  own_hooks();
#ifdef QUARTZ_HOOKS_EXPANDED
  int count = 0;
  CHECK(hooked(&count) == 1);
#endif
  return 0;
}
#else
int main(void) { return 0; }
#endif
