/* Procedures with unusual calling conventions: nested ones (gcc), Microsoft's convention, a variable number of
 * arguments, and two that call each other deeper than the profile stack. Exits with 1 if one of them received or
 * returned a wrong value.
 *
 *   conventions TURNS
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

static int wrong;
static volatile long sink;
static jmp_buf back;

#ifndef __clang__
__attribute__((noinline)) static int apply(int (*function)(int), int value) { return function(value) + 1; }
__attribute__((noinline)) static int around(void) {
  int total = 0;
  __attribute__((noinline)) int nested(int value) {
    total += value;
    return value > 0 ? nested(value - 1) : total;
  }
  return apply(nested, 2) + nested(1);
}
#endif

__attribute__((noinline)) static double variadic(int count, ...) {
  va_list list;
  double sum = 0;
  va_start(list, count);
  for (int k = 0; k < count; k++) sum += va_arg(list, double);
  va_end(list);
  return sum;
}

__attribute__((noinline)) static void jump(void) {
  sink++;
  longjmp(back, 1);
}
/* Leaves an entry of jump() on the stack, which its exit finds. */
__attribute__((noinline, ms_abi)) static long microsoft(long a, long b, long c, long d) {
  if (!setjmp(back)) jump();
  return a + 2 * b + 3 * c + 4 * d;
}
/* The callee has to preserve %rsi and %rdi; a compiler that knew of the call would save them itself. */
__attribute__((noinline)) static void call_microsoft(long turn) {
  long a = turn, b = 2, c = turn + 1, d = turn + 2, result;
  register long third __asm__("r8") = 3, fourth __asm__("r9") = 4;
  __asm__ volatile(
    "movq %%rsp, %%r12\n\tleaq -256(%%rsp), %%rsp\n\tandq $-16, %%rsp\n\tcall *%[function]\n\tmovq %%r12, %%rsp"
    : "=a"(result), "+c"(a), "+d"(b), "+S"(c), "+D"(d), "+r"(third), "+r"(fourth)
    : [function] "b"(microsoft)
    : "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5");
  if (result != turn + 29 || c != turn + 1 || d != turn + 2) wrong = 1;
}

__attribute__((noinline)) static long odd(long n);
__attribute__((noinline)) static long even(long n) {
  sink++;
  return n ? odd(n - 1) + 1 : 0;
}
__attribute__((noinline)) static long odd(long n) {
  sink--;
  return n ? even(n - 1) + 2 : 0;
}

int main(int count, char **arguments) {
  long turns = count > 1 ? atol(arguments[1]) : 1;
  for (long k = 0; k < turns; k++) {
#ifndef __clang__
    if (around() != 3 + 1 + 4) wrong = 1;
#endif
    if (variadic(3, 1.0, 2.0, (double)k) != 3.0 + (double)k) wrong = 1;
    call_microsoft(k);
    if (even(300) != 450) wrong = 1;
  }
  return wrong;
}
