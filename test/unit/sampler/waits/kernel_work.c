/* Why a thread is in the kernel: system calls by number, and by the code before their return address. */
#include "sampler/waits/kernel_work.h"

#include <sys/syscall.h>
#include <unistd.h>
#include "abi/profile.h"
#include "test/support/check.h"

static const struct {
  long number;
  uint8_t kernel;
} calls[] = {
  {-1, QZ_KERNEL_FAULT},
  {SYS_futex, QZ_KERNEL_FUTEX},
  {SYS_sched_yield, QZ_KERNEL_YIELD},
  {SYS_mmap, QZ_KERNEL_MEMORY},
  {SYS_read, QZ_KERNEL_READ},
  {SYS_writev, QZ_KERNEL_WRITE},
  {SYS_pwritev, QZ_KERNEL_WRITE},
  {SYS_sendto, QZ_KERNEL_CALL}, /* the kernel does not count it as a write */
  {SYS_recvfrom, QZ_KERNEL_CALL},
  {SYS_epoll_pwait, QZ_KERNEL_POLL},
  {SYS_clone, QZ_KERNEL_THREAD},
  {SYS_nanosleep, QZ_KERNEL_SLEEP},
  {SYS_getpid, QZ_KERNEL_CALL},
  {100000, QZ_KERNEL_CALL},
};

#if defined(__x86_64__)

static unsigned char code[256]; /* each example ends at code + 128 */

static const struct {
  const char *what;
  unsigned count;
  unsigned char bytes[16];
  uint8_t kernel;
} sites[] = {
  {"mov $202,%eax; syscall", 7, {0xb8, 202, 0, 0, 0, 0x0f, 0x05}, QZ_KERNEL_FUTEX},
  {"mov $1,%eax; mov %rsi,%rdx; syscall", 10, {0xb8, 1, 0, 0, 0, 0x48, 0x89, 0xf2, 0x0f, 0x05}, QZ_KERNEL_WRITE},
  {"xor %eax,%eax; syscall", 4, {0x31, 0xc0, 0x0f, 0x05}, QZ_KERNEL_READ},
  {"a number that comes from elsewhere", 2, {0x0f, 0x05}, QZ_KERNEL_CALL},
  {"no system call", 3, {0x8b, 0x07, 0x90}, QZ_KERNEL_FAULT},
};

static uint64_t placed(const unsigned char *bytes, unsigned count) {
  memset(code, 0x90, sizeof code);
  memcpy(code + 128 - count, bytes, count);
  return (uint64_t)(uintptr_t)(code + 128);
}

static void look(void) {
  const struct qzi_stack_copy none = {.bytes = 0};
  uint32_t pid = (uint32_t)getpid();
  for (unsigned k = 0; k < sizeof sites / sizeof *sites; k++) {
    struct qzi_call_sites known = {.sites = {{.pc = 0}}};
    uint64_t pc = placed(sites[k].bytes, sites[k].count);
    if (qzi_kernel_work(&known, pid, pc, pc, &none, 0) != sites[k].kernel) printf("%s\n", sites[k].what);
    CHECK_IS(qzi_kernel_work(&known, pid, pc, pc, &none, 0), sites[k].kernel);
    /* If rcx is not where it continues, it made no system call. */
    CHECK_IS(qzi_kernel_work(&known, pid, pc, pc + 1, &none, 0), QZ_KERNEL_FAULT);
  }
  /* What is known of a place is not read again. */
  struct qzi_call_sites known = {.sites = {{.pc = 0}}};
  uint64_t pc = placed(sites[0].bytes, sites[0].count);
  CHECK_IS(qzi_kernel_work(&known, pid, pc, pc, &none, 0), QZ_KERNEL_FUTEX);
  memset(code, 0x90, sizeof code);
  CHECK_IS(qzi_kernel_work(&known, pid, pc, pc, &none, 0), QZ_KERNEL_FUTEX);

  /* syscall(number, ...): the number is in the code of its caller, whose address is on the stack. */
  static const unsigned char passes[] = {0x48, 0x89, 0xf8, 0x0f, 0x05};        /* mov %rdi,%rax; syscall */
  static const unsigned char caller[] = {0xbf, 24, 0, 0, 0, 0xe8, 0, 0, 0, 0}; /* mov $24,%edi; call */
  static unsigned char before[128];
  known = (struct qzi_call_sites){.sites = {{.pc = 0}}};
  pc = placed(passes, sizeof passes);
  memset(before, 0x90, sizeof before);
  memcpy(before + 100 - sizeof caller, caller, sizeof caller);
  uint64_t back = (uint64_t)(uintptr_t)(before + 100);
  const struct qzi_stack_copy stack = {.address = 4096, .bytes = sizeof back, .data = (const unsigned char *)&back};
  CHECK_IS(qzi_kernel_work(&known, pid, pc, pc, &stack, 4096), QZ_KERNEL_YIELD);
  CHECK_IS(qzi_kernel_work(&known, pid, pc, pc, &stack, 4097), QZ_KERNEL_CALL); /* it was not copied */
}
#else
static void look(void) {}
#endif

int main(void) {
  for (unsigned k = 0; k < sizeof calls / sizeof *calls; k++)
    CHECK_IS(qzi_kernel_of_call(calls[k].number), calls[k].kernel);
  look();
  return 0;
}
