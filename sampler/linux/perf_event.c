/* Opens perf events for samples. See perf_event.h. */
#include "perf_event.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "thread_sample.h"

/* All general registers and the instruction pointer. */
#if defined(__x86_64__)
#define REGISTERS (((UINT64_C(1) << (PERF_REG_X86_IP + 1)) - 1) | UINT64_C(0xff) << PERF_REG_X86_R8)
#else
#define REGISTERS ((UINT64_C(1) << (PERF_REG_ARM64_PC + 1)) - 1)
#endif

int qzi_perf_event_open(uint32_t tid, int cpu, const struct qzi_event *event, uint64_t interval, uint32_t stack,
                        int paused, int processes) {
  int whole = tid == QZI_PERF_WHOLE;
  struct perf_event_attr attr = {.type = event ? event->type : PERF_TYPE_SOFTWARE,
                                 .size = sizeof attr,
                                 .config = event   ? event->config
                                           : whole ? PERF_COUNT_SW_CPU_CLOCK
                                                   : PERF_COUNT_SW_TASK_CLOCK,
                                 .sample_period = interval,
                                 .exclude_idle = whole,
                                 .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                 .sample_regs_user = REGISTERS,
                                 .sample_stack_user = stack,
                                 .disabled = paused != 0,
                                 .inherit = cpu >= 0 && !whole,
                                 .task = processes != 0,
                                 .exclude_hv = 1,
                                 .watermark = 1,
                                 .wakeup_watermark = UINT32_MAX};
  /* Tries to include the kernel's own time: a sample then shows which code of the program called the kernel. Tries to
   * exclude processes that the program forks (inherit_thread, Linux 5.13). Events that count something else than time
   * are counted in the program's own code only. */
  for (int without = event != NULL; without < 4; without += event ? 2 : 1) {
    attr.exclude_kernel = without & 1;
    attr.inherit_thread = attr.inherit && !(without & 2);
    int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 || errno == ESRCH) return fd;
  }
  return -1;
}
