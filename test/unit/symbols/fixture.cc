// A library whose addresses the test looks up. The line numbers in test.c are those of this file.
namespace shapes {
struct Box {
  int area(int scale) const;
  template <typename T> T twice(T value) { return value + value; }
};
int Box::area(int scale) const { // line 7
  return scale * 3;
}
} // namespace shapes
namespace {
int hidden(double number) { return static_cast<int>(number) + 1; } // line 12
int quiet_lock[16];                                                // line 13
} // namespace
int operator<<(shapes::Box, int by) { return by; } // line 15

extern "C" {
int plain_function(int x) { return x + 1; } // line 18
int public_lock[8];                         // line 19
static int private_lock[4];                 // line 20
void *fixture_address(int which) {
  static int local_lock[2]; // line 22
  switch (which) {
  case 0: return reinterpret_cast<void *>(&plain_function);
  case 1: {
    int (*f)(double) = hidden;
    return reinterpret_cast<void *>(f);
  }
  case 2: {
    auto f = &shapes::Box::area;
    void *p;
    __builtin_memcpy(&p, &f, sizeof p);
    return p;
  }
  case 3: {
    auto f = &shapes::Box::twice<long>;
    void *p;
    __builtin_memcpy(&p, &f, sizeof p);
    return p;
  }
  case 4: {
    int (*f)(shapes::Box, int) = &operator<<;
    return reinterpret_cast<void *>(f);
  }
  case 5: return public_lock;
  case 6: return private_lock;
  case 7: return quiet_lock;
  case 8: return local_lock;
  case 9: return __builtin_return_address(0);
  }
  return nullptr;
}
__attribute__((noinline)) void *fixture_call_site(void) {
  void *site = fixture_address(9); // line 54
  __asm__ volatile("" ::: "memory");
  return site;
}
}
// Stands for the thread package's C++ header, whose procedures are inlined into the program's.
# 100 "/include/quartz/quartz.hpp"
__attribute__((always_inline)) inline void *inlined_join() { return fixture_address(9); }
__attribute__((always_inline)) inline void *inlined_thread() { return inlined_join(); }
# 200 "user.cc"
extern "C" __attribute__((noinline)) void *fixture_inlined_site(void) {
  void *site = inlined_thread(); // line 201
  __asm__ volatile("" ::: "memory");
  return site;
}
// Assembly that says no sizes, as in x264: an exported procedure, and one that is not, two pages behind it.
__asm__(".pushsection .text.unsized,\"ax\",@progbits\n"
        ".globl fixture_unsized\nfixture_unsized: ret\n.skip 8188, 0\n"
        "fixture_behind: ret\n.skip 4092, 0\n"
        ".popsection");
