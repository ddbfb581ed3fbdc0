/* Code that is compiled with hooks, in several ways, and says where it stands.
 *
 * Owns:    nothing. Writer, reader: hooks_test.c drives it.
 * Must not: depend on what is inlined: procedures that are looked at are never inlined, but for those named inl_.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "hooked.h"

static volatile int sink;
static jmp_buf back;

/* ---- plain nesting ---- */
NO_INLINE static int third(int x) {
  EXPECT("nested", hooked_c, third);
  return x + ++sink;
}
NO_INLINE static int second(int x) {
  EXPECT("nested", hooked_c, second);
  int y = x > 1000 ? second(x - 1000) : x;
  EXPECT("after an immediate recursion", hooked_c, second);
  return y + ++sink;
}

/* ---- longjmp ---- */
NO_INLINE static void jumper(int n) {
  if (n) longjmp(back, 1);
  sink++;
}
NO_INLINE static int between(int n) {
  jumper(n);
  return ++sink;
}
NO_INLINE static void other(void) {
  EXPECT("called after longjmp", hooked_c, other);
  sink++;
}
NO_INLINE static int big_frame(int n) {
  char room[4000];
  memset(room, n, sizeof room);
  if (!n) EXPECT("deeper frame after longjmp", hooked_c, big_frame);
  if (n) longjmp(back, 1);
  return room[n] + ++sink;
}

/* ---- recursion ---- */
NO_INLINE static int deep(int n) {
  if (!n) {
    EXPECT("deep immediate recursion", hooked_c, deep);
    return ++sink;
  }
  return deep(n - 1) + 1;
}
/* Through pointers, or a compiler would make one loop of it. */
static int (*volatile odd_pointer)(int), (*volatile even_pointer)(int);
NO_INLINE static int even(int n) { return n ? odd_pointer(n - 1) + 1 : ++sink; }
NO_INLINE static int odd(int n) { return n ? even_pointer(n - 1) + 1 : ++sink; }
NO_INLINE static int jump_deep(int n) {
  if (!n) longjmp(back, 1);
  return jump_deep(n - 1) + 1;
}
NO_INLINE static int after_recursion(void) {
  EXPECT("after recursion", hooked_c, after_recursion);
  return ++sink;
}

/* ---- tail calls ---- */
NO_INLINE static int tail_end(int n) { return n + ++sink; }
NO_INLINE static int tail_call(int n) { return tail_end(n + 1); }

/* ---- inlined ---- */
__attribute__((always_inline)) static inline int inl_inner(int n) { return n + ++sink; }
__attribute__((always_inline)) static inline int inl_outer(int n) { return inl_inner(n) * 2; }
NO_INLINE static int around(int n) {
  int y = inl_outer(n);
  EXPECT("after inlined calls", hooked_c, around);
  y += inl_inner(y);
  EXPECT("after inlined calls", hooked_c, around);
  return y;
}

/* ---- stack pointer moves ---- */
NO_INLINE static int moving(int n) {
  volatile char *room = alloca((size_t)n * 100 + 100);
  room[0] = (char)n;
  for (int k = 1; k < 4; k++) {
    volatile char block[n * k + 1];
    block[0] = (char)k;
    sink += block[0] + inl_inner(k);
    EXPECT("in a block of variable size", hooked_c, moving);
  }
  EXPECT("after alloca", hooked_c, moving);
  return room[0];
}

/* ---- locks ---- */
NO_INLINE static void locking(void) { take_lock(); }
NO_INLINE static void unlocking(void) { release_lock(); }

/* ---- signals ---- */
NO_INLINE static void in_handler_leaf(void) { sink++; }
static void handler(int signal) {
  in_handler_leaf();
  in_handler_leaf();
  sink += signal;
}
NO_INLINE static int signalled(void) {
  on_signal_stack(handler);
  EXPECT("after a signal handler", hooked_c, signalled);
  return ++sink;
}

/* Signals at any instruction of a hook. */
volatile uint64_t hooked_signals;
NO_INLINE static int inside_handler(int n) { return n ? inside_handler(n - 1) + ++sink : 0; }
void hooked_handler(int signal) {
  inside_handler(signal & 3);
  inside_handler(1);
  hooked_signals = hooked_signals + 1;
}

/* The hooks must preserve results. */
NO_INLINE static long double long_double(long double x) { return x * 3 + ++sink; }
NO_INLINE static double eight(double a, double b, double c, double d, double e, double f, double g, double h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
NO_INLINE static _Complex double complex_result(double x) { return x + 2 * x * __extension__ 1.0i; }
struct pair {
  long a;
  double b;
};
NO_INLINE static struct pair pair_result(long a, double b) { return (struct pair){a * 2, b * 2}; }
NO_INLINE static long nine(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
NO_INLINE static double variadic(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  double sum = 0;
  for (int k = 0; k < count; k++) sum += va_arg(arguments, double);
  va_end(arguments);
  return sum;
}
static long (*volatile nine_pointer)(long, long, long, long, long, long, long, long, long);
NO_INLINE static int values(int seed) {
  int s = sink;
  if (long_double(seed) != (long double)seed * 3 + s + 1) return 1;
  if (eight(1, 2, 3, 4, 5, 6, 7, seed) != 140 + 8 * seed) return 2;
  _Complex double z = complex_result(seed);
  if (__real__ z != seed || __imag__ z != 2 * seed) return 3;
  struct pair p = pair_result(seed, seed);
  if (p.a != 2 * seed || p.b != 2 * seed) return 4;
  if (variadic(3, 1.0, 2.0, (double)seed) != 3 + seed) return 5;
  nine_pointer = nine;
  return nine_pointer(1, 2, 3, 4, 5, 6, 7, 8, seed) == 204 + 9 * seed ? 0 : 6;
}

NO_INLINE static uint64_t leaf(uint64_t n) {
  sink++;
  return n;
}
static uint64_t (*volatile fib_pointer)(int);
NO_INLINE static uint64_t fib(int n) { return n < 2 ? leaf((uint64_t)n) : fib_pointer(n - 1) + fib_pointer(n - 2); }
void *hooked_fib_address = (void *)fib, *hooked_leaf_address = (void *)leaf;
NO_INLINE uint64_t hooked_count(int n) {
  fib_pointer = fib;
  return fib(n);
}

/* Each call is another place: there are so many that some share a slot of the call table. */
NO_INLINE static void one(void) { sink++; }
NO_INLINE static void two(void) { sink++; }
NO_INLINE static void three(void) { sink++; }
void *hooked_many_address[3] = {(void *)one, (void *)two, (void *)three};
#define TEN(calls) calls calls calls calls calls calls calls calls calls calls
NO_INLINE void hooked_many(void) { TEN(TEN(TEN(one(); two(); three();))) }

NO_INLINE void *hooked_in_foreign_thread(void *argument) {
  sink += (int)hooked_count(10);
  return argument;
}

NO_INLINE int hooked_c(void) {
  EXPECT("at the start", hooked_c);
  second(1);
  second(5000);
  third(1);
  EXPECT("after nesting", hooked_c);
  for (volatile int k = 0; k < 1000; k++) {
    if (!setjmp(back)) between(1);
    if (k == 3) other();
  }
  other();
  EXPECT("after 1000 longjmps", hooked_c);
  for (volatile int k = 0; k < 100; k++) {
    if (!setjmp(back)) {
      if (k & 1)
        big_frame(1);
      else
        between(1);
    }
    other();
    big_frame(0);
  }
  EXPECT("after longjmps from different depths", hooked_c);
  deep(100000);
  EXPECT("after recursion", hooked_c);
  if (!setjmp(back)) jump_deep(50);
  after_recursion();
  EXPECT("after longjmp out of a recursion", hooked_c);
  odd_pointer = odd;
  even_pointer = even;
  even(100000);
  expect_overflow("mutual recursion");
  after_recursion();
  EXPECT("after an overflow", hooked_c);
  tail_call(3);
  EXPECT("after a tail call", hooked_c);
  around(4);
  moving(5);
  EXPECT("after moving the stack pointer", hooked_c);
  locking();
  third(2);
  unlocking();
  EXPECT("after a lock held over a return", hooked_c);
  signalled();
  EXPECT("after signals", hooked_c);
  for (int k = 0; k < 100; k++) {
    int wrong = values(k);
    if (wrong) return wrong;
  }
  EXPECT("at the end", hooked_c);
  return 0;
}
