/* Samples of running threads. See running.h. */
#include "running.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE  4096u
#define PAGES 8u /* of the buffer: 7 samples, more than fall due between two snapshots */

#if defined(__x86_64__)
/* All general ones, and the instruction pointer, in the order of their bits. */
#define REGISTERS (((UINT64_C(1) << (PERF_REG_X86_IP + 1)) - 1) | UINT64_C(0xff) << PERF_REG_X86_R8)
enum { AT_FP = PERF_REG_X86_BP, AT_SP = PERF_REG_X86_SP, AT_PC = PERF_REG_X86_IP, AT_COUNT = PERF_REG_X86_IP + 9 };
#define LINK(registers) 0
#else
#define REGISTERS (UINT64_C(1) << PERF_REG_ARM64_X29 | UINT64_C(1) << PERF_REG_ARM64_LR | \
                   UINT64_C(1) << PERF_REG_ARM64_SP | UINT64_C(1) << PERF_REG_ARM64_PC)
enum { AT_FP, AT_LINK, AT_SP, AT_PC, AT_COUNT };
#define LINK(registers) (registers)[AT_LINK]
#endif

struct qzi_running {
  struct perf_event_mmap_page *page;
  int fd;
};

static int open_event(uint32_t tid, uint64_t interval_ns, int with_kernel) {
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = interval_ns,
      .sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, .sample_regs_user = REGISTERS,
      .sample_stack_user = QZI_RUNNING_STACK, .exclude_kernel = !with_kernel, .exclude_hv = 1,
      .watermark = 1, .wakeup_watermark = UINT32_MAX};
  return (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

struct qzi_running *qzi_running_open(uint32_t tid, uint64_t interval_ns) {
  struct qzi_running *running = calloc(1, sizeof *running);
  if (!running) return NULL;
  /* With the kernel's own time, where that is allowed: a sample then tells which code of the program called it. */
  running->fd = open_event(tid, interval_ns, 1);
  if (running->fd < 0) running->fd = open_event(tid, interval_ns, 0);
  if (running->fd >= 0) {
    void *page = mmap(NULL, (size_t)(1 + PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, running->fd, 0);
    if (page != MAP_FAILED) {
      running->page = page;
      return running;
    }
    close(running->fd);
  }
  free(running);
  return NULL;
}

void qzi_running_close(struct qzi_running *running) {
  if (!running) return;
  munmap(running->page, (size_t)(1 + PAGES) * PAGE);
  close(running->fd);
  free(running);
}

static void copy_out(const unsigned char *data, uint64_t at, void *to, size_t bytes) {
  size_t size = (size_t)PAGES * PAGE, from = (size_t)(at % size), first = size - from < bytes ? size - from : bytes;
  memcpy(to, data + from, first);
  memcpy((unsigned char *)to + first, data, bytes - first);
}

/* 1: the record is a sample of code of the program. */
static int read_sample(const unsigned char *data, uint64_t at, uint64_t bytes, struct qzi_sample *sample) {
  uint64_t abi, registers[AT_COUNT], size, used;
  if (bytes < sizeof abi + sizeof registers + sizeof size) return 0;
  copy_out(data, at, &abi, sizeof abi);
  if (abi != PERF_SAMPLE_REGS_ABI_64) return 0;
  copy_out(data, at + 8, registers, sizeof registers);
  at += 8 + sizeof registers;
  copy_out(data, at, &size, sizeof size);
  sample->at = (struct qzi_registers){
      .pc = registers[AT_PC], .sp = registers[AT_SP], .fp = registers[AT_FP], .link = LINK(registers), .fp_known = 1};
  sample->copy = (struct qzi_stack_copy){.address = registers[AT_SP]};
  sample->registers = 0;
  for (unsigned k = 0; k < AT_COUNT; k++) sample->registers = (sample->registers ^ registers[k]) * UINT64_C(0x9e3779b97f4a7c15);
  if (size && size <= QZI_RUNNING_STACK && bytes >= 8 + sizeof registers + 8 + size + 8) {
    copy_out(data, at + 8 + size, &used, sizeof used);
    copy_out(data, at + 8, sample->bytes, (size_t)size);
    sample->copy.bytes = used < size ? used : size;
    sample->copy.data = sample->bytes;
  }
  return registers[AT_PC] != 0;
}

int qzi_running_read(struct qzi_running *running, struct qzi_sample *sample) {
  const unsigned char *data = (const unsigned char *)running->page + PAGE;
  uint64_t head = __atomic_load_n(&running->page->data_head, __ATOMIC_ACQUIRE), at = running->page->data_tail, newest = 0;
  uint64_t newest_bytes = 0;
  int newest_user = 0;
  if (at == head) return 0;
  while (at < head) {
    struct perf_event_header record;
    copy_out(data, at, &record, sizeof record);
    if (record.size < sizeof record) break;
    if (record.type == PERF_RECORD_SAMPLE) {
      newest = at + sizeof record;
      newest_bytes = record.size - sizeof record;
      newest_user = (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
    }
    at += record.size;
  }
  int found = newest_bytes && read_sample(data, newest, newest_bytes, sample);
  sample->user = newest_user;
  __atomic_store_n(&running->page->data_tail, head, __ATOMIC_RELEASE);
  return found;
}
