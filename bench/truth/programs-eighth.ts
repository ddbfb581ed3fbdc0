/**
 * The eighth batch of real programs, registered after the seventh: like programs.ts; here programs with threads
 * of their own. Causes are by knowledge of the programs, and by plain tools and experiments: time, perf, strace,
 * other settings.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, eighth batch';
const documents = `//! Documents are indexed by two workers, which take them from one channel; with 1, the lock of
//! the receiver is released before the work.
use std::collections::HashMap;
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

struct Document {
    number: u64,
    words: usize,
}

fn index(document: Document) -> u64 {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut x = document.number * 2654435761 + 1;
    for _ in 0..document.words {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        *counts.entry((x % 5003) as u32).or_insert(0) += 1;
    }
    counts.iter().map(|(word, count)| u64::from(*word) * u64::from(*count)).sum()
}

fn held(jobs: &Mutex<Receiver<Document>>) -> u64 {
    let mut sum = 0u64;
    while let Ok(document) = jobs.lock().unwrap().recv() {
        sum = sum.wrapping_add(index(document));
    }
    sum
}

fn released(jobs: &Mutex<Receiver<Document>>) -> u64 {
    let mut sum = 0u64;
    loop {
        let next = jobs.lock().unwrap().recv();
        match next {
            Ok(document) => sum = sum.wrapping_add(index(document)),
            Err(_) => return sum,
        }
    }
}

fn main() {
    let early = std::env::args().nth(1).as_deref() == Some("1");
    let (sender, receiver) = channel();
    let jobs = Arc::new(Mutex::new(receiver));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let jobs = Arc::clone(&jobs);
            thread::spawn(move || if early { released(&jobs) } else { held(&jobs) })
        })
        .collect();
    for number in 0..900 {
        sender.send(Document { number, words: 300_000 }).unwrap();
    }
    drop(sender);
    let sum: u64 = workers.into_iter().fold(0, |sum, one| sum.wrapping_add(one.join().unwrap()));
    println!("{sum}");
}
`;
const pension = `// Pension funds are simulated by four goroutines: with rand's own source; with 1, each has its
// own.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sync"
)

const years, paths = 40, 250000

type plan struct {
	start, saving, mean, spread float64
}

func fund(p plan, normal func() float64) float64 {
	value := p.start
	for year := 0; year < years; year++ {
		value = value*(1+p.mean+p.spread*(normal()+normal()+normal()-1.5)) + p.saving
		if value < 0 {
			value = 0
		}
	}
	return value
}

func simulate(p plan, normal func() float64) (mean, ruined float64) {
	for k := 0; k < paths; k++ {
		value := fund(p, normal)
		mean += value / paths
		if value < p.start {
			ruined++
		}
	}
	return
}

func main() {
	own := len(os.Args) > 1 && os.Args[1] == "1"
	var done sync.WaitGroup
	means := make([]float64, 4)
	for worker := 0; worker < 4; worker++ {
		done.Add(1)
		go func(worker int) {
			defer done.Done()
			uniform := rand.Float64
			if own {
				uniform = rand.New(rand.NewSource(int64(worker))).Float64
			}
			means[worker], _ = simulate(plan{100, 5, 0.03 + 0.01*float64(worker), 0.15}, uniform)
		}(worker)
	}
	done.Wait()
	fmt.Printf("%.0f\\n", means[0]+means[3])
}
`;
const journal = `/* Four threads serve requests and log each one: the lock of the log is held while the line is
   made and written; with 1, lines are made outside, and written 64 at a time. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
enum { threads = 4, requests = 200000, batch = 64, room = 256 };
static int batched, file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t served[threads * 8];
static int line(char *to, int worker, int request, uint64_t result) {
  time_t now = time(0);
  struct tm parts;
  char stamp[32];
  localtime_r(&now, &parts);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  return snprintf(to, room, "%s worker=%d request=%d result=%016lx seconds=%.6f\\n", stamp, worker, request,
                  (unsigned long)result, (double)(result & 65535) / 1e6);
}
static void log_request(int worker, int request, uint64_t result) {
  char text[room];
  pthread_mutex_lock(&log_lock);
  int length = line(text, worker, request, result);
  if (write(file, text, (size_t)length) != length) abort();
  pthread_mutex_unlock(&log_lock);
}
static uint64_t handle(uint64_t x) {
  for (int k = 0; k < 700; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}
static void *serve(void *which) {
  const int worker = (int)(intptr_t)which;
  char *text = malloc(batch * room);
  size_t length = 0;
  uint64_t x = (uint64_t)worker + 1;
  for (int request = 0; request < requests; request++) {
    x = handle(x);
    if (!batched) {
      log_request(worker, request, x);
      continue;
    }
    length += (size_t)line(text + length, worker, request, x);
    if (request % batch == batch - 1 || request == requests - 1) {
      pthread_mutex_lock(&log_lock);
      if (write(file, text, length) != (ssize_t)length) abort();
      pthread_mutex_unlock(&log_lock);
      length = 0;
    }
  }
  served[worker * 8] = x;
  free(text);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t ids[threads];
  batched = argc > 1 && atoi(argv[1]) == 1;
  file = open("requests.log", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0644);
  for (int k = 0; k < threads; k++) pthread_create(&ids[k], 0, serve, (void *)(intptr_t)k);
  uint64_t sum = 0;
  for (int k = 0; k < threads; k++) pthread_join(ids[k], 0), sum += served[k * 8];
  printf("%lu\\n", (unsigned long)sum);
}
`;
const grains = `/* Grains are counted by size: each thread adds to the same few counters atomically; with 1,
   OpenMP reduces arrays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { grains = 300000000, sizes = 24 };
static long histogram[sizes];
static inline int size_of(uint32_t k) {
  uint32_t x = k * 2654435761u;
  x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
  return (int)(x % sizes);
}
static void count_atomically(void) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < grains; k++) {
    const int size = size_of((uint32_t)k);
#pragma omp atomic
    histogram[size]++;
  }
}
static void count_by_reduction(void) {
#pragma omp parallel for schedule(static) reduction(+ : histogram[:sizes])
  for (int k = 0; k < grains; k++) histogram[size_of((uint32_t)k)]++;
}
int main(int argc, char **argv) {
  if (argc > 1 && atoi(argv[1]) == 1)
    count_by_reduction();
  else
    count_atomically();
  long sum = 0;
  for (int k = 0; k < sizes; k++) sum += histogram[k] * (k + 1);
  printf("%ld\\n", sum);
}
`;
export const eighthBatch: readonly Program[] = [
  {
    name: 'rust-receiver-kept',
    language: 'Rust',
    kind: 'application',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('jobs.rs', documents)}rustc -O -g -o jobs jobs.rs`,
    run: sh('./jobs 0'),
    fixed: sh('./jobs 1'),
    registered: {
      on,
      cause: 'the lock of the receiver is held while a document is indexed: one worker at a time',
      kinds: ['lock-contention', 'serial'],
      subject: /lock|mutex|held|index|one at a time/i,
      fix: 'the lock is released before the work',
    },
  },
  {
    name: 'go-common-random-source',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('retire.go', pension)}go build -ldflags=-linkmode=external -o retire retire.go`,
    run: sh('./retire 0'),
    fixed: sh('./retire 1'),
    registered: {
      on,
      cause: 'four goroutines draw numbers from the one source of math/rand, which has a lock',
      kinds: ['lock-contention', 'overhead', 'sharing', 'spinning', 'oversubscription'],
      subject: /rand|lock/i,
      fix: 'a source for each goroutine',
    },
  },
  {
    name: 'c-log-in-lock',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('journal.c', journal)}cc -O2 -g -o journal journal.c -pthread`,
    run: sh('./journal 0'),
    fixed: sh('./journal 1'),
    registered: {
      on,
      cause: 'each line of a log is made and written with the lock held',
      kinds: ['lock-contention', 'overhead', 'kernel'],
      subject: /log_lock|log_request|write/i,
      fix: 'lines are made outside, and written 64 at a time',
    },
  },
  {
    name: 'openmp-atomic-counters',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('grains.c', grains)}cc -O2 -g -fopenmp -o grains grains.c`,
    run: sh('./grains 0'),
    fixed: sh('./grains 1'),
    registered: {
      on,
      cause: 'two threads add atomically to counters in the same three cache lines',
      kinds: ['sharing', 'overhead', 'optimize'],
      subject: /atomic|cache line|shared|histogram|count_atomically/i,
      fix: 'OpenMP reduces arrays of each thread',
    },
  },
];
