/* Why a thread is in the kernel: in a system call, and which, or for a page fault.
 *
 * Owns:    what was found at some places of the program last.
 * Writer and reader: the aggregating thread, through snapshot/thread_tracker.c.
 *
 * A system call is reported by the instruction before the place to which the thread returns; its number by the constant
 * that was put into the number's register last, a few bytes before (as the C library's procedures do), or, for the C
 * library's syscall(), by its caller. Everything else that takes a running thread into the kernel is a page fault,
 * apart from some interrupts. Constants: Linux's tables of system calls; instructions: Intel 64 manual, volume 2,
 * SYSCALL (it leaves the place of return in rcx); Arm architecture, SVC.
 */
#ifndef QZI_KERNEL_WORK_H
#define QZI_KERNEL_WORK_H

#include <stdint.h>
#include "sampler/linux/thread_sample.h"

struct qzi_call_sites {
  struct qzi_call_site {
    uint64_t pc;
    uint8_t kernel;
  } sites[64];
};

/* enum qz_kernel of a thread that is in the kernel with these registers of its own, and this copy of its stack.
 * returned: what rcx held (x86-64). */
uint8_t qzi_kernel_work(struct qzi_call_sites *known, uint32_t pid, uint64_t pc, uint64_t returned,
                        const struct qzi_stack_copy *stack, uint64_t sp);

/* enum qz_kernel of the system call of that number; below 0: of a page fault. */
uint8_t qzi_kernel_of_call(long number);

#endif
