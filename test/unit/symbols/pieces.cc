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
// A lambda that is not inlined: its debug information stands in a block of the procedure that contains it.
void *in_lambda(int value) {
  if (value < 0) return nullptr;
  {
    auto call = [value]() __attribute__((noinline)) {
      __asm__ volatile("" ::"r"(value));
      void *site = std::invoke(pieces_site); // line 18
      __asm__ volatile("");
      return site;
    };
    return call();
  }
}
}
