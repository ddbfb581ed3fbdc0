/**
 * More of the eleventh batch: programs in Rust, Go, Java and Python.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, eleventh batch';
const journal = `//! Payments are checked by four threads and noted in a journal, which is flushed to the disk for each:
//! in the lock; with 1, one flush for all that were noted since the last one.
use std::env;
use std::fs::{remove_file, File};
use std::io::Write;
use std::sync::{Condvar, Mutex};
use std::thread;

const THREADS: u64 = 4;
const PAYMENTS: u64 = 150;

struct Journal {
    file: File,
    state: Mutex<State>,
    flushed: Condvar,
}

#[derive(Default)]
struct State {
    noted: u64,
    safe: u64,
    flushing: bool,
}

impl Journal {
    fn note(&self, text: &str, grouped: bool) {
        let mut state = self.state.lock().unwrap();
        (&self.file).write_all(text.as_bytes()).unwrap();
        if !grouped {
            self.file.sync_data().unwrap();
            return;
        }
        state.noted += 1;
        let mine = state.noted;
        while state.safe < mine {
            if state.flushing {
                state = self.flushed.wait(state).unwrap();
                continue;
            }
            state.flushing = true;
            let upto = state.noted;
            drop(state);
            self.file.sync_data().unwrap();
            state = self.state.lock().unwrap();
            state.flushing = false;
            state.safe = upto;
            self.flushed.notify_all();
        }
    }
}

fn check(account: u64) -> u64 {
    let mut state = account.wrapping_mul(6364136223846793005).wrapping_add(1);
    for _ in 0..300_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state % 10_000
}

fn main() {
    let grouped = env::args().nth(1).as_deref() == Some("1");
    let journal = Journal {
        file: File::create("payments").unwrap(),
        state: Mutex::default(),
        flushed: Condvar::new(),
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let journal = &journal;
            scope.spawn(move || {
                for payment in 0..PAYMENTS {
                    let account = thread * PAYMENTS + payment;
                    journal.note(&format!("{} {}\\n", account, check(account)), grouped);
                }
            });
        }
    });
    println!("{}", journal.file.metadata().unwrap().len());
    remove_file("payments").unwrap();
}
`;
const prices = `// Prices are looked up by two goroutines for each request, and changed rarely: under the write lock of
// an RWMutex; with 1, under its read lock.
package main

import (
	"fmt"
	"os"
	"sort"
	"sync"
)

type list struct {
	lock   sync.RWMutex
	shared bool
	from   []float64
	factor []float64
}

func (l *list) price(quantity float64) float64 {
	if l.shared {
		l.lock.RLock()
		defer l.lock.RUnlock()
	} else {
		l.lock.Lock()
		defer l.lock.Unlock()
	}
	total := 0.0
	for k := 1; k <= 40; k++ {
		at := sort.SearchFloat64s(l.from, quantity/float64(k))
		if at == len(l.from) {
			at--
		}
		total += quantity * l.factor[at]
	}
	return total
}

func (l *list) change(at int, factor float64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.factor[at%len(l.factor)] = factor
}

func main() {
	l := &list{shared: len(os.Args) > 1 && os.Args[1] == "1"}
	for k := 0; k < 4000; k++ {
		l.from = append(l.from, float64(k)*2.5)
		l.factor = append(l.factor, 1/(1+float64(k)/1000))
	}
	var all sync.WaitGroup
	sums := make([]float64, 64)
	for worker := 0; worker < 2; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for k := 0; k < 300000; k++ {
				if k%10000 == 0 {
					l.change(k, 0.5)
				}
				sums[worker*32] += l.price(float64((k*7919 + worker) % 10000))
			}
		}(worker)
	}
	all.Wait()
	fmt.Printf("%.2f\\n", sums[0]+sums[32])
}
`;
const report = `import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A report with a line for each measurement, made by two threads: by String.format; with 1, by a StringBuilder. */
public class Report {
    private static final int LINES = 1_200_000;

    static int formatted(int from, int to) {
        int length = 0;
        for (int k = from; k < to; k++) {
            length += String.format("%08d;%s;%5d;%x%n", k, "sensor-" + k % 100, k % 90000, k * 31).length();
        }
        return length;
    }

    static int appended(int from, int to) {
        int length = 0;
        for (int k = from; k < to; k++) {
            StringBuilder line = new StringBuilder(48);
            pad(line, Integer.toString(k), 8, '0').append(';').append("sensor-").append(k % 100).append(';');
            pad(line, Integer.toString(k % 90000), 5, ' ').append(';');
            line.append(Integer.toHexString(k * 31)).append('\\n');
            length += line.toString().length();
        }
        return length;
    }

    private static StringBuilder pad(StringBuilder line, String digits, int width, char with) {
        for (int k = digits.length(); k < width; k++) line.append(with);
        return line.append(digits);
    }

    public static void main(String[] arguments) throws Exception {
        boolean quick = arguments.length > 0 && arguments[0].equals("1");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> parts = new ArrayList<>();
        for (int k = 0; k < 2; k++) {
            int from = k * LINES / 2, to = (k + 1) * LINES / 2;
            Callable<Integer> part = () -> quick ? appended(from, to) : formatted(from, to);
            parts.add(pool.submit(part));
        }
        int length = 0;
        for (Future<Integer> part : parts) length += part.get();
        pool.shutdown();
        System.out.println(length);
    }
}
`;
const tally = `"""Words of a text are counted by two processes in a dict that a manager keeps.

With 1, each counts by itself first."""
import sys
from multiprocessing import Manager, Process

WORDS = [f'word{(k * 48271) % 997}' for k in range(12000)]

def count(shared, lock, words, apart):
    if not apart:
        for word in words:
            with lock:
                shared[word] = shared.get(word, 0) + 1
        return
    own = {}
    for word in words:
        own[word] = own.get(word, 0) + 1
    with lock:
        for word, times in own.items():
            shared[word] = shared.get(word, 0) + times

def main():
    apart = sys.argv[1] == '1'
    with Manager() as manager:
        shared, lock = manager.dict(), manager.Lock()
        half = len(WORDS) // 2
        all = [Process(target=count, args=(shared, lock, part, apart)) for part in (WORDS[:half], WORDS[half:])]
        for one in all:
            one.start()
        for one in all:
            one.join()
        print(sum(shared.values()))

if __name__ == '__main__':
    main()
`;

export const eleventhBatchMore: readonly Program[] = [
  {
    name: 'rust-sync-in-lock',
    language: 'Rust',
    kind: 'store',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('journal.rs', journal)}rustc -O -g journal.rs`,
    run: sh('./journal 0'),
    fixed: sh('./journal 1'),
    registered: {
      on,
      cause: 'the journal is flushed for each payment, in its lock',
      kinds: ['io', 'kernel', 'lock-contention'],
      subject: /note|sync|Journal|state|fdatasync/i,
      fix: 'one flush for all payments noted since the last one',
    },
  },
  {
    name: 'go-write-lock-for-reads',
    language: 'Go',
    kind: 'service',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('prices.go', prices)}go build prices.go`,
    run: sh('./prices 0'),
    fixed: sh('./prices 1'),
    registered: {
      on,
      cause: 'who only reads takes the write lock',
      kinds: ['lock-contention', 'overhead', 'spinning', 'serial'],
      subject: /price|Lock|Mutex/i,
      fix: 'the read lock',
      spreads: true,
    },
  },
  {
    name: 'java-formats-each-line',
    language: 'Java',
    kind: 'report',
    needs: ['javac', 'java'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Report.java', report)}javac Report.java`,
    run: sh('java Report 0'),
    fixed: sh('java Report 1'),
    registered: {
      on,
      cause: 'String.format parses its format for each line, in both threads',
      kinds: ['optimize', 'overhead', 'kernel'],
      subject: /format|generated|collect|Report/i,
      fix: 'a StringBuilder',
    },
  },
  {
    name: 'python-dict-of-a-manager',
    language: 'Python',
    kind: 'script',
    needs: ['python3'],
    packages: ['python3'],
    prepare: heredoc('tally.py', tally),
    run: sh('/usr/bin/python3 tally.py 0'),
    fixed: sh('/usr/bin/python3 tally.py 1'),
    registered: {
      on,
      cause: 'each access to the dict is a message to the manager process and back',
      kinds: ['io', 'kernel', 'processes', 'overhead', 'dependency'],
      subject: /recv|read|send|write|pipe|socket|process|connection/i,
      fix: 'each process counts by itself first',
    },
  },
];
