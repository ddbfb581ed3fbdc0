/* Waits by the kernel's futex through syscall(), as C++'s headers have them, and by hand; each case by its name: see
 * ../futex.test.ts. */
#include <atomic>
#include <barrier>
#include <cerrno>
#include <climits>
#include <latch>
#include <semaphore>
#include <thread>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "units.h"

namespace {
constexpr int rounds = 60;

/* First `one`, then beside it `other`, each in a thread of its own. */
template <typename One, typename Other> void both(One one, Other other) {
  std::thread first(one), second(other);
  first.join();
  second.join();
}

void at_barrier() {
  std::barrier<> all(2);
  auto meets = [&all](void (*work)()) {
    for (int k = 0; k < rounds; k++) {
      work();
      all.arrive_and_wait();
    }
  };
  both([&] { meets(early); }, [&] { meets(late); });
}

/* Not joined: that it has worked is visible by the latch alone. */
void at_latch() {
  static std::latch done(1);
  before();
  std::thread([] {
    longer();
    done.count_down();
  }).detach();
  shorter();
  done.wait();
  after();
}

void at_semaphore() {
  std::counting_semaphore<> items(0), room(rounds);
  auto gives = [&] {
    for (int k = 0; k < rounds; k++) {
      room.acquire();
      produce();
      items.release();
    }
  };
  auto takes = [&] {
    for (int k = 0; k < rounds; k++) {
      items.acquire();
      consume();
      room.release();
    }
  };
  both(gives, takes);
}

void at_value() {
  std::atomic<int> turn(0);
  auto takes_turns = [&turn](int mine, void (*work)()) {
    for (int k = 0; k < rounds; k++) {
      for (int now; (now = turn.load()) != mine;) turn.wait(now);
      work();
      turn.store(1 - mine);
      turn.notify_all();
    }
  };
  both([&] { takes_turns(0, ping); }, [&] { takes_turns(1, pong); });
}

/* The C++ library tries again for a while before it sleeps; these sleep at once. */
int word, other_word;
long futex(int *at, int operation, int value, const timespec *until = nullptr, int *second = nullptr) {
  return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, until, second, 0);
}

void by_hand() {
  auto gives = [] {
    for (int k = 0; k < rounds; k++) {
      late();
      __atomic_store_n(&word, k + 1, __ATOMIC_SEQ_CST);
      futex(&word, FUTEX_WAKE, INT_MAX);
    }
  };
  auto takes = [] {
    for (int k = 0; k < rounds; k++) {
      while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) <= k) futex(&word, FUTEX_WAIT, k);
      early();
    }
  };
  both(gives, takes);
}

/* Two take turns with nothing to do in between: all that happens is waiting and waking. */
void in_turn() {
  auto takes_turns = [](int mine) {
    for (int k = 0; k < 30000; k++) {
      while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) != mine) futex(&word, FUTEX_WAIT, 1 - mine);
      __atomic_store_n(&word, 1 - mine, __ATOMIC_SEQ_CST);
      futex(&word, FUTEX_WAKE, 1);
    }
  };
  both([&] { takes_turns(0); }, [&] { takes_turns(1); });
}

/* By hand: one waits for several words, of which another thread changes the last after 5, and the first after 20. */
void for_any() {
  struct waiter {
    std::uint64_t value, address;
    std::uint32_t flags, reserved;
  };
  static int words[3];
  const auto set = [](int which, int to) {
    __atomic_store_n(&words[which], to, __ATOMIC_SEQ_CST);
    futex(&words[which], FUTEX_WAKE, 1);
  };
  auto waits = [&] {
    for (int k = 0; k < 2 * rounds;) {
      const int which = k % 2 ? 0 : 2, due = k / 2 + 1;
      if (__atomic_load_n(&words[which], __ATOMIC_SEQ_CST) >= due) {
        k++;
        continue;
      }
      waiter all[3];
      for (int n = 0; n < 3; n++)
        all[n] = {static_cast<std::uint64_t>(__atomic_load_n(&words[n], __ATOMIC_SEQ_CST)),
                  reinterpret_cast<std::uint64_t>(&words[n]), 2 | FUTEX_PRIVATE_FLAG, 0};
      if (all[which].value < static_cast<std::uint64_t>(due)) syscall(449, all, 3, 0, nullptr, 0);
    }
    early();
  };
  auto changes = [&] {
    for (int k = 1; k <= rounds; k++) {
      produce();
      set(2, k);
      late();
      set(0, k);
    }
  };
  both(waits, changes);
}

/* Who waits for one word is moved to another, and woken there. */
void moved() {
  auto waits = [] {
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) futex(&word, FUTEX_WAIT, 0);
    while (__atomic_load_n(&other_word, __ATOMIC_SEQ_CST) != 2) usleep(1000);
    after();
  };
  auto moves = [] {
    const auto all = reinterpret_cast<const timespec *>(static_cast<long>(INT_MAX)); /* here: how many are moved */
    while (!futex(&word, FUTEX_REQUEUE, 0, all, &other_word)) usleep(1000);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    longer();
    __atomic_store_n(&other_word, 2, __ATOMIC_SEQ_CST);
    futex(&other_word, FUTEX_WAKE, 1);
  };
  both(waits, moves);
}

/* The deadline comes first, and later the value. */
void deadline() {
  auto waits = [] {
    timespec half = {0, 300000000};
    while (futex(&word, FUTEX_WAIT, 0, &half) == 0 || errno == EINTR) {}
    __atomic_store_n(&other_word, 1, __ATOMIC_SEQ_CST);
    futex(&other_word, FUTEX_WAKE, 1);
    after();
  };
  auto wakes = [] {
    while (!__atomic_load_n(&other_word, __ATOMIC_SEQ_CST)) futex(&other_word, FUTEX_WAIT, 0);
    futex(&word, FUTEX_WAKE, 1);
    shorter();
  };
  both(waits, wakes);
}

/* The word has another value: no wait. */
void at_once() {
  word = 1;
  for (int k = 0; k < 1000; k++) futex(&word, FUTEX_WAIT, 0);
  after();
}
} // namespace

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  const struct {
    const char *name;
    void (*run)();
  } cases[] = {{"barrier", at_barrier}, {"latch", at_latch}, {"semaphore", at_semaphore}, {"value", at_value},
               {"hand", by_hand},       {"moved", moved},    {"deadline", deadline},      {"at-once", at_once},
               {"turns", in_turn},      {"any", for_any}};
  for (const auto &one : cases)
    if (!strcmp(one.name, which)) {
      one.run();
      return 0;
    }
  return 2;
}
