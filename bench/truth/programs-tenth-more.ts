/**
 * More of the tenth batch: programs in Rust, Go and Java.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, tenth batch';
const words = `//! Letters of a long text are counted by two threads, which read a half each: the counts of both
//! stand side by side for each letter; with 1, each thread has a table of its own.
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const THREADS: usize = 2;
const LETTERS: usize = 26;
const TEXT: usize = 16 << 20;
const PASSES: usize = 70;

struct Counts {
    cells: Vec<AtomicU64>,
    of_thread: usize,
    of_letter: usize,
}

impl Counts {
    fn new(apart: bool) -> Counts {
        let (of_thread, of_letter) = if apart { (64, 1) } else { (1, THREADS) };
        let cells = (0..64 * THREADS).map(|_| AtomicU64::new(0)).collect();
        Counts { cells, of_thread, of_letter }
    }

    fn cell(&self, thread: usize, letter: usize) -> &AtomicU64 {
        &self.cells[thread * self.of_thread + letter * self.of_letter]
    }

    fn add(&self, thread: usize, letter: usize) {
        let cell = self.cell(thread, letter);
        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn total(&self, letter: usize) -> u64 {
        (0..THREADS).map(|thread| self.cell(thread, letter).load(Ordering::Relaxed)).sum()
    }
}

fn text() -> Vec<u8> {
    let mut state = 88172645463325252u64;
    (0..TEXT)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            b'a' + (state >> 59).min(25) as u8
        })
        .collect()
}

fn count(text: &[u8], thread: usize, counts: &Counts) -> u64 {
    let mut lines = 0;
    for _ in 0..PASSES {
        for &byte in text {
            counts.add(thread, (byte - b'a') as usize);
            lines += (byte == b'z') as u64;
        }
    }
    lines
}

fn main() {
    let apart = env::args().nth(1).as_deref() == Some("1");
    let text = text();
    let counts = Counts::new(apart);
    let lines: u64 = thread::scope(|scope| {
        let halves: Vec<_> = text
            .chunks(TEXT / THREADS)
            .enumerate()
            .map(|(thread, half)| {
                let counts = &counts;
                scope.spawn(move || count(half, thread, counts))
            })
            .collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    let all: Vec<u64> = (0..LETTERS).map(|letter| counts.total(letter)).collect();
    println!("{} {:?}", lines, &all[..4]);
}
`;
const readings = `// Readings of sensors are smoothed by two goroutines, and a third collects what they find: it looks
// for results without ever waiting; with 1, it waits for them.
package main

import (
	"fmt"
	"math"
	"os"
	"sync"
)

type reading struct {
	sensor int
	values []float64
}

type peak struct {
	sensor int
	height float64
}

func smooth(values []float64, width int) float64 {
	highest := math.Inf(-1)
	for k := range values {
		sum, weights := 0.0, 0.0
		for j := -width; j <= width; j++ {
			if k+j < 0 || k+j >= len(values) {
				continue
			}
			weight := 1 / (1 + float64(j*j))
			sum += weight * values[k+j]
			weights += weight
		}
		highest = math.Max(highest, sum/weights)
	}
	return highest
}

func collect(peaks <-chan peak, done <-chan struct{}, waits bool) map[int]float64 {
	found := make(map[int]float64)
	note := func(p peak) {
		if p.height > found[p.sensor] {
			found[p.sensor] = p.height
		}
	}
	if waits {
		for {
			select {
			case p := <-peaks:
				note(p)
			case <-done:
				return found
			}
		}
	}
	for {
		select {
		case p := <-peaks:
			note(p)
		case <-done:
			return found
		default:
		}
	}
}

func main() {
	waits := len(os.Args) > 1 && os.Args[1] == "1"
	readings := make(chan reading, 16)
	peaks := make(chan peak, 16)
	done := make(chan struct{})
	var workers sync.WaitGroup
	for k := 0; k < 2; k++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for r := range readings {
				peaks <- peak{r.sensor, smooth(r.values, 200)}
			}
		}()
	}
	go func() {
		state := uint64(88172645463325252)
		for k := 0; k < 1500; k++ {
			values := make([]float64, 4000)
			for j := range values {
				state ^= state << 13
				state ^= state >> 7
				state ^= state << 17
				values[j] = float64(state>>40) / (1 << 24)
			}
			readings <- reading{k % 50, values}
		}
		close(readings)
		workers.Wait()
		close(done)
	}()
	found := collect(peaks, done, waits)
	sum := 0.0
	for _, height := range found {
		sum += height
	}
	fmt.Printf("%.6f of %d\\n", sum, len(found))
}
`;
const portfolio = `import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * The values of contracts are simulated by a pool of two threads: each contract becomes a future, and
 * a stream maps futures to their results; with 1, all futures are made before the first is waited
 * for.
 */
public class Portfolio {
  static final int contracts = 2400, paths = 4000, days = 100;

  record Contract(int number, double strike, double volatility) {}

  static double value(Contract contract) {
    long x = contract.number() * 2654435761L + 88172645463325252L;
    double sum = 0;
    for (int path = 0; path < paths; path++) {
      double price = 100;
      for (int day = 0; day < days; day++) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        price *= 1 + contract.volatility() * ((x >>> 40) / 16777216.0 - 0.5);
      }
      sum += Math.max(0, price - contract.strike());
    }
    return sum / paths;
  }

  public static void main(String[] args) {
    boolean first = args.length > 0 && args[0].equals("1");
    ExecutorService pool = Executors.newFixedThreadPool(2);
    List<Contract> all =
        IntStream.range(0, contracts)
            .mapToObj(k -> new Contract(k, 90 + k % 20, 0.01 + k % 7 * 0.002))
            .toList();
    var futures = all.stream().map(one -> CompletableFuture.supplyAsync(() -> value(one), pool));
    if (first) futures = futures.toList().stream();
    double sum = futures.mapToDouble(CompletableFuture::join).sum();
    pool.shutdown();
    System.out.printf("%.4f%n", sum);
  }
}
`;

export const tenthBatchMore: readonly Program[] = [
  {
    name: 'rust-counts-side-by-side',
    language: 'Rust',
    kind: 'application',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('words.rs', words)}rustc -O -g -o words words.rs`,
    run: sh('./words 0'),
    fixed: sh('./words 1'),
    registered: {
      on,
      cause: 'counts of both threads for a letter are in one cache line, which the CPUs take from each other',
      kinds: ['sharing', 'optimize'],
      subject: /Counts|cell|count|words/i,
      fix: 'a table for each thread',
    },
  },
  {
    name: 'go-select-with-default',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('readings.go', readings)}go build -o readings readings.go`,
    run: sh('./readings 0'),
    fixed: sh('./readings 1'),
    registered: {
      on,
      cause: 'a goroutine looks for results in a loop without waiting and takes a CPU from the two that compute',
      kinds: ['spinning', 'optimize'],
      subject: /collect|select|chanrecv|poll/i,
      fix: 'it waits',
    },
  },
  {
    name: 'java-lazy-futures',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Portfolio.java', portfolio)}javac -d . Portfolio.java`,
    run: sh('java Portfolio 0'),
    fixed: sh('java Portfolio 1'),
    registered: {
      on,
      cause:
        'the stream makes each future when the one before has been waited for: one thread of the pool works at a time',
      kinds: ['serial', 'starvation', 'dependency', 'lock-contention', 'imbalance', 'pipeline'],
      subject: /Portfolio|pool-1|generated|main|join|thread|java/i,
      fix: 'all futures are made first',
      spreads: true,
    },
  },
];
