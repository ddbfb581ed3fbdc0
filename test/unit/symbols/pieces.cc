// A procedure in two pieces: unlikely code is moved away. Its debug information has no entry address of its own.
#include <functional>
extern "C" {
__attribute__((cold, noinline)) void pieces_report(int value) { __asm__ volatile("" ::"r"(value)); }
__attribute__((noinline)) void *pieces_site(void) { return __builtin_return_address(0); }
void *pieces(int value) {
  if (__builtin_expect(value < 0, 0)) pieces_report(value);
  void *site = std::invoke(pieces_site); // called by code of the C++ library, inlined here
  __asm__ volatile("");
  return site;
}
}
