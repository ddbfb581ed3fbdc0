/* Critical sections and locks of OpenMP (GCC's and LLVM's): counted, with waits and holders as for a mutex. Their
 * libraries spin and sleep by system calls of their own; so what the program calls is intercepted.
 *
 * Owns:    `sections`. Writer and reader: the threads that call.
 * Must not: take a critical section in another order, or for longer, than the library would.
 */
#include "pthread-layer/src/interpose/runtime_function.h"
#include "pthread-layer/src/interpose/section_word.h"
#include "pthread-layer/src/interpose/waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

/* Part of the function that makes the call, since the sampler finds the callers from there. */
#define WAITS(me, lock, site, call)                                                                            \
  struct qzl_wait wait;                                                                                        \
  qzl_wait_begin(&wait, me, qzl_promote(me, lock, QZ_KIND_MUTEX, site), QZ_STATE_BLOCKED | QZ_STATE_MAY_SPIN); \
  call

static inline struct qzl_thread *here(void) { return qzi_publishing() ? qzl_here() : NULL; }

/* A thread has waited, if `counted`, and has the lock. */
static inline void had(struct qzl_wait *wait, const void *lock, bool counted) {
  if (!counted) {
    qzl_wait_end(wait, 0);
    return;
  }
  qzl_wait_end_later(wait);
  qzl_write_at_release(wait->me, lock);
}

/* The lock leaves the stack before the real call, in which a waiter may be woken and run at once. nested: its hold is
 * not timed, since it may still be held at an outer level. */
static inline struct qzl_thread *lets_go(const void *lock, bool nested) {
  struct qzl_thread *me = qzi_publishing() ? qzl_self : NULL;
  if (!me) return NULL;
  bool timed = !nested && qzi_pub_exact_hold & QZI_HOLD_EXACT;
  if (__builtin_expect(me->waited.index || timed || qzl_last_is_wanted(me) || !qzl_release_fast(me, lock), 0)) {
    uint32_t index;
    uint64_t key = qzl_held(me, lock, QZ_KIND_MUTEX, &index);
    if (!nested) qzl_released(me, index, lock);
    qzl_path_lets_go(me, index);
    qzl_pop(me, key);
  }
  return me;
}

/* ---- critical sections: they can't be tried ---- */

/* Where the library's own word for the section is not known (section_word.h), threads say that they are in it by plain
 * stores. Whoever comes while it is taken has to wait. That is seen late on another CPU; so whoever finds afterwards
 * that another thread was in it meanwhile has waited, too, and the next ones are looked at more closely: their calls
 * are waits until it is known that they were not. */
#define SECTIONS 256u /* more of them: nobody is seen to wait for those */
#define CLOSELY  16u
static struct section {
  _Alignas(64) _Atomic uint64_t address;
  _Atomic uint32_t taken;   /* a thread is in it */
  _Atomic uint32_t entries; /* until now */
  _Atomic uint32_t closely; /* so many entries are still to be looked at */
} sections[SECTIONS];

static struct section *section_of(const void *at) {
  static struct section beyond; /* of nobody: has no address */
  uint64_t address = (uint64_t)(uintptr_t)at, first = address * QZ_HASH_FACTOR >> 56;
  for (unsigned k = 0; k < SECTIONS; k++) {
    struct section *section = &sections[(first + k) % SECTIONS];
    uint64_t its = atomic_load_explicit(&section->address, memory_order_relaxed);
    if (its == address) return section;
    if (its == 0 && atomic_compare_exchange_strong(&section->address, &its, address)) return section;
    if (its == address) return section; /* another thread has just stored it */
  }
  return &beyond;
}
#define READ(field)         atomic_load_explicit(&(field), memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

/* The calling thread is in the section now; `waited`: others were in it since it asked for it. */
static inline void enter(struct section *section, bool waited) {
  if (!READ(section->address)) return;
  STORE(section->taken, 1);
  STORE(section->entries, READ(section->entries) + 1);
  uint32_t closely = READ(section->closely);
  if (waited)
    STORE(section->closely, CLOSELY);
  else if (closely)
    STORE(section->closely, closely - 1);
}

/* The variables of sections that have none in the program. GCC names others so, and LLVM all. */
#define VARIABLE(name, symbol)                     \
  extern QZL_EXPORT uint64_t name __asm__(symbol); \
  QZL_EXPORT uint64_t name
VARIABLE(unnamed, ".gomp_critical_user_");
VARIABLE(atomics, "omp_atomic");

/* A thread leaves the section, which others know from `taken`. */
static inline void leave(const void *variable) {
  struct section *section = section_of(variable);
  if (READ(section->taken)) STORE(section->taken, 0);
}

/* Asks for the section and waits for it, where its word is not known. */
#define BY_STORES(me, site, real, arguments, variable)    \
  struct section *its = section_of(variable);             \
  bool taken = READ(its->taken);                          \
  uint32_t entries = READ(its->entries);                  \
  qzl_ask(me, variable, QZ_KIND_MUTEX, site);             \
  if (__builtin_expect(taken || READ(its->closely), 0)) { \
    WAITS(me, variable, site, real arguments);            \
    taken = taken || READ(its->entries) != entries;       \
    had(&wait, variable, taken);                          \
  } else {                                                \
    real arguments;                                       \
    taken = READ(its->entries) != entries;                \
  }                                                       \
  enter(its, taken);

/* ENTER, LEAVE(name, its parameters, its arguments, the section's variable). GCC: also the function that ends it, and
 * the one that finds the word. */
#define BEGINS(name, parameters, arguments)                                   \
  static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
  uint64_t site = QZL_SITE();                                                 \
  void(*real) parameters;                                                     \
  *(void **)(void *)&real = qzl_runtime_real(&function, site);                \
  if (!real) return;                                                          \
  struct qzl_thread *me = here();                                             \
  if (!me) {                                                                  \
    real arguments;                                                           \
    return;                                                                   \
  }
#define ENTER(name, parameters, arguments, variable) \
  QZL_EXPORT void name parameters;                   \
  QZL_EXPORT void name parameters {                  \
    BEGINS(name, parameters, arguments)              \
    BY_STORES(me, site, real, arguments, variable)   \
    acquired(me, variable, QZ_KIND_MUTEX);           \
  }
#define ENTER_GCC(name, ending, find, parameters, arguments, variable)                       \
  QZL_EXPORT void ending parameters;                                                         \
  QZL_EXPORT void name parameters;                                                           \
  QZL_EXPORT void name parameters {                                                          \
    static struct qzl_section_words words;                                                   \
    static struct qzl_runtime_function ends = {#ending, .own = (void *)ending};              \
    BEGINS(name, parameters, arguments)                                                      \
    uint64_t start = (uint64_t)(uintptr_t)real, its_word = qzl_section_word(&words, start);  \
    if (__builtin_expect(!its_word, 0)) {                                                    \
      void(*end) parameters;                                                                 \
      *(void **)(void *)&end = qzl_runtime_real(&ends, site);                                \
      if (end) qzl_section_word_note(&words, start, its_word = find(real, end));             \
    }                                                                                        \
    if (its_word > QZL_NO_WORD) {                                                            \
      int *word = its_word == QZL_OWN_WORD ? (int *)(variable) : (int *)(uintptr_t)its_word; \
      qzl_ask(me, variable, QZ_KIND_MUTEX, site);                                            \
      if (__builtin_expect(!qzl_section_take(word), 0)) {                                    \
        WAITS(me, variable, site, real arguments);                                           \
        had(&wait, variable, true);                                                          \
      }                                                                                      \
    } else {                                                                                 \
      BY_STORES(me, site, real, arguments, variable)                                         \
    }                                                                                        \
    acquired(me, variable, QZ_KIND_MUTEX);                                                   \
  }
#define LEAVE(name, parameters, arguments, variable)                            \
  QZL_EXPORT void name parameters;                                              \
  QZL_EXPORT void name parameters {                                             \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
    void(*real) parameters;                                                     \
    *(void **)(void *)&real = qzl_runtime_real(&function, QZL_SITE());          \
    if (!real) return;                                                          \
    struct qzl_thread *me = lets_go(variable, false);                           \
    if (me) leave(variable);                                                    \
    real arguments;                                                             \
    if (me) qzl_write_waited(me);                                               \
  }
#define LLVM           (void *place, int thread, void *section)
#define LLVM_ARGUMENTS (place, thread, section)

ENTER_GCC(GOMP_critical_start, GOMP_critical_end, qzl_word_of_unnamed, (void), (), &unnamed)
LEAVE(GOMP_critical_end, (void), (), &unnamed)
ENTER_GCC(GOMP_critical_name_start, GOMP_critical_name_end, qzl_word_of_named, (void *section), (section), section)
LEAVE(GOMP_critical_name_end, (void *section), (section), section)
ENTER_GCC(GOMP_atomic_start, GOMP_atomic_end, qzl_word_of_unnamed, (void), (), &atomics)
LEAVE(GOMP_atomic_end, (void), (), &atomics)
ENTER(__kmpc_critical, LLVM, LLVM_ARGUMENTS, section)
ENTER(__kmpc_critical_with_hint, (void *place, int thread, void *section, uint32_t hint),
      (place, thread, section, hint), section)
LEAVE(__kmpc_end_critical, LLVM, LLVM_ARGUMENTS, section)

/* ---- locks, of C and of Fortran ---- */

/* SET(name, that of the same library which tries). TEST, UNSET: nested: how often the thread has it is the result. */
#define SET(name, test)                                                                                               \
  QZL_EXPORT void name(void *lock);                                                                                   \
  QZL_EXPORT void name(void *lock) {                                                                                  \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}, tries = {#test, .own = (void *)test}; \
    uint64_t site = QZL_SITE();                                                                                       \
    void (*real)(void *);                                                                                             \
    int (*try)(void *);                                                                                               \
    *(void **)(void *)&real = qzl_runtime_real(&function, site);                                                      \
    if (!real) return;                                                                                                \
    struct qzl_thread *me = here();                                                                                   \
    *(void **)(void *)&try = me ? qzl_runtime_real(&tries, site) : NULL;                                              \
    if (!try) {                                                                                                       \
      real(lock);                                                                                                     \
      return;                                                                                                         \
    }                                                                                                                 \
    qzl_ask(me, lock, QZ_KIND_MUTEX, site);                                                                           \
    int times = try(lock);                                                                                            \
    if (__builtin_expect(!times, 0)) {                                                                                \
      WAITS(me, lock, site, real(lock));                                                                              \
      had(&wait, lock, true);                                                                                         \
    }                                                                                                                 \
    if (times <= 1) acquired(me, lock, QZ_KIND_MUTEX);                                                                \
  }
#define TEST(name)                                                              \
  QZL_EXPORT int name(void *lock);                                              \
  QZL_EXPORT int name(void *lock) {                                             \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
    uint64_t site = QZL_SITE();                                                 \
    int (*real)(void *);                                                        \
    *(void **)(void *)&real = qzl_runtime_real(&function, site);                \
    int times = real ? real(lock) : 0;                                          \
    struct qzl_thread *me = real ? here() : NULL;                               \
    if (!me) return times;                                                      \
    qzl_tried(me, lock, QZ_KIND_MUTEX, site, !times);                           \
    if (times) qzl_ask(me, lock, QZ_KIND_MUTEX, site);                          \
    if (times == 1) acquired(me, lock, QZ_KIND_MUTEX);                          \
    return times;                                                               \
  }
#define UNSET(name, nested)                                                     \
  QZL_EXPORT void name(void *lock);                                             \
  QZL_EXPORT void name(void *lock) {                                            \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
    void (*real)(void *);                                                       \
    *(void **)(void *)&real = qzl_runtime_real(&function, QZL_SITE());          \
    if (!real) return;                                                          \
    struct qzl_thread *me = lets_go(lock, nested);                              \
    real(lock);                                                                 \
    if (me) qzl_write_waited(me);                                               \
  }
#define CHANGES(name, parameters, arguments, what)                              \
  QZL_EXPORT void name(void *lock WITH parameters);                             \
  QZL_EXPORT void name(void *lock WITH parameters) {                            \
    static struct qzl_runtime_function function = {#name, .own = (void *)name}; \
    uint64_t site = QZL_SITE();                                                 \
    void (*real)(void *WITH parameters);                                        \
    *(void **)(void *)&real = qzl_runtime_real(&function, site);                \
    what;                                                                       \
    if (real) real(lock WITH arguments);                                        \
  }
#define LOCK(plain, nested, fortran)                                           \
  TEST(omp_test##plain##lock##fortran)                                         \
  SET(omp_set##plain##lock##fortran, omp_test##plain##lock##fortran)           \
  UNSET(omp_unset##plain##lock##fortran, nested)                               \
  CHANGES(omp_init##plain##lock##fortran, (), (), qzl_initialized(lock, site)) \
  CHANGES(omp_destroy##plain##lock##fortran, (), (), (void)site; qzl_destroyed(lock))

LOCK(_, false, )
LOCK(_nest_, true, )
LOCK(_, false, _)
LOCK(_nest_, true, _)
CHANGES(omp_init_lock_with_hint, (int hint), (hint), qzl_initialized(lock, site))
CHANGES(omp_init_nest_lock_with_hint, (int hint), (hint), qzl_initialized(lock, site))
