/**
 * The eleventh batch of real programs, registered after the tenth: like programs.ts; here programs in C, C++ and
 * OpenMP. Causes are by knowledge of the programs, and by experiments without Quartz.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, eleventh batch';
const walks = `/* Random walks on a grid: two threads draw each step from rand(); with 1, from rand_r() with a state
 * of their own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, WALKS = 90000, STEPS = 600 };

struct share {
  unsigned seed;
  int own;
  long returned;
};

static int step(struct share *share) { return share->own ? rand_r(&share->seed) : rand(); }

static long walk(struct share *share) {
  int x = 0, y = 0;
  long returned = 0;
  for (int k = 0; k < STEPS; k++) {
    switch (step(share) >> 8 & 3) {
    case 0: x++; break;
    case 1: x--; break;
    case 2: y++; break;
    default: y--;
    }
    returned += x == 0 && y == 0;
  }
  return returned;
}

static void *work(void *argument) {
  struct share *share = argument;
  for (int k = 0; k < WALKS; k++) share->returned += walk(share);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  struct share shares[THREADS] = {{0}};
  for (int k = 0; k < THREADS; k++) {
    shares[k].seed = (unsigned)k + 1;
    shares[k].own = argc > 1 && atoi(argv[1]) == 1;
    pthread_create(&threads[k], NULL, work, &shares[k]);
  }
  long returned = 0;
  for (int k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    returned += shares[k].returned;
  }
  printf("%.4f\\n", (double)returned / THREADS / WALKS);
}
`;
const frames = `// Frames are decoded by one thread and drawn by two: who finds no frame yields and looks again; with 1,
// it waits at a condition variable.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {
constexpr int frames = 1500, drawers = 2, pixels = 20000;
using Frame = std::vector<uint32_t>;

class Queue {
public:
  explicit Queue(bool sleeps) : sleeps(sleeps) {}

  void put(Frame frame) {
    std::lock_guard<std::mutex> guard(lock);
    waiting.push_back(std::move(frame));
    if (sleeps) arrived.notify_one();
  }

  void close() {
    std::lock_guard<std::mutex> guard(lock);
    closed = true;
    arrived.notify_all();
  }

  bool take(Frame &into) {
    for (;;) {
      std::unique_lock<std::mutex> guard(lock);
      if (sleeps) arrived.wait(guard, [&] { return closed || !waiting.empty(); });
      if (!waiting.empty()) {
        into = std::move(waiting.front());
        waiting.pop_front();
        return true;
      }
      if (closed) return false;
      guard.unlock();
      std::this_thread::yield();
    }
  }

private:
  const bool sleeps;
  std::mutex lock;
  std::condition_variable arrived;
  std::deque<Frame> waiting;
  bool closed = false;
};

Frame decode(int number) {
  Frame frame(pixels);
  uint32_t state = static_cast<uint32_t>(number) * 747796405u + 1;
  for (uint32_t &pixel : frame) {
    for (int k = 0; k < 24; k++) state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    pixel = state;
  }
  return frame;
}

uint64_t draw(const Frame &frame) {
  uint64_t sum = 0;
  for (const uint32_t pixel : frame) sum += (pixel >> 16 & 255) * 77 + (pixel >> 8 & 255) * 150 + (pixel & 255) * 29;
  return sum;
}
} // namespace

int main(int argc, char **argv) {
  Queue queue(argc > 1 && atoi(argv[1]) == 1);
  std::vector<uint64_t> sums(drawers * 8);
  std::vector<std::thread> all;
  for (int k = 0; k < drawers; k++)
    all.emplace_back([&, k] {
      for (Frame frame; queue.take(frame);) sums[k * 8] += draw(frame);
    });
  for (int k = 0; k < frames; k++) queue.put(decode(k));
  queue.close();
  uint64_t sum = 0;
  for (auto &one : all) one.join();
  for (const uint64_t one : sums) sum += one;
  printf("%llu\\n", static_cast<unsigned long long>(sum));
}
`;
const escape = `/* The Mandelbrot set near its border: rows of few pixels, which threads take one at a time
 * (schedule(dynamic, 1)) in a loop over all pixels; with 1, thousands at a time. */
#include <complex.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 18000, HEIGHT = 12000 };

static int inside(double x, double y) {
  double a = 0, b = 0;
  int k = 0;
  for (; k < 6 && a * a + b * b < 4; k++) {
    double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  return k == 6;
}

int main(int argc, char **argv) {
  long count = 0;
  omp_set_schedule(omp_sched_dynamic, argc > 1 && atoi(argv[1]) == 1 ? 8192 : 1);
#pragma omp parallel for schedule(runtime) reduction(+ : count)
  for (long pixel = 0; pixel < (long)WIDTH * HEIGHT; pixel++)
    count += inside((double)(pixel % WIDTH) / WIDTH * 3 - 2, (double)(pixel / WIDTH) / HEIGHT * 2 - 1);
  printf("%ld\\n", count);
}
`;
const orders = `// Routes for many customers are planned by a pool of threads: the largest customer is the last one;
// with 1, the first one.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {
struct Customer {
  int stops;
};

double plan(const Customer &customer) {
  std::mt19937 generator(static_cast<unsigned>(customer.stops));
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> x(customer.stops), y(customer.stops);
  for (int k = 0; k < customer.stops; k++) x[k] = uniform(generator), y[k] = uniform(generator);
  std::vector<bool> visited(customer.stops);
  double length = 0;
  int here = 0;
  for (int k = 1; k < customer.stops; k++) { // the nearest stop comes next
    visited[here] = true;
    int next = -1;
    double nearest = 1e9;
    for (int j = 0; j < customer.stops; j++) {
      if (visited[j]) continue;
      const double distance = std::hypot(x[j] - x[here], y[j] - y[here]);
      if (distance < nearest) nearest = distance, next = j;
    }
    length += nearest;
    here = next;
  }
  return length;
}
} // namespace

int main(int argc, char **argv) {
  std::vector<Customer> customers;
  for (int k = 0; k < 400; k++) customers.push_back({400 + 10 * (k % 40)});
  customers.push_back({10000});
  if (argc > 1 && atoi(argv[1]) == 1)
    std::sort(customers.begin(), customers.end(), [](auto a, auto b) { return a.stops > b.stops; });
  const unsigned threads = std::thread::hardware_concurrency();
  std::atomic<size_t> next{0};
  std::vector<double> lengths(customers.size());
  std::vector<std::thread> pool;
  for (unsigned k = 0; k < threads; k++)
    pool.emplace_back([&] {
      for (size_t at; (at = next++) < customers.size();) lengths[at] = plan(customers[at]);
    });
  for (auto &one : pool) one.join();
  double total = 0;
  for (const double one : lengths) total += one;
  printf("%.3f\\n", total);
}
`;

export const eleventhBatch: readonly Program[] = [
  {
    name: 'c-rand-in-threads',
    language: 'C',
    kind: 'simulation',
    needs: ['gcc'],
    packages: ['gcc'],
    prepare: `${heredoc('walks.c', walks)}gcc -O2 -g -pthread walks.c -o walks`,
    run: sh('./walks 0'),
    fixed: sh('./walks 1'),
    registered: {
      on,
      cause: 'rand() takes the lock of the C library for each number',
      kinds: ['lock-contention', 'overhead', 'spinning', 'sharing'],
      subject: /rand|step/i,
      fix: 'rand_r() with a state of its own for each thread',
    },
  },
  {
    name: 'cpp-yields-for-work',
    language: 'C++',
    kind: 'decoder',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('frames.cpp', frames)}g++ -std=c++17 -O2 -g -pthread frames.cpp -o frames`,
    run: sh('./frames 0'),
    fixed: sh('./frames 1'),
    registered: {
      on,
      cause: 'one thread decodes nearly all of the time; two yield until there is a frame, and take its CPU',
      kinds: ['spinning', 'oversubscription', 'overhead', 'serial', 'pipeline'],
      subject: /yield|take|Queue|decode|spin/i,
      fix: 'a condition variable',
    },
  },
  {
    name: 'openmp-dynamic-one',
    language: 'C, OpenMP',
    kind: 'numerics',
    needs: ['gcc'],
    packages: ['gcc'],
    prepare: `${heredoc('escape.c', escape)}gcc -O2 -g -fopenmp escape.c -o escape -lm`,
    run: sh('./escape 0'),
    fixed: sh('./escape 1'),
    registered: {
      on,
      cause: 'each pixel is taken from the schedule by itself',
      kinds: ['overhead', 'sharing'],
      subject: /GOMP|loop|schedule|OpenMP|main/i,
      fix: 'pieces of 8,192 pixels',
    },
  },
  {
    name: 'cpp-largest-last',
    language: 'C++',
    kind: 'planner',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('routes.cpp', orders)}g++ -std=c++17 -O2 -g -pthread routes.cpp -o routes`,
    run: sh('./routes 0'),
    fixed: sh('./routes 1'),
    registered: {
      on,
      cause: 'the largest customer is planned last, by one thread while the others have no work',
      kinds: ['imbalance', 'serial', 'starvation'],
      subject: /plan|thread|main/i,
      fix: 'the largest first',
      spreads: true,
    },
  },
];
