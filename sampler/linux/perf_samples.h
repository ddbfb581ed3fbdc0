/* Samples of running threads, taken by the kernel (perf_event_open): they show what threads of programs without hooks
 * execute.
 *
 * Owns:    the events and their buffers.
 * Writer:  the kernel. Reader: the aggregating thread.
 * Must not: disturb the program more than the timer interrupt that takes a sample; need privileges (perf_event_paranoid
 * <= 2, Linux's default, permits it; Debian's 3 and some containers do not).
 *
 * A sample is taken after each interval of processor time. It contains the instruction, stack pointer, frame pointer,
 * and a copy of the top of the stack, from which the callers are found (unwinder.h).
 *
 * If the user may (root; kernel.perf_event_paranoid 0 or less), the events belong to the CPUs and sample whatever runs
 * there; samples of other programs are discarded. Their timers run continuously, so that context switches cost no more
 * than without sampling. Then nothing here opens an event of a thread: if there was none on the machine for a second,
 * the kernel changes its code for switching threads, which takes it some 15 ms, and makes each switch dearer.
 *
 * Of many ranks of an MPI program, each is sampled by itself: with such events each recording would interrupt all of
 * them, and its buffers would be full of samples of others.
 *
 * Otherwise there is one event for each CPU, which threads inherit from their creators. When the kernel switches
 * from one thread of the program to another, such an event simply continues, whereas with one event for each thread
 * the kernel would stop one timer and start another, which costs more than the switch itself. The interval is
 * processor time of all of the program's threads on that CPU, so that each thread has samples in proportion to the
 * time for which it runs. On machines with many CPUs, where every new thread would need as many events, each thread
 * has its own event.
 */
#ifndef QZI_PERF_SAMPLES_H
#define QZI_PERF_SAMPLES_H

#include "perf_event.h"
#include "thread_sample.h"

#define QZI_RUNNING_CPUS 32u /* on machines with more CPUs, each thread has its own event */

struct qzi_running;

/* Begins to sample the existing threads of the program and those that they create. Returns NULL with errno if it is not
 * allowed or not supported, or if no memory is left for buffers. cpus: how many CPUs the program may use (its first
 * thread may have been pinned to fewer since). interval_ns: processor time between samples. cpus_most:
 * QZI_RUNNING_CPUS, or less. whole: try events of CPUs. stack: bytes of stack to copy, QZI_RUNNING_STACK times a power
 * of two. */
struct qzi_running *qzi_running_open(uint32_t pid, uint32_t cpus, uint64_t interval_ns, uint32_t cpus_most, int whole,
                                     uint32_t stack);
/* The same interface for samples that the program takes of itself; the ring must remain mapped until
 * qzi_running_close. Returns NULL if there is no memory. */
struct qzi_running *qzi_running_by_signals(const struct qz_signal_ring *ring);
/* The same for counted events; `event` must remain valid until qzi_running_close. Returns NULL with errno also if the
 * machine does not support the event. */
struct qzi_running *qzi_running_count(uint32_t pid, uint32_t cpus, const struct qzi_event *event, uint32_t cpus_most,
                                      int whole);
/* 1: the events belong to CPUs, and cost nothing when threads are switched. */
int qzi_running_whole(const struct qzi_running *running);
/* Processor time in ns between samples; 0 if running is NULL. */
uint64_t qzi_running_interval_ns(const struct qzi_running *running);
void qzi_running_close(struct qzi_running *running);
/* Returns 0 if the kernel lets the sampler take samples of that process; otherwise -1 with errno. */
int qzi_running_allowed(uint32_t pid);
/* To be called when a thread is seen for the first time, and when it has ended. qzi_running_begin returns 0, or -1 with
 * errno if the thread can't be sampled. */
int qzi_running_begin(struct qzi_running *running, uint32_t tid);
void qzi_running_end(struct qzi_running *running, uint32_t tid);
/* pause 1: takes no samples until it is called with 0. */
void qzi_running_pause(struct qzi_running *running, int pause);

/* 1: there may be unread samples. */
int qzi_running_any(const struct qzi_running *running);
/* Gets the next unread sample, of any thread; what its copy of the stack points to is valid until the next call.
 * Returns 0 if there is none now. */
int qzi_running_next(struct qzi_running *running, struct qzi_sample *sample);

/* From now on qzi_running_next returns one of so many samples of a timer, chosen at random, which stands for as many
 * (`stands`). At first: every one. */
void qzi_running_thin(struct qzi_running *running, uint32_t one_of);
/* Number of samples left out by that since the last call. */
uint32_t qzi_running_left_out(struct qzi_running *running);

/* Number of processes that the program has created since the last call, not counting those that its children create;
 * incomplete if events were lost or paused. */
uint32_t qzi_running_forked(struct qzi_running *running);

/* Time in ns that one sample takes from the sampled thread: the median of several, measured at the first call by
 * sampling the calling thread while it computes for half a millisecond. 0: unknown. */
uint64_t qzi_running_cost_ns(void);
/* Time in ns that the timer of such an event takes from a thread when it gets an idle CPU and gives it back, measured
 * by the call; 0: unknown. */
uint64_t qzi_perf_timer_ns(void);

#endif
