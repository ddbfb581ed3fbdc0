/* Reasons for work in the kernel. See kernel_work.h. */
#include "kernel_work.h"

#include <string.h>
#include <sys/syscall.h>
#include "abi/profile.h"
#include "sampler/linux/process_memory.h"

#define BEFORE 32u  /* bytes of code examined before the return address of the system call */
#define CALLER 64u  /* the same before the return address of a procedure that gets the number as an argument */
#define PASSED 255u /* the number is an argument of that procedure (the C library's syscall) */

/* Calls for sockets (sendto, recvmsg, ...) are not among those that read and write: the kernel does not count them as
 * such (syscr and syscw of /proc/PID/io), so a finding would have the number of the ones and the name of the others. */
static const struct {
  long number;
  uint8_t kernel;
} kinds[] = {
  {SYS_mmap, QZ_KERNEL_MEMORY},     {SYS_munmap, QZ_KERNEL_MEMORY},
  {SYS_mremap, QZ_KERNEL_MEMORY},   {SYS_mprotect, QZ_KERNEL_MEMORY},
  {SYS_madvise, QZ_KERNEL_MEMORY},  {SYS_brk, QZ_KERNEL_MEMORY},
  {SYS_futex, QZ_KERNEL_FUTEX},     {SYS_sched_yield, QZ_KERNEL_YIELD},
  {449, QZ_KERNEL_FUTEX}, /* SYS_futex_waitv */
  {SYS_read, QZ_KERNEL_READ},       {SYS_pread64, QZ_KERNEL_READ},
  {SYS_readv, QZ_KERNEL_READ},      {SYS_preadv, QZ_KERNEL_READ},
  {SYS_preadv2, QZ_KERNEL_READ},    {SYS_write, QZ_KERNEL_WRITE},
  {SYS_pwrite64, QZ_KERNEL_WRITE},  {SYS_writev, QZ_KERNEL_WRITE},
  {SYS_pwritev, QZ_KERNEL_WRITE},   {SYS_pwritev2, QZ_KERNEL_WRITE},
  {SYS_ppoll, QZ_KERNEL_POLL},      {SYS_epoll_pwait, QZ_KERNEL_POLL},
#ifdef SYS_poll
  {SYS_poll, QZ_KERNEL_POLL},       {SYS_select, QZ_KERNEL_POLL},
  {SYS_epoll_wait, QZ_KERNEL_POLL},
#endif
  {SYS_clone, QZ_KERNEL_THREAD},    {SYS_exit, QZ_KERNEL_THREAD},
#ifdef SYS_clone3
  {SYS_clone3, QZ_KERNEL_THREAD},
#endif
  {SYS_nanosleep, QZ_KERNEL_SLEEP}, {SYS_clock_nanosleep, QZ_KERNEL_SLEEP},
};

uint8_t qzi_kernel_of_call(long number) {
  if (number < 0) return QZ_KERNEL_FAULT;
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (kinds[k].number == number) return kinds[k].kernel;
  return QZ_KERNEL_CALL;
}

#if defined(__x86_64__)

static uint8_t look(uint32_t pid, uint64_t pc) {
  unsigned char code[BEFORE];
  if (pc < sizeof code || qzi_program_read(pid, pc - sizeof code, code, sizeof code)) return QZ_KERNEL_CALL;
  unsigned end = sizeof code - 2;
  if (code[end] != 0x0f || code[end + 1] != 0x05) return QZ_KERNEL_FAULT; /* syscall */
  for (unsigned at = end; at-- > 0;) {
    int32_t number;
    if (code[at] == 0x48 && code[at + 1] == 0x89 && code[at + 2] == 0xf8) return PASSED;         /* mov %rdi,%rax */
    if (code[at] == 0x31 && code[at + 1] == 0xc0 && at + 2 <= end) return qzi_kernel_of_call(0); /* xor %eax,%eax */
    if (code[at] != 0xb8 || at + 5 > end) continue;                                              /* mov $number,%eax */
    memcpy(&number, code + at + 1, sizeof number);
    if (number >= 0 && number < 1024) return qzi_kernel_of_call(number);
  }
  return QZ_KERNEL_CALL;
}

/* The number passed to the procedure that returns to `back`. */
static uint8_t look_before(uint32_t pid, uint64_t back) {
  unsigned char code[CALLER];
  if (back < sizeof code || qzi_program_read(pid, back - sizeof code, code, sizeof code)) return QZ_KERNEL_CALL;
  for (unsigned at = sizeof code - 5; at-- > 0;) {
    int32_t number;
    if (code[at] != 0xbf) continue; /* mov $number,%edi */
    memcpy(&number, code + at + 1, sizeof number);
    if (number >= 0 && number < 1024) return qzi_kernel_of_call(number);
  }
  return QZ_KERNEL_CALL;
}
#elif defined(__aarch64__)

static uint8_t look_before(uint32_t pid, uint64_t back) { return QZ_KERNEL_CALL; }
static uint8_t look(uint32_t pid, uint64_t pc) {
  uint32_t code[BEFORE / 4];
  if (pc < sizeof code || qzi_program_read(pid, pc - sizeof code, code, sizeof code)) return QZ_KERNEL_CALL;
  unsigned end = BEFORE / 4 - 1;
  if (code[end] != 0xd4000001) return QZ_KERNEL_FAULT; /* svc #0 */
  for (unsigned at = end; at-- > 0;)
    if ((code[at] & 0xffe0001f) == 0xd2800008) return qzi_kernel_of_call(code[at] >> 5 & 0xffff); /* mov x8, #number */
  return QZ_KERNEL_CALL;
}
#else
static uint8_t look_before(uint32_t pid, uint64_t back) { return QZ_KERNEL_CALL; }
static uint8_t look(uint32_t pid, uint64_t pc) { return QZ_KERNEL_CALL; }
#endif

static uint8_t known_at(struct qzi_call_sites *known, uint32_t pid, uint64_t pc, uint8_t (*find)(uint32_t, uint64_t)) {
  struct qzi_call_site *site = &known->sites[(pc ^ pc >> 6) % (sizeof known->sites / sizeof *known->sites)];
  if (site->pc != pc) *site = (struct qzi_call_site){.pc = pc, .kernel = find(pid, pc)};
  return site->kernel;
}

uint8_t qzi_kernel_work(struct qzi_call_sites *known, uint32_t pid, uint64_t pc, uint64_t returned,
                        const struct qzi_stack_copy *stack, uint64_t sp) {
#if defined(__x86_64__)
  if (returned != pc) return QZ_KERNEL_FAULT;
#endif
  uint8_t kernel = known_at(known, pid, pc, look);
  if (kernel != PASSED) return kernel;
  uint64_t back; /* the procedure has no frame of its own */
  if (sp < stack->address || sp - stack->address + sizeof back > stack->bytes) return QZ_KERNEL_CALL;
  memcpy(&back, stack->data + (sp - stack->address), sizeof back);
  return known_at(known, pid, back, look_before);
}
