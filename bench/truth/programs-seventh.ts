/**
 * The seventh batch of real programs, registered after the sixth: like programs.ts; here C and C++ with threads.
 * Causes are by knowledge of the programs, and by plain tools and experiments: time, other settings.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, seventh batch';
const thumbs = `// Pictures are scaled by std::async; with 1, the futures are kept until all are started.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>
static std::vector<uint32_t> scaled(48, 0);
static void scale(int picture) {
  std::vector<uint32_t> pixels(512 * 512);
  for (size_t k = 0; k < pixels.size(); k++) pixels[k] = (uint32_t)(k * 2654435761u) ^ (uint32_t)picture;
  uint32_t sum = 0;
  for (int pass = 0; pass < 120; pass++)
    for (size_t k = 512; k < pixels.size(); k++) pixels[k] = (pixels[k] + 3 * pixels[k - 512] + pixels[k - 1]) / 5;
  for (uint32_t one : pixels) sum += one;
  scaled[picture] = sum;
}
int main(int argc, char **argv) {
  const bool keep = argc > 1 && atoi(argv[1]) == 1;
  std::vector<std::future<void>> kept;
  for (int picture = 0; picture < 48; picture++) {
    auto done = std::async(std::launch::async, scale, picture);
    if (keep) kept.push_back(std::move(done));
  }
  kept.clear();
  uint32_t sum = 0;
  for (uint32_t one : scaled) sum += one;
  printf("%u\\n", sum);
}
`;
const routes = `// Two threads look up routes under a std::shared_mutex; with 1, each in its own copy of the table.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
struct Routes {
  std::shared_mutex lock;
  std::map<uint32_t, uint32_t> table;
  uint32_t find(uint32_t address) {
    std::shared_lock<std::shared_mutex> read(lock);
    auto at = table.upper_bound(address);
    return at == table.begin() ? 0 : std::prev(at)->second;
  }
};
static Routes routes;
static uint32_t without_lock(const std::map<uint32_t, uint32_t> &table, uint32_t address) {
  auto at = table.upper_bound(address);
  return at == table.begin() ? 0 : std::prev(at)->second;
}
static uint64_t forwarded[32];
static void forward(int worker, bool copy) {
  const std::map<uint32_t, uint32_t> own = routes.table;
  uint64_t sum = 0;
  uint32_t x = (uint32_t)worker + 1;
  for (int packet = 0; packet < 24000000; packet++) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    sum += copy ? without_lock(own, x) : routes.find(x);
  }
  forwarded[16 * worker] = sum;
}
int main(int argc, char **argv) {
  const bool copy = argc > 1 && atoi(argv[1]) == 1;
  for (uint32_t k = 0; k < 48; k++) routes.table[k * 89478485u] = k;
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; w++) threads.emplace_back(forward, w, copy);
  for (auto &one : threads) one.join();
  printf("%lu\\n", (unsigned long)(forwarded[0] + forwarded[16]));
}
`;
const chat = `// Messages of rooms are encoded by two threads of one io_context: in one strand; with 1, a strand a room.
#include <boost/asio.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
static uint64_t encoded[8 * 8];
static void encode(int room, int message) {
  uint64_t x = (uint64_t)(room * 7919 + message + 1);
  for (int k = 0; k < 150000; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  encoded[8 * room] += x & 255;
}
int main(int argc, char **argv) {
  const bool own = argc > 1 && atoi(argv[1]) == 1;
  boost::asio::io_context context;
  std::vector<Strand> strands;
  for (int room = 0; room < 8; room++) strands.emplace_back(boost::asio::make_strand(context));
  for (int message = 0; message < 1000; message++)
    for (int room = 0; room < 8; room++)
      boost::asio::post(strands[own ? room : 0], [=] { encode(room, message); });
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; w++) threads.emplace_back([&] { context.run(); });
  for (auto &one : threads) one.join();
  uint64_t sum = 0;
  for (uint64_t one : encoded) sum += one;
  printf("%lu\\n", (unsigned long)sum);
}
`;
const stages = `// Blocks go through three threads that look every millisecond whether there is one; with 1,
// they wait at a condition.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
static bool notify;
struct Slot {
  std::mutex lock;
  std::condition_variable changed;
  std::deque<uint64_t> blocks;
  void put(uint64_t block) {
    std::unique_lock<std::mutex> held(lock);
    while (blocks.size() >= 1) wait(held);
    blocks.push_back(block);
    changed.notify_all();
  }
  uint64_t take() {
    std::unique_lock<std::mutex> held(lock);
    while (blocks.empty()) wait(held);
    uint64_t block = blocks.front();
    blocks.pop_front();
    changed.notify_all();
    return block;
  }
  void wait(std::unique_lock<std::mutex> &held) {
    if (notify) return changed.wait(held);
    held.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    held.lock();
  }
};
static Slot read, done;
static uint64_t work(uint64_t x, int times) {
  for (int k = 0; k < times; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x | 1;
}
int main(int argc, char **argv) {
  notify = argc > 1 && atoi(argv[1]) == 1;
  std::thread reader([] { for (uint64_t k = 1; k <= 2000; k++) read.put(work(k, 40000)); read.put(0); });
  std::thread worker([] {
    while (uint64_t block = read.take()) done.put(work(block, 60000));
    done.put(0);
  });
  uint64_t sum = 0;
  while (uint64_t block = done.take()) sum += work(block, 40000);
  reader.join();
  worker.join();
  printf("%lu\\n", (unsigned long)sum);
}
`;
const tickets = `/* Four threads number lines in turn: the next one looks at a word; with 1, it sleeps on a futex. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int turn;
static int asleep;
static uint64_t total;
static uint64_t work(uint64_t x, int times) {
  for (int k = 0; k < times; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}
static void *number(void *which) {
  const int me = (int)(intptr_t)which;
  for (int line = 0; line < 120; line++) {
    uint64_t x = work((uint64_t)(line * 4 + me + 1), 1000000);
    for (int now; (now = atomic_load(&turn)) % 4 != me;)
      if (asleep) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
    total += x;
    atomic_fetch_add(&turn, 1);
    if (asleep) syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 8, 0, 0, 0);
  }
  return 0;
}
int main(int argc, char **argv) {
  asleep = argc > 1 && atoi(argv[1]) == 1;
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], 0, number, (void *)(intptr_t)k);
  for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
  printf("%lu\\n", (unsigned long)total);
}
`;
export const seventhBatch: readonly Program[] = [
  {
    name: 'cpp-future-dropped',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('thumbs.cpp', thumbs)}c++ -O2 -g -o thumbs thumbs.cpp -pthread`,
    run: sh('./thumbs 0'),
    fixed: sh('./thumbs 1'),
    registered: {
      on,
      cause: 'the future of std::async is dropped at once, and its destructor waits: one thread at a time',
      kinds: ['serial', 'starvation', 'imbalance'],
      subject: /async|scale|future|one at a time|thumbs/i,
      fix: 'the futures are kept until all pictures are started',
      spreads: true,
    },
  },
  {
    name: 'cpp-shared-mutex-readers',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('routes.cpp', routes)}c++ -O2 -g -o routes routes.cpp -pthread`,
    run: sh('./routes 0'),
    fixed: sh('./routes 1'),
    registered: {
      on,
      cause: 'two readers write the count of one std::shared_mutex for each lookup of some tens of nanoseconds',
      kinds: ['overhead', 'lock-contention', 'spinning', 'sharing'],
      subject: /rwlock|lock/i,
      fix: 'a copy of the table for each thread',
    },
  },
  {
    name: 'cpp-one-strand',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++', 'libboost-dev'],
    prepare: `${heredoc('chat.cpp', chat)}c++ -O2 -g -o chat chat.cpp -pthread`,
    run: sh('./chat 0'),
    fixed: sh('./chat 1'),
    registered: {
      on,
      cause: 'all messages go through one strand, which lets one thread run at a time',
      kinds: ['serial', 'starvation', 'imbalance', 'lock-contention'],
      subject: /encode|strand|asio|one at a time|main::/i,
      fix: 'a strand for each room',
      spreads: true,
    },
  },
  {
    name: 'cpp-stages-that-poll',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('stages.cpp', stages)}c++ -O2 -g -o stages stages.cpp -pthread`,
    run: sh('./stages 0'),
    fixed: sh('./stages 1'),
    registered: {
      on,
      cause: 'three stages look every millisecond whether there is a block or room for one',
      kinds: ['io', 'dependency'],
      subject: /sleep/i,
      fix: 'a condition',
    },
  },
  {
    name: 'c-turns-by-polling',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('tickets.c', tickets)}cc -O2 -g -o tickets tickets.c -pthread`,
    run: sh('./tickets 0'),
    fixed: sh('./tickets 1'),
    registered: {
      on,
      cause: 'threads that wait for their turn look at a word all the time, and keep the CPUs from the others',
      kinds: ['spinning', 'oversubscription'],
      subject: /number|tickets|spin|poll|loop|wait/i,
      fix: 'they sleep on a futex',
    },
  },
];
