/* Measures the cost of publishing in this process before it publishes; the model subtracts this cost from the reported
 * times.
 *
 * Owns:    hook, hook_inside_ps, lock, spawn_ps of the session (lock: of the thread package).
 * Writer:  qzi_calibrate, once. Reader: the sampler.
 * Must not: change anything else in the session; take longer than some tenths of a millisecond, which would slow down
 * short programs.
 *
 * The calls of publisher.h are compiled here a second time, with a flag, an epoch and an object table of their own, and
 * run on a processor and a thread that exist only here. Each result is the minimum over batches, so that interrupted
 * batches do not count. Batches with an operation and without it alternate: if the CPU is slower for a while (its other
 * hardware thread is busy, its frequency drops), both are affected. docs/evidence/hooks.md says what was tried.
 */
extern _Atomic unsigned qzi_calibrate_flag;
#define qzi_publishing_flag qzi_calibrate_flag
#define qzi_pub_objects     qzi_calibrate_objects
#define qzi_pub_exact_hold  qzi_calibrate_exact_hold
#include "private.h"
#include "publisher.h"
#undef qzi_pub_objects
#undef qzi_pub_exact_hold
#include "calibrate_work.h"
#include <sys/mman.h>

_Atomic unsigned qzi_calibrate_flag;
struct qz_object *qzi_calibrate_objects;
uint32_t qzi_calibrate_exact_hold;

#define BATCHES 24  /* maximum number of batches */
#define SETTLED 4   /* stop after so many batches in a row that are no faster by 1/64: caches and predictors are warm */
#define CALLS   512 /* calls per batch: the clock may have a resolution of 10 ns */
#define BETWEEN 96  /* operations per batch between work: each takes longer */
#define BUSY    12  /* rounds of work that keeps the CPU busy: more instructions than a hook adds */
#define CHAIN   16  /* rounds of work that waits: longer than a hook or a lock takes on a busy CPU */
#define SPAWNS  32

extern struct qz_object *qzi_pub_objects;
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static struct qzi_publisher processor;
static struct qz_processor processor_record;
static struct qz_object objects[2];
static uint64_t lock_line;

/* The code that the compiler generates for an empty procedure, without and with hooks. */
QZI_HOOK __attribute__((noinline)) static void plain(void) { __asm__ volatile("" ::: "memory"); }
QZI_HOOK __attribute__((noinline)) static void hooked(void) {
  __cyg_profile_func_enter((void *)hooked, __builtin_return_address(0));
  __asm__ volatile("" ::: "memory");
  __cyg_profile_func_exit((void *)hooked, __builtin_return_address(0));
}

static uint64_t chains[4] = {1, 2, 3, 4};
static double chain;
/* Inlined in each batch, with its operation. */
#define QZI_BATCH QZI_HOOK __attribute__((always_inline)) static inline
QZI_BATCH void between_busy(void (*operation)(void)) {
  for (int k = 0; k < BETWEEN; k++) {
    qzi_work_busy(chains, BUSY);
    operation();
  }
}
QZI_BATCH void between_waiting(void (*operation)(void)) {
  for (int k = 0; k < BETWEEN; k++) {
    qzi_work_waiting(&chain, CHAIN);
    operation();
  }
}

QZI_HOOK static void plain_between_busy(void) { between_busy(plain); }
QZI_HOOK static void plain_between_waiting(void) { between_waiting(plain); }
QZI_HOOK static void hooked_between_busy(void) { between_busy(hooked); }
QZI_HOOK static void hooked_between_waiting(void) { between_waiting(hooked); }
/* One half of a hook pair at a time, i.e. entry or exit; one store replaces the other half. Both are called from one
 * place, so that their return addresses are at the same level.
 */
static uint64_t word_empty, word_pushed;
QZI_HOOK __attribute__((noinline)) static void entered(void) {
  __cyg_profile_func_enter((void *)hooked, __builtin_return_address(0));
  *(volatile uint64_t *)qzi_hot = word_empty;
}
QZI_HOOK __attribute__((noinline)) static void left(void) {
  *(volatile uint64_t *)qzi_hot = word_pushed;
  __cyg_profile_func_exit((void *)hooked, __builtin_return_address(0));
}
QZI_HOOK __attribute__((noinline)) static void call_halves(void (*half)(void)) {
  for (int k = 0; k < CALLS; k++) half();
}
QZI_HOOK static void call_plain(void) { call_halves(plain); }
QZI_HOOK static void call_enter(void) { call_halves(entered); }
QZI_HOOK static void call_exit(void) { call_halves(left); }

/* The same for expanded hooks (quartz/hooks.h), if the compiler supports them. */
#define QUARTZ_HOT_2 QZI_HOT_NAME
#define QUARTZ_GUESS_3(column, index) \
  column "(%r9," index ")" /* as fast as in the program, but without thread-local storage */
#define QUARTZ_HOOKS_MACROS_ONLY
#include "threadlib/include/quartz/hooks.h"
#ifdef QUARTZ_HOOKS_EXPANDED
_Static_assert(QZ_WORD_EMPTY + QZI_PUB_SHORT_ENTRIES * sizeof(struct qz_entry) == QUARTZ_SHORT_LIMIT_3,
               "known to hooks in the program");
static uint64_t words[2] __asm__("qzi_calibrate_words") __attribute__((used));
static uint32_t guesses[512] __asm__("qzi_calibrate_guesses") __attribute__((used));
void expanded(void) __asm__("qzi_calibrate_expanded") __attribute__((visibility("hidden")));
void expanded_entered(void) __asm__("qzi_calibrate_entered") __attribute__((visibility("hidden")));
void expanded_left(void) __asm__("qzi_calibrate_left") __attribute__((visibility("hidden")));
__asm__("  .text\n  .p2align 4\n"
        "qzi_calibrate_expanded:\n  leaq qzi_calibrate_guesses(%rip), %r9\n  quartz_entry_2\n  quartz_exit_2\n  ret\n"
        "  .p2align 4\n"
        "qzi_calibrate_entered:\n  leaq qzi_calibrate_guesses(%rip), %r9\n  quartz_entry_2\n"
        "  quartz_get_hot_2\n  movq qzi_calibrate_words(%rip), %rax\n  movq %rax, (%r11)\n  ret\n"
        "  .p2align 4\n"
        "qzi_calibrate_left:\n  leaq qzi_calibrate_guesses(%rip), %r9\n"
        "  quartz_get_hot_2\n  movq 8 + qzi_calibrate_words(%rip), %rax\n  movq %rax, (%r11)\n"
        "  quartz_exit_2\n  ret\n");
QZI_HOOK static void expanded_between_busy(void) { between_busy(expanded); }
QZI_HOOK static void expanded_between_waiting(void) { between_waiting(expanded); }
QZI_HOOK static void call_expanded_enter(void) { call_halves(expanded_entered); }
QZI_HOOK static void call_expanded_exit(void) { call_halves(expanded_left); }
#endif

static struct qzi_pub_thread parent, child;

/* What a mutex publishes when no thread waits. */
QZI_BATCH void lock_and_unlock(void) {
  static struct qzi_pub_object object = {.site = 1, .index = 1};
  uint64_t site = (uint64_t)(uintptr_t)qzi_calibrate;
  uint32_t index = qzi_pub_object(&object, QZ_KIND_MUTEX, &object, site, 0);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_MUTEX, index);
  __atomic_exchange_n(&lock_line, 1, __ATOMIC_ACQUIRE);
  qzi_pub_count(&processor, site, key);
  qzi_pub_push(&processor, &parent, key);
  qzi_pub_acquired(index, &parent);
  qzi_pub_released(index);
  qzi_pub_pop(&parent, key);
  __atomic_store_n(&lock_line, 0, __ATOMIC_RELEASE);
}
QZI_HOOK static void publish(unsigned on) { atomic_store_explicit(&qzi_calibrate_flag, on, memory_order_relaxed); }
QZI_HOOK static void locks_between_busy(void) { between_busy(lock_and_unlock); }
QZI_HOOK static void locks_between_waiting(void) { between_waiting(lock_and_unlock); }
QZI_HOOK static void unpublished_between_busy(void) {
  publish(0);
  between_busy(lock_and_unlock);
  publish(1);
}
QZI_HOOK static void unpublished_between_waiting(void) {
  publish(0);
  between_waiting(lock_and_unlock);
  publish(1);
}

/* What creating, running, ending and joining a thread publishes. */
QZI_HOOK static void spawn_and_join(void) {
  for (int k = 0; k < SPAWNS; k++) {
    qzi_pub_state(&processor, QZ_STATE_MAKING);
    qzi_pub_queued(&processor, &child, &parent);
    qzi_pub_state(&processor, QZ_STATE_USEFUL);
    qzi_pub_state(&processor, QZ_STATE_MAKING);
    qzi_pub_dequeued(&processor);
    qzi_pub_switched(&processor);
    qzi_pub_run(&processor, &child);
    qzi_pub_run_as(&processor, &parent, QZ_STATE_MAKING);
    qzi_pub_ended(&processor, &child);
    qzi_pub_state(&processor, QZ_STATE_USEFUL);
  }
}

QZI_HOOK static void unpublished_spawn_and_join(void) {
  publish(0);
  spawn_and_join();
  publish(1);
}

/* Updates the minimum time of a batch, in ns, and returns whether this batch was faster than it by more than 1/64. */
QZI_HOOK static bool faster(void (*batch)(void), uint64_t *least) {
  uint64_t begin = qzi_pub_clock_ns();
  batch();
  uint64_t ns = qzi_pub_clock_ns() - begin, before = *least;
  if (ns < before) *least = ns;
  return ns < before - before / 64;
}

QZI_HOOK uint64_t qzi_least_ps(void (*batch)(void), uint64_t count) {
  uint64_t least = UINT64_MAX;
  for (int k = 0, settled = 0; k < BATCHES && settled < SETTLED; k++) settled = faster(batch, &least) ? 0 : settled + 1;
  return least * 1000 / count;
}

QZI_HOOK uint64_t qzi_added_ps(void (*with)(void), void (*without)(void), uint64_t count, bool certain) {
  uint64_t least_with = UINT64_MAX, least_without = UINT64_MAX;
  for (int k = 0, settled = 0; k < BATCHES && (settled < SETTLED || (certain && least_with <= least_without)); k++) {
    bool one = faster(without, &least_without), other = faster(with, &least_with);
    settled = one || other ? 0 : settled + 1;
  }
  return least_with > least_without ? (least_with - least_without) * 1000 / count : 0;
}

struct qz_cost qzi_cost(uint64_t waiting, uint64_t busy) {
  return waiting < busy ? (struct qz_cost){waiting, busy} : (struct qz_cost){busy, waiting};
}

QZI_HOOK static void hook_costs(int kind, void (*waiting)(void), void (*busy)(void), void (*entries)(void),
                                void (*exits)(void)) {
  struct qz_cost cost = qzi_cost(qzi_added_ps(waiting, plain_between_waiting, BETWEEN, false),
                                 qzi_added_ps(busy, plain_between_busy, BETWEEN, true));
  uint64_t enter = qzi_added_ps(entries, call_plain, CALLS, true), leave = qzi_added_ps(exits, call_plain, CALLS, true);
  qzi_session.hook[kind] = cost;
  qzi_session.hook_inside_ps[kind] = enter + leave ? (cost.least_ps + cost.most_ps) / 2 * leave / (enter + leave) : 0;
}

void qzi_calibrated(void) {
  struct qz_session *head = qzi_session.head;
  int kind = qzi_hooks_expanded && qzi_session.hook[1].most_ps;
  qzi_pub_store(&head->hook.least_ps, qzi_session.hook[kind].least_ps);
  qzi_pub_store(&head->hook.most_ps, qzi_session.hook[kind].most_ps);
  qzi_pub_store(&head->hook_inside_ps, qzi_session.hook_inside_ps[kind]);
}

void qzi_calibrate(void) {
  struct qz_session *head = qzi_session.head;
  uint64_t *before = qzi_hot;
  qzi_threads_pool_publisher(&processor);
  processor.calls = qzi_pub_reserve(QZI_CALL_SLOTS * sizeof *processor.calls);
  if (!processor.free || !processor.calls) return;
  processor.record = &processor_record;
  qzi_calibrate_objects = objects;
  parent.serial = child.serial = UINT64_MAX;
  parent.start = (uint64_t)(uintptr_t)qzi_calibrate;
  child.start = (uint64_t)(uintptr_t)spawn_and_join;
  child.create_site = parent.start;

  publish(1);
  qzi_pub_run(&processor, &parent);
  if (parent.record) {
    if (head->publisher == QZ_PUBLISHER_THREADLIB) /* other publishers publish locks in a different way */
      head->lock = qzi_cost(qzi_added_ps(locks_between_waiting, unpublished_between_waiting, BETWEEN, false),
                            qzi_added_ps(locks_between_busy, unpublished_between_busy, BETWEEN, true));
    head->spawn_ps = qzi_added_ps(spawn_and_join, unpublished_spawn_and_join, SPAWNS, true);
    word_empty = *qzi_hot;
    word_pushed = word_empty + QZ_WORD_PUSH;
    hook_costs(0, hooked_between_waiting, hooked_between_busy, call_enter, call_exit);
#ifdef QUARTZ_HOOKS_EXPANDED
    words[0] = word_empty;
    words[1] = word_pushed;
    hook_costs(1, expanded_between_waiting, expanded_between_busy, call_expanded_enter, call_expanded_exit);
#endif
    qzi_pub_ended(&processor, &parent);
  }
  publish(0);
  qzi_threads_return_pool(&processor);
  munmap(processor.calls, QZI_CALL_SLOTS * sizeof *processor.calls);
  qzi_hot_set(before);
  qzi_publishers_calibrate(head);
}
