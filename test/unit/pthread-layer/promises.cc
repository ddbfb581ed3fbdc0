/* More guarantees, as in conformance.c: objects shared by processes, cancellation points, once, exceptions, handlers at
 * the end of a thread and at fork. Lines "what: result", the same with and without the layer. */
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static void say(const char *what, int result) {
  const char *name = result ? strerrorname_np(result) : "0";
  printf("%s: %s (%d)\n", what, name ? name : "?", result);
  fflush(stdout);
}
#define SAY(call) say("  " #call, (call))

static timespec in_ms(clockid_t clock, long ms) {
  timespec at;
  clock_gettime(clock, &at);
  at.tv_nsec += ms * 1000000;
  at.tv_sec += at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}

/* ---- between processes ---- */

struct shared {
  pthread_mutex_t mutex, robust;
  pthread_cond_t condition;
  pthread_rwlock_t rwlock;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  sem_t semaphore;
  int turn, sum;
};

static void take_turns(shared *all, int mine) {
  for (int k = 0; k < 50; k++) {
    pthread_mutex_lock(&all->mutex);
    while (all->turn != mine) pthread_cond_wait(&all->condition, &all->mutex);
    all->turn = !mine;
    pthread_cond_broadcast(&all->condition);
    pthread_mutex_unlock(&all->mutex);
    pthread_barrier_wait(&all->barrier);
    pthread_spin_lock(&all->spin);
    all->sum++;
    pthread_spin_unlock(&all->spin);
    pthread_rwlock_wrlock(&all->rwlock);
    all->sum++;
    pthread_rwlock_unlock(&all->rwlock);
  }
}

static void processes() {
  puts("between processes");
  auto *all =
    static_cast<shared *>(mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  pthread_rwlockattr_t rwlock;
  pthread_barrierattr_t barrier;
  pthread_mutexattr_init(&mutex);
  SAY(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
  SAY(pthread_mutex_init(&all->mutex, &mutex));
  SAY(pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST));
  SAY(pthread_mutex_init(&all->robust, &mutex));
  pthread_condattr_init(&condition);
  SAY(pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED));
  SAY(pthread_cond_init(&all->condition, &condition));
  pthread_rwlockattr_init(&rwlock);
  SAY(pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED));
  SAY(pthread_rwlock_init(&all->rwlock, &rwlock));
  pthread_barrierattr_init(&barrier);
  SAY(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
  SAY(pthread_barrier_init(&all->barrier, &barrier, 2));
  SAY(pthread_spin_init(&all->spin, PTHREAD_PROCESS_SHARED));
  SAY(sem_init(&all->semaphore, 1, 0));
  pid_t child = fork();
  if (!child) {
    take_turns(all, 1);
    pthread_mutex_lock(&all->robust);
    sem_post(&all->semaphore);
    _exit(12); /* and leaves the robust one locked */
  }
  int status;
  take_turns(all, 0);
  SAY(sem_wait(&all->semaphore));
  waitpid(child, &status, 0);
  say("  child", WEXITSTATUS(status));
  printf("  sum: %d\n", all->sum);
  SAY(pthread_mutex_lock(&all->robust));
  SAY(pthread_mutex_consistent(&all->robust));
  SAY(pthread_mutex_unlock(&all->robust));
  SAY(pthread_mutex_lock(&all->robust));
  SAY(pthread_mutex_unlock(&all->robust));
  SAY(pthread_barrier_destroy(&all->barrier));
  SAY(pthread_cond_destroy(&all->condition));
  SAY(pthread_mutex_destroy(&all->robust));
  char name[64];
  snprintf(name, sizeof name, "/quartz-promises-%ld", static_cast<long>(getpid()));
  sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  say("  sem_open", named == SEM_FAILED ? errno : 0);
  if (named == SEM_FAILED) return; // no /dev/shm
  SAY(sem_wait(named));
  say("  sem_trywait", sem_trywait(named) ? errno : 0);
  child = fork();
  if (!child) {
    sem_post(named);
    _exit(0);
  }
  SAY(sem_wait(named));
  waitpid(child, &status, 0);
  SAY(sem_close(named));
  SAY(sem_unlink(name));
}

/* ---- cancellation points ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t doors = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t alone;
static sem_t zero;
static pthread_t sleeper;
static timespec late_real, late_monotonic;
static int cleaned;

struct cleans {
  ~cleans() { cleaned++; }
};

/* Each waits, or would, with a cancellation pending. */
static void *point(void *number) {
  cleans here;
  pthread_cancel(pthread_self());
  switch (*static_cast<int *>(number)) {
  case 0:
    pthread_mutex_lock(&gate);
    pthread_cond_wait(&never, &gate);
    break;
  case 1:
    pthread_mutex_lock(&gate);
    pthread_cond_timedwait(&never, &gate, &late_real);
    break;
  case 2:
    pthread_mutex_lock(&gate);
    pthread_cond_clockwait(&never, &gate, CLOCK_MONOTONIC, &late_monotonic);
    break;
  case 3: sem_wait(&zero); break;
  case 4: sem_timedwait(&zero, &late_real); break;
  case 5: sem_clockwait(&zero, CLOCK_MONOTONIC, &late_monotonic); break;
  case 6: pthread_join(sleeper, nullptr); break;
  case 7: pthread_timedjoin_np(sleeper, nullptr, &late_real); break;
  case 8: pthread_clockjoin_np(sleeper, nullptr, CLOCK_MONOTONIC, &late_monotonic); break;
  case 9: pthread_testcancel(); break;
  case 10: usleep(1); break;
  case 11: pthread_tryjoin_np(sleeper, nullptr); break;
  case 12: sem_trywait(&zero); break;
  case 13:
    pthread_mutex_timedlock(&gate, &late_real);
    pthread_mutex_unlock(&gate);
    break;
  case 14:
    pthread_rwlock_rdlock(&doors);
    pthread_rwlock_unlock(&doors);
    break;
  case 15:
    pthread_rwlock_timedwrlock(&doors, &late_real);
    pthread_rwlock_unlock(&doors);
    break;
  case 16: pthread_barrier_wait(&alone); break;
  case 17: pthread_cond_signal(&never); break;
  case 18:
    sem_post(&zero);
    sem_trywait(&zero);
    break;
  }
  return number;
}
static void *sleeps(void *) {
  for (;;) pause();
}
static void points() {
  static const char *const names[] = {"pthread_cond_wait",
                                      "pthread_cond_timedwait",
                                      "pthread_cond_clockwait",
                                      "sem_wait",
                                      "sem_timedwait",
                                      "sem_clockwait",
                                      "pthread_join",
                                      "pthread_timedjoin_np",
                                      "pthread_clockjoin_np",
                                      "pthread_testcancel",
                                      "usleep",
                                      "pthread_tryjoin_np",
                                      "sem_trywait",
                                      "pthread_mutex_timedlock",
                                      "pthread_rwlock_rdlock",
                                      "pthread_rwlock_timedwrlock",
                                      "pthread_barrier_wait",
                                      "pthread_cond_signal",
                                      "sem_post"};
  puts("cancelled, and cleaned up (1: yes)");
  pthread_barrier_init(&alone, nullptr, 1);
  sem_init(&zero, 0, 0);
  late_real = in_ms(CLOCK_REALTIME, 60'000);
  late_monotonic = in_ms(CLOCK_MONOTONIC, 60'000);
  pthread_create(&sleeper, nullptr, sleeps, nullptr);
  for (int k = 0; k < static_cast<int>(sizeof names / sizeof *names); k++) {
    pthread_t thread;
    void *result;
    cleaned = 0;
    pthread_create(&thread, nullptr, point, &k);
    pthread_join(thread, &result);
    printf("  %s: %d %d\n", names[k], result == PTHREAD_CANCELED, cleaned);
    if (k <= 2)
      printf("  the mutex is held by the one that was cancelled: %d\n", pthread_mutex_trylock(&gate) == EBUSY);
    gate = PTHREAD_MUTEX_INITIALIZER;
  }
  pthread_cancel(sleeper);
  SAY(pthread_join(sleeper, nullptr));
}

/* ---- once ---- */

static pthread_once_t control = PTHREAD_ONCE_INIT;
static int begun;
static void is_cancelled() {
  if (++begun == 1) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
  }
}
static void *once(void *) {
  pthread_once(&control, is_cancelled);
  return nullptr;
}
static void onces() {
  puts("once");
  for (int k = 0; k < 3; k++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, nullptr, once, nullptr);
    pthread_join(thread, &result);
    printf("  cancelled: %d, begun: %d\n", result == PTHREAD_CANCELED, begun);
  }
  std::once_flag flag;
  int runs = 0;
  for (int k = 0; k < 3; k++) {
    try {
      std::call_once(flag, [&] {
        if (++runs == 1) throw runs;
      });
    } catch (int thrown) { printf("  thrown: %d\n", thrown); }
  }
  printf("  runs: %d\n", runs);
}

/* ---- ends of threads, fork, signals ---- */

static pthread_key_t keys[2];
static void key_ends(void *value) {
  pthread_mutex_lock(&gate); /* locks may still be used */
  printf("  key %s\n", static_cast<const char *>(value));
  pthread_mutex_unlock(&gate);
  if (!strcmp(static_cast<const char *>(value), "first")) pthread_setspecific(keys[1], "set by the first's destructor");
}
struct local {
  const char *name;
  ~local() {
    std::lock_guard<std::mutex> guard(lock());
    printf("  thread_local %s\n", name);
  }
  static std::mutex &lock() {
    static std::mutex mutex;
    return mutex;
  }
};
static void *ends(void *) {
  static thread_local local one{"one"}, two{"two"};
  printf("  has %s and %s\n", one.name, two.name);
  pthread_setspecific(keys[0], "first");
  return nullptr;
}
static void before1() {
  puts("  prepare 1");
  fflush(stdout);
}
static void before2() { puts("  prepare 2"); }
static void parent1() { puts("  parent 1"); }
static void parent2() { puts("  parent 2"); } /* printed after the child has ended */
static void child1() { puts("  child 1"); }
static void child2() {
  puts("  child 2");
  fflush(stdout);
}
static volatile sig_atomic_t handled;
static void handle(int) { handled = handled + 1; }

static void rest() {
  puts("ends, fork, signals");
  pthread_t thread;
  pthread_key_create(&keys[0], key_ends);
  pthread_key_create(&keys[1], key_ends);
  pthread_create(&thread, nullptr, ends, nullptr);
  SAY(pthread_join(thread, nullptr));
  SAY(pthread_atfork(before1, parent1, child1));
  SAY(pthread_atfork(before2, parent2, child2));
  fflush(stdout);
  int status;
  pid_t child = fork();
  if (!child) {
    std::thread([] { puts("  a thread in the child"); }).join();
    fflush(stdout);
    _exit(3);
  }
  waitpid(child, &status, 0);
  say("  child", WEXITSTATUS(status));
  signal(SIGUSR1, handle);
  pthread_create(&thread, nullptr, sleeps, nullptr);
  SAY(pthread_kill(thread, 0));
  SAY(pthread_kill(pthread_self(), SIGUSR1));
  SAY(pthread_kill(thread, 12345));
  printf("  handled: %d\n", static_cast<int>(handled));
  SAY(pthread_detach(thread));
  SAY(pthread_join(thread, nullptr));
  SAY(pthread_cancel(thread));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  SAY(pthread_attr_setstacksize(&attributes, 1));
  cpu_set_t none;
  CPU_ZERO(&none);
  SAY(pthread_attr_setaffinity_np(&attributes, sizeof none, &none));
  SAY(pthread_create(&thread, &attributes, sleeps, nullptr)); /* no CPU to run on */
}

static void standard_library() {
  puts("the standard library");
  std::timed_mutex timed;
  std::shared_timed_mutex shared;
  std::recursive_mutex recursive;
  std::condition_variable_any any;
  std::unique_lock<std::timed_mutex> mine(timed);
  std::thread([&] { printf("  try_lock_for: %d\n", timed.try_lock_for(std::chrono::milliseconds(20))); }).join();
  std::shared_lock<std::shared_timed_mutex> reader(shared);
  std::thread([&] {
    printf("  shared: %d %d\n", shared.try_lock_shared(), shared.try_lock_for(std::chrono::milliseconds(20)));
  }).join();
  std::lock_guard<std::recursive_mutex> outer(recursive), inner(recursive);
  printf("  wait_for: %d\n", any.wait_for(mine, std::chrono::milliseconds(20)) == std::cv_status::timeout);
  auto thrown = std::async(std::launch::async, []() -> int { throw 5; });
  try {
    thrown.get();
  } catch (int value) { printf("  async threw: %d\n", value); }
  try {
    mine.lock();
  } catch (const std::system_error &error) {
    printf("  lock twice: %d\n", error.code() == std::errc::resource_deadlock_would_occur);
  }
}

int main() {
  processes();
  points();
  onces();
  rest();
  standard_library();
  return 4;
}
