/**
 * The rest of the twelfth batch: programs whose threads share their work, in C++ and Java.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, twelfth batch';
const bodies = `// Bodies attract each other, in two threads: each position is a std::vector of three numbers,
// made anew by each operation; with 1, a std::array.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {
constexpr int bodies = 1400, threads = 2;

std::vector<double> zero(const std::vector<double> &) { return {0, 0, 0}; }
std::array<double, 3> zero(const std::array<double, 3> &) { return {0, 0, 0}; }

template <typename Point> Point minus(const Point &one, const Point &other) {
  Point result = zero(one);
  for (int k = 0; k < 3; k++) result[k] = one[k] - other[k];
  return result;
}

template <typename Point> Point times(const Point &one, double factor) {
  Point result = zero(one);
  for (int k = 0; k < 3; k++) result[k] = one[k] * factor;
  return result;
}

template <typename Point> Point plus(const Point &one, const Point &other) {
  Point result = zero(one);
  for (int k = 0; k < 3; k++) result[k] = one[k] + other[k];
  return result;
}

template <typename Point> Point attraction(const std::vector<Point> &all, int of) {
  Point sum = zero(all[of]);
  for (int k = 0; k < bodies; k++) {
    if (k == of) continue;
    const Point way = minus(all[k], all[of]);
    const double square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] + 0.01;
    sum = plus(sum, times(way, 1 / (square * std::sqrt(square))));
  }
  return sum;
}

template <typename Point> double simulate() {
  std::vector<Point> all(bodies, Point{0, 0, 0}), next;
  for (int k = 0; k < bodies; k++)
    for (int d = 0; d < 3; d++) all[k][d] = std::sin(k * (1.3 + d)) * 10;
  for (int step = 0; step < 8; step++) {
    next = all;
    std::vector<std::thread> crew;
    for (int t = 0; t < threads; t++)
      crew.emplace_back([&, t] {
        for (int k = t * bodies / threads; k < (t + 1) * bodies / threads; k++)
          next[k] = plus(all[k], times(attraction(all, k), 0.001));
      });
    for (auto &one : crew) one.join();
    all.swap(next);
  }
  return all[1][0];
}
} // namespace

int main(int argc, char **argv) {
  const bool fixed = argc > 1 && atoi(argv[1]) == 1;
  printf("%.9f\\n", fixed ? simulate<std::array<double, 3>>() : simulate<std::vector<double>>());
}
`;
const letters = `// Letters are opened by main and read by one thread, over a queue without bound;
// with 1, by two threads.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {
constexpr int letters = 12000, words = 260;
using Letter = std::vector<uint32_t>;

std::mutex lock;
std::condition_variable arrived;
std::deque<Letter> waiting;
bool closed = false;

Letter open(int number) {
  Letter letter(words);
  uint32_t state = static_cast<uint32_t>(number) * 2654435761u + 7;
  for (uint32_t &word : letter) word = (state = state * 1664525u + 1013904223u) >> 20;
  return letter;
}

void read(const Letter &letter, std::unordered_map<std::string, int> &counts) {
  for (const uint32_t word : letter) counts["word-" + std::to_string(word) + (word % 3 ? "-common" : "-rare")]++;
}

void reader(std::unordered_map<std::string, int> &counts) {
  for (;;) {
    std::unique_lock<std::mutex> guard(lock);
    arrived.wait(guard, [] { return closed || !waiting.empty(); });
    if (waiting.empty()) return;
    const Letter letter = std::move(waiting.front());
    waiting.pop_front();
    guard.unlock();
    for (int k = 0; k < 4; k++) read(letter, counts);
  }
}
} // namespace

int main(int argc, char **argv) {
  const int readers = argc > 1 && atoi(argv[1]) == 1 ? 2 : 1;
  std::vector<std::unordered_map<std::string, int>> counts(readers);
  std::vector<std::thread> all;
  for (int k = 0; k < readers; k++) all.emplace_back([&, k] { reader(counts[k]); });
  for (int k = 0; k < letters; k++) {
    Letter letter = open(k);
    std::lock_guard<std::mutex> guard(lock);
    waiting.push_back(std::move(letter));
    arrived.notify_one();
  }
  {
    std::lock_guard<std::mutex> guard(lock);
    closed = true;
    arrived.notify_all();
  }
  for (auto &one : all) one.join();
  long sum = 0;
  for (const auto &one : counts)
    for (const auto &[word, count] : one) sum += count;
  printf("%ld\\n", sum);
}
`;
const requests = `import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** Requests are answered by a thread each, eight at a time; with 1, by a pool of two. */
public class Requests {
    private static final int REQUESTS = 16_000, AT_A_TIME = 8;

    static long answer(int request) {
        long state = request;
        for (int k = 0; k < 2_000; k++) state = state * 6364136223846793005L + 1442695040888963407L;
        return state & 1023;
    }

    public static void main(String[] arguments) throws Exception {
        boolean pooled = arguments.length > 0 && arguments[0].equals("1");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long sum = 0;
        for (int from = 0; from < REQUESTS; from += AT_A_TIME) {
            List<Future<Long>> answers = new ArrayList<>();
            for (int k = from; k < from + AT_A_TIME; k++) {
                int request = k;
                if (pooled) {
                    answers.add(pool.submit(() -> answer(request)));
                } else {
                    FutureTask<Long> task = new FutureTask<>(() -> answer(request));
                    new Thread(task).start();
                    answers.add(task);
                }
            }
            for (Future<Long> one : answers) sum += one.get();
        }
        pool.shutdown();
        System.out.println(sum);
    }
}
`;

export const twelfthBatchThreads: readonly Program[] = [
  {
    name: 'cpp-vectors-of-three',
    language: 'C++',
    kind: 'simulation',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('bodies.cpp', bodies)}g++ -std=c++17 -O2 -g -pthread bodies.cpp -o bodies`,
    run: sh('./bodies 0'),
    fixed: sh('./bodies 1'),
    registered: {
      on,
      cause: 'each operation allocates its result, and frees it',
      kinds: ['optimize', 'overhead', 'kernel'],
      subject: /attraction|malloc|alloc|operator new|free|plus|zero|vector/i,
      fix: 'arrays, which need no allocation',
    },
  },
  {
    name: 'cpp-one-reader',
    language: 'C++',
    kind: 'text tool',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('letters.cpp', letters)}g++ -std=c++17 -O2 -g -pthread letters.cpp -o letters`,
    run: sh('./letters 0'),
    fixed: sh('./letters 1'),
    registered: {
      on,
      cause: 'one thread reads all letters; who opens them is done early',
      kinds: ['serial', 'pipeline', 'starvation', 'imbalance'],
      subject: /read/i,
      fix: 'two readers',
      spreads: true,
    },
  },
  {
    name: 'java-thread-each-request',
    language: 'Java',
    kind: 'service',
    needs: ['javac', 'java'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Requests.java', requests)}javac Requests.java`,
    run: sh('java Requests 0'),
    fixed: sh('java Requests 1'),
    registered: {
      on,
      cause: 'a thread is made for each request, of some microseconds',
      kinds: ['overhead'],
      subject: /thread/i,
      fix: 'a pool of two threads',
    },
  },
];
