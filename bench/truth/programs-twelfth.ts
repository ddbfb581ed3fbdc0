/**
 * The twelfth batch of real programs, registered after the eleventh: like programs.ts; here programs in C, C++ and
 * OpenMP. Causes are by knowledge of the programs, and by experiments without Quartz.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, twelfth batch';
const ranks = `// Stations are ranked by each year's rain: values are made by all threads (C++17, TBB), then sorted
// by main; with 1, sorted in parallel as well.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <numeric>
#include <vector>

namespace {
constexpr int stations = 600000, years = 12;

struct Station {
  int number;
  double rain;
};

double rain(int number, int year) {
  double sum = 0;
  for (int month = 0; month < 12; month++) sum += 60 + 40 * std::sin(number * 0.37 + year * 1.7 + month * 0.5);
  return sum;
}

bool wetter(const Station &one, const Station &other) {
  return one.rain != other.rain ? one.rain > other.rain : one.number < other.number;
}
} // namespace

int main(int argc, char **argv) {
  const bool together = argc > 1 && atoi(argv[1]) == 1;
  std::vector<Station> all(stations);
  long ranks = 0;
  for (int year = 0; year < years; year++) {
    for (int k = 0; k < stations; k++) all[k].number = k;
    std::for_each(std::execution::par, all.begin(), all.end(),
                  [year](Station &station) { station.rain = rain(station.number, year); });
    if (together) std::sort(std::execution::par, all.begin(), all.end(), wetter);
    else std::sort(all.begin(), all.end(), wetter);
    ranks += all[stations / 2].number;
  }
  printf("%ld\\n", ranks);
}
`;
const scans = `/* Scanned pages: each is unpacked (zlib) by one thread, then smoothed by all; with 1, pages are
 * unpacked by all threads, one each, before they are smoothed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PAGES = 40, WIDTH = 1400, HEIGHT = 1800, BYTES = WIDTH * HEIGHT };

static unsigned char *packed[PAGES], *page[PAGES], *smooth;
static uLongf length[PAGES];

static void scan(int number) {
  unsigned char *raw = malloc(BYTES);
  unsigned state = (unsigned)number * 2654435761u + 1;
  for (int k = 0; k < BYTES; k++) {
    state = state * 1664525u + 1013904223u;
    raw[k] = (unsigned char)(200 + (state >> 27) - (k % 97 < 9 ? 120 : 0));
  }
  length[number] = compressBound(BYTES);
  packed[number] = malloc(length[number]);
  compress2(packed[number], &length[number], raw, BYTES, 1);
  page[number] = raw;
}

static void unpack(int number) {
  uLongf bytes = BYTES;
  if (uncompress(page[number], &bytes, packed[number], length[number]) != Z_OK) abort();
}

static void smoothen(int number) {
  const unsigned char *from = page[number];
#pragma omp parallel for
  for (int y = 1; y < HEIGHT - 1; y++)
    for (int x = 1; x < WIDTH - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += from[(y + dy) * WIDTH + x + dx];
      smooth[y * WIDTH + x] = (unsigned char)(sum / 9);
    }
}

int main(int argc, char **argv) {
  const int together = argc > 1 && atoi(argv[1]) == 1;
  smooth = calloc(BYTES, 1);
#pragma omp parallel for
  for (int k = 0; k < PAGES; k++) scan(k);
  long sum = 0;
  for (int round = 0; round < 3; round++) {
    if (together) {
#pragma omp parallel for schedule(dynamic)
      for (int k = 0; k < PAGES; k++) unpack(k);
    }
    for (int k = 0; k < PAGES; k++) {
      if (!together) unpack(k);
      smoothen(k);
      sum += smooth[BYTES / 2];
    }
  }
  printf("%ld\\n", sum);
}
`;
const strides = `/* A product of matrices, divided among threads by rows: the innermost loop goes down a column;
 * with 1, along a row. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024 };

static double a[N][N], b[N][N], c[N][N];

static void down(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

static void along(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) c[i][j] = 0;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
  }
}

int main(int argc, char **argv) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = (i * 7 + j) % 13, b[i][j] = (i + j * 5) % 11;
  if (argc > 1 && atoi(argv[1]) == 1) along();
  else down();
  double trace = 0;
  for (int i = 0; i < N; i++) trace += c[i][i];
  printf("%.0f\\n", trace);
}
`;
const quotes = `// Quotes are asked for by one thread and computed by another one: who has to wait sleeps for a
// millisecond and looks again; with 1, it waits at a condition variable.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {
constexpr int quotes = 700;

class Slot {
public:
  explicit Slot(bool waits) : waits(waits) {}

  void put(double of) {
    std::lock_guard<std::mutex> guard(lock);
    value = of;
    full = true;
    if (waits) filled.notify_one();
  }

  double take() {
    for (;;) {
      std::unique_lock<std::mutex> guard(lock);
      if (waits) filled.wait(guard, [&] { return full; });
      if (full) {
        full = false;
        return value;
      }
      guard.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

private:
  const bool waits;
  std::mutex lock;
  std::condition_variable filled;
  bool full = false;
  double value = 0;
};

double worth(double of, int steps) {
  for (int k = 0; k < steps; k++) of = of * 0.999 + 1.0 / (1.0 + of * of);
  return of;
}
} // namespace

int main(int argc, char **argv) {
  const bool waits = argc > 1 && atoi(argv[1]) == 1;
  Slot questions(waits), answers(waits);
  std::thread server([&] {
    for (int k = 0; k < quotes; k++) answers.put(worth(questions.take(), 40000));
  });
  double sum = 0;
  for (int k = 0; k < quotes; k++) {
    questions.put(worth(k, 20000));
    sum += answers.take();
  }
  server.join();
  printf("%.6f\\n", sum);
}
`;
export const twelfthBatch: readonly Program[] = [
  {
    name: 'cpp-sorts-in-main',
    language: 'C++17, TBB',
    kind: 'statistics',
    needs: ['g++'],
    packages: ['g++', 'libtbb-dev'],
    prepare: `${heredoc('ranks.cpp', ranks)}g++ -std=c++17 -O2 -g ranks.cpp -o ranks -ltbb`,
    run: sh('./ranks 0'),
    fixed: sh('./ranks 1'),
    registered: {
      on,
      cause: 'main sorts while the other threads have nothing to do',
      kinds: ['serial', 'starvation'],
      subject: /sort|wetter|main/i,
      fix: 'a parallel sort',
      spreads: true,
    },
  },
  {
    name: 'openmp-unpacks-in-main',
    language: 'C, OpenMP',
    kind: 'image tool',
    needs: ['gcc'],
    packages: ['gcc', 'zlib1g-dev'],
    prepare: `${heredoc('scans.c', scans)}gcc -O2 -g -fopenmp scans.c -o scans -lz`,
    run: sh('./scans 0'),
    fixed: sh('./scans 1'),
    registered: {
      on,
      cause: 'main unpacks each page while the other thread waits for the next region',
      kinds: ['serial', 'starvation'],
      subject: /unpack|uncompress|inflate/i,
      fix: 'pages are unpacked by all threads',
      spreads: true,
    },
  },
  {
    name: 'openmp-down-the-columns',
    language: 'C, OpenMP',
    kind: 'numerics',
    needs: ['gcc'],
    packages: ['gcc'],
    prepare: `${heredoc('strides.c', strides)}gcc -O2 -g -fopenmp strides.c -o strides`,
    run: sh('./strides 0'),
    fixed: sh('./strides 1'),
    registered: {
      on,
      cause: 'both threads read a matrix down its columns: each number is on a line of its own',
      kinds: ['optimize'],
      subject: /down/i,
      fix: 'along the rows',
    },
  },
  {
    name: 'cpp-sleeps-and-looks',
    language: 'C++',
    kind: 'service',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('quotes.cpp', quotes)}g++ -std=c++17 -O2 -g -pthread quotes.cpp -o quotes`,
    run: sh('./quotes 0'),
    fixed: sh('./quotes 1'),
    registered: {
      on,
      cause: 'who waits for the other thread sleeps for a millisecond before it looks again',
      kinds: ['io', 'dependency', 'overhead'],
      subject: /take|sleep|Slot/i,
      fix: 'a condition variable',
    },
  },
];
