/* Why a thread is in the kernel: in which system call, or for a page fault.
 *
 * Owns:    a cache of the results for some places in the program.
 * Writer and reader: the aggregating thread, through snapshot/thread_tracker.c.
 *
 * A system call is recognized by the instruction before the thread's return address; its number by the constant loaded
 * into the number's register a few bytes before (as the C library's procedures do), or, for the C library's syscall(),
 * in its caller. Everything else that takes a running thread into the kernel is a page fault, apart from some
 * interrupts. Constants: Linux's tables of system calls; instructions: Intel 64 manual, volume 2, SYSCALL (which leaves
 * the return address in rcx); Arm architecture, SVC.
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

/* The reason (enum qz_kernel) of a thread that is in the kernel, given its user registers and a copy of its stack.
 * returned: the value of rcx (x86-64). */
uint8_t qzi_kernel_work(struct qzi_call_sites *known, uint32_t pid, uint64_t pc, uint64_t returned,
                        const struct qzi_stack_copy *stack, uint64_t sp);

/* The reason (enum qz_kernel) for the system call with that number; below 0: for a page fault. */
uint8_t qzi_kernel_of_call(long number);

#endif
