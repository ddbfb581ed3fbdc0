/* Samples by signals. See signal_samples.h. */
#include "signal_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/signal_samples.h"
#include "pool.h"
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/private.h"

_Atomic(int) qzl_sampling_signal;

#if defined(__x86_64__)
#define LEAST_NS      UINT64_C(1800000) /* least processor time between samples */
#define SPARED        5                 /* the last signals, which run-times use */
#define FAR           20                /* bytes before the end of a system call in which its number is looked for */
#define TRIALS        9                 /* samples by which the cost is measured */
#define CLOCK_OF(tid) ((clockid_t)(~(uint32_t)(tid) << 3 | 6)) /* of a thread's processor time (Linux) */

static _Atomic(struct qz_signal_ring *) ring;
static _Atomic(bool) measuring; /* samples are taken, and not kept */
static int last_signal;         /* whose handler is installed */
static _Atomic(bool) given_up;

/* ---- the handler ---- */

/* System calls that end with EINTR although the handler was installed with SA_RESTART (signal(7)), and that can be
 * begun again: when their time is limited, nothing of it has passed, since the timer's signal comes only while the
 * thread runs. */
static bool begins_again(uint32_t number) {
  switch (number) {
  case SYS_poll:
  case SYS_ppoll:
  case SYS_select:
  case SYS_pselect6:
  case SYS_epoll_wait:
  case SYS_epoll_pwait:
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
  case SYS_pause:
  case SYS_rt_sigsuspend:
  case SYS_rt_sigtimedwait:
  case SYS_semop:
  case SYS_semtimedop:
  case SYS_msgsnd:
  case SYS_msgrcv:
  case SYS_io_getevents:
  case SYS_futex:
  case SYS_read:
  case SYS_write:
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_sendto:
  case SYS_sendmsg:
  case SYS_accept:
  case SYS_accept4: return true;
#ifdef SYS_epoll_pwait2
  case SYS_epoll_pwait2: return true;
#endif
  default: return false;
  }
}

/* SYSCALL is 0f 05 (Intel 64 manual, volume 2). */
static bool is_call(const unsigned char *code) { return code[0] == 0x0f && code[1] == 0x05; }

/* Number of the system call that ends before `code`: the constant that the C library loads into eax just before (b8 and
 * four bytes). 0: not found, as with read. */
static uint32_t number_before(const unsigned char *code) {
  for (int at = 7; at <= FAR; at++) {
    uint32_t number;
    __builtin_memcpy(&number, code - at + 1, sizeof number);
    if (code[-at] == 0xb8 && number < 1024) return number;
  }
  return 0;
}

/* Address after the system call in which the thread was; 0: in none. One that this signal has ended is begun again. If
 * another signal's handler is about to run, the thread is at the beginning of that, and the program sees EINTR as
 * usual. Kernels since 5.10 handle such timers only when a thread leaves the kernel (POSIX_CPU_TIMERS_TASK_WORK), so
 * that calls do not end early. */
static uint64_t called(mcontext_t *context) {
  uint64_t pc = (uint64_t)context->gregs[REG_RIP], in_page = pc & 4095;
  const unsigned char *code = (const unsigned char *)(uintptr_t)pc;
  if (in_page <= 4094 && is_call(code)) return pc + 2; /* the kernel begins it again */
  if (in_page < FAR || !is_call(code - 2)) return 0;
  if (context->gregs[REG_RAX] == -EINTR) {
    uint32_t number = number_before(code);
    if (begins_again(number)) {
      context->gregs[REG_RIP] = (greg_t)(pc - 2);
      context->gregs[REG_RAX] = (greg_t)number;
    }
  }
  return pc;
}

/* Whether the kernel worked for the thread when the tick came: then it charged it to the system time. (How much of
 * which it gives is scaled to the exact sum, so the larger part decides.) */
static bool in_kernel(struct qzl_thread *me) {
  struct rusage used;
  if (qzi_no_system_calls || getrusage(RUSAGE_THREAD, &used)) return false;
  uint64_t user = (uint64_t)used.ru_utime.tv_sec * 1000000u + (uint64_t)used.ru_utime.tv_usec,
           system = (uint64_t)used.ru_stime.tv_sec * 1000000u + (uint64_t)used.ru_stime.tv_usec;
  bool is = system - me->sampled.system_us > user - me->sampled.user_us;
  me->sampled.user_us = user;
  me->sampled.system_us = system;
  return is;
}

/* The stack is copied up to the end of the thread's own, or of the page on another one (sigaltstack, coroutines). Not
 * by memcpy, which sanitizers check. */
static uint32_t copy_stack(const struct qzl_thread *me, uint64_t sp, unsigned char *to) {
  uint64_t page = 4096 - (sp & 4095), bytes = page;
  if (sp > me->thread.stack_low && sp < me->thread.stack_high) bytes = me->thread.stack_high - sp;
  if (bytes > QZ_SIGNAL_STACK) bytes = QZ_SIGNAL_STACK;
  uint64_t left = bytes;
  __asm__ volatile("rep movsb" : "+S"(sp), "+D"(to), "+c"(left) : : "memory");
  return (uint32_t)bytes;
}

static void fill(struct qz_signal_sample *sample, struct qzl_thread *me, const mcontext_t *context, uint64_t call) {
  static const unsigned char numbered[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (unsigned k = 0; k < 16; k++) sample->general[k] = (uint64_t)context->gregs[numbered[k]];
  sample->pc = call ? call : (uint64_t)context->gregs[REG_RIP];
  sample->tid = me->thread.os_tid;
  sample->cpu = sched_getcpu();
  bool kernel = in_kernel(me);
  sample->user = !call && !kernel;
  sample->bytes = copy_stack(me, sample->general[4], sample->stack);
}

static void take(int number, siginfo_t *info, void *context) {
  (void)number;
  mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
  uint64_t call = called(at);
  static struct qzl_thread nobody;
  struct qzl_thread *me = measuring ? &nobody : qzl_self;
  struct qz_signal_ring *to = ring;
  if (!me || !to || !qzi_publishing() || (info->si_code != SI_TIMER) != measuring) return;
  int error = errno;
  static struct qz_signal_sample unused;
  uint64_t n = measuring ? 0 : __atomic_fetch_add(&to->count, 1, __ATOMIC_RELAXED);
  struct qz_signal_sample *sample = measuring ? &unused : &to->slots[n % QZ_SIGNAL_SLOTS];
  __atomic_store_n(&sample->number, 2 * n + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  fill(sample, me, at, call);
  __atomic_store_n(&sample->number, 2 * n + 2, __ATOMIC_RELEASE);
  errno = error;
}

/* ---- timers ---- */

static void begin_timer(struct qzl_thread *place) {
  int32_t none = 0, id;
  struct qz_signal_ring *to = ring;
  if (!to || qzi_no_system_calls || !place->thread.os_tid) return;
  if (!__atomic_compare_exchange_n(&place->sampled.timer, &none, -1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = qzl_sampling_signal};
  event._sigev_un._tid = (pid_t)place->thread.os_tid;
  struct itimerspec each = {.it_interval.tv_nsec = to->interval_ns, .it_value.tv_nsec = to->interval_ns};
  if (syscall(SYS_timer_create, CLOCK_OF(place->thread.os_tid), &event, &id)) return;
  if (syscall(SYS_timer_settime, id, 0, &each, NULL)) return;
  __atomic_store_n(&place->sampled.timer, id + 1, __ATOMIC_RELEASE);
}

static void end_timer(struct qzl_thread *place) {
  int32_t timer = __atomic_exchange_n(&place->sampled.timer, 0, __ATOMIC_ACQ_REL);
  if (timer > 0 && !qzi_no_system_calls) syscall(SYS_timer_delete, timer - 1);
}

void qzl_sampled_begin(struct qzl_thread *me) {
  if (__builtin_expect(qzl_sampling_signal != 0, 0)) begin_timer(me);
}
void qzl_sampled_end(struct qzl_thread *me) {
  if (__builtin_expect(me->sampled.timer != 0, 0)) end_timer(me);
}

/* ---- begin and end ---- */

typedef int set_action(int, const struct sigaction *, struct sigaction *);

/* Takes a signal that nobody handles. 0: there is none. */
static int take_signal(void) {
  set_action *real = (set_action *)qzl_next("sigaction", NULL);
  struct sigaction ours = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, other;
  sigfillset(&ours.sa_mask);
  if (!real) return 0;
  for (int number = SIGRTMAX - SPARED; number > SIGRTMIN; number--)
    if (number == last_signal || (!real(number, NULL, &other) && other.sa_handler == SIG_DFL))
      return real(number, &ours, NULL) ? 0 : number;
  return 0;
}

static struct qz_signal_ring *make_ring(int *fd) {
  *fd = memfd_create("quartz-samples", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void *at = MAP_FAILED;
  if (*fd >= 0 && !ftruncate(*fd, sizeof(struct qz_signal_ring)) &&
      !fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    at = mmap(NULL, sizeof(struct qz_signal_ring), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  if (at != MAP_FAILED) return at;
  if (*fd >= 0) close(*fd);
  return NULL;
}

/* What a sample takes from its thread: the least of some that the calling thread sends itself, for the others were
 * interrupted. */
static uint64_t measure(int number) {
  uint64_t least = UINT64_MAX;
  measuring = true;
  for (unsigned k = 0; k < TRIALS; k++) {
    uint64_t begin = qzi_pub_clock_ns();
    syscall(SYS_tgkill, getpid(), qzl_own_tid(), number);
    uint64_t ns = qzi_pub_clock_ns() - begin;
    if (ns < least) least = ns;
  }
  measuring = false;
  return least;
}

/* The kernel looks at such timers at its ticks: a little less than one tick, so that none is missed. */
static uint64_t interval(void) {
  struct timespec tick;
  uint64_t ns = clock_getres(CLOCK_MONOTONIC_COARSE, &tick) ? 0 : (uint64_t)tick.tv_nsec * 9 / 10;
  return ns > LEAST_NS ? ns : LEAST_NS;
}

void qzi_publishers_sample(void) {
  int fd;
  if (ring || given_up || qzi_no_system_calls) return;
  int number = take_signal();
  struct qz_signal_ring *made = number ? make_ring(&fd) : NULL;
  if (!made) return;
  made->magic = QZ_SIGNAL_MAGIC;
  made->interval_ns = (uint32_t)interval();
  ring = made;
  qzl_sampling_signal = last_signal = number;
  sigset_t its;
  sigemptyset(&its);
  sigaddset(&its, number);
  int (*mask)(int, const sigset_t *, sigset_t *) =
    (int (*)(int, const sigset_t *, sigset_t *))qzl_next("pthread_sigmask", NULL);
  if (mask) mask(SIG_UNBLOCK, &its, NULL); /* as whoever started the program may have blocked it */
  made->cost_ns = measure(number);
  bool passed = qzi_channel_pass(QZ_SAMPLES, fd);
  close(fd);
  if (!passed) {
    qzl_sampling_off();
    return;
  }
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++)
    if (qzl_pool.places[k].hot) begin_timer(&qzl_pool.places[k]);
  pthread_mutex_unlock(&qzl_pool.lock);
}

/* The handler stays, for a signal may be on its way; so does the ring, in which it may be writing. */
void qzl_sampling_off(void) {
  if (!ring) return;
  qzl_sampling_signal = 0;
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++) end_timer(&qzl_pool.places[k]);
  pthread_mutex_unlock(&qzl_pool.lock);
  ring = NULL;
}

void qzl_sampling_give_up(void) {
  given_up = true;
  qzl_sampling_off();
}

void qzl_sampling_forked(void) {
  qzl_sampling_signal = 0;
  ring = NULL;
  for (uint32_t k = 0; k < qzl_pool.high; k++) qzl_pool.places[k].sampled.timer = 0;
}

#else
void qzi_publishers_sample(void) {}
void qzl_sampled_begin(struct qzl_thread *me) { (void)me; }
void qzl_sampled_end(struct qzl_thread *me) { (void)me; }
void qzl_sampling_off(void) {}
void qzl_sampling_give_up(void) {}
void qzl_sampling_forked(void) {}
#endif
