/**
 * The sixth batch of real programs, registered after the mends for what was wrong with the fifth: like programs.ts.
 * Causes are by knowledge of the programs, and by plain tools and experiments: time, other settings.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, sixth batch';

const words = `use threads;
use threads::shared;
# Four threads count words in one hash that they share, each under its lock; with 1, in a hash of their own.
my $own = $ARGV[0];
my %count : shared;
sub work {
  my %mine;
  my $x = shift;
  for my $k (1 .. 60000) {
    $x = ($x * 48271) % 2147483647;
    if ($own) { $mine{ $x % 97 }++ }
    else { lock(%count); $count{ $x % 97 }++ }
  }
  if ($own) { lock(%count); $count{$_} += $mine{$_} for keys %mine }
}
$_->join for map { threads->create(\\&work, $_) } 1 .. 4;
print scalar(keys %count), "\\n";
`;
const passwords = `// Eight passwords are hashed by the pool of libuv.
const crypto = require('crypto');
let left = 8;
for (let k = 0; k < 8; k++)
  crypto.pbkdf2('password' + k, 'salt', 150000, 64, 'sha512', () => { if (--left === 0) console.log('done'); });
`;
const counter = `import java.util.concurrent.atomic.*;
/** Two threads count requests: in one AtomicLong; with 1, in a LongAdder. */
public class Count {
  static final AtomicLong one = new AtomicLong();
  static final LongAdder many = new LongAdder();
  public static void main(String[] a) throws Exception {
    boolean adder = a.length > 0 && a[0].equals("1");
    Thread[] t = new Thread[2];
    for (int w = 0; w < 2; w++) {
      final long from = w + 1;
      t[w] = new Thread(() -> {
        long x = from, hits = 0;
        for (int k = 0; k < 40_000_000; k++) {
          x ^= x << 13; x ^= x >>> 7; x ^= x << 17;
          if (adder) many.increment(); else one.incrementAndGet();
          hits += x & 1;
        }
        if (hits == 3) System.out.println(hits);
      });
      t[w].start();
    }
    for (Thread one : t) one.join();
    System.out.println(one.get() + many.sum());
  }
}
`;
const lines = `// Numbers go from one goroutine to two others, by a channel without room; in pieces of the given size.
package main

import "C"
import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func mix(x uint64) uint64 {
	for k := 0; k < 30; k++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
func main() {
	size, _ := strconv.Atoi(os.Args[1])
	pieces := make(chan []uint64)
	var all sync.WaitGroup
	sums := make([]uint64, 32)
	for w := 0; w < 2; w++ {
		all.Add(1)
		go func(w int) {
			defer all.Done()
			for piece := range pieces {
				for _, x := range piece {
					sums[16*w] += mix(x)
				}
			}
		}(w)
	}
	var piece []uint64
	for k := uint64(1); k <= 2000000; k++ {
		piece = append(piece, k)
		if len(piece) == size {
			pieces <- piece
			piece = make([]uint64, 0, size)
		}
	}
	close(pieces)
	all.Wait()
	fmt.Println(sums[0] + sums[16])
}
`;
const trees = `// Trees are built and thrown away beside one that stays.
package main

import "C"
import "fmt"

type tree struct{ left, right *tree }

func build(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{build(depth - 1), build(depth - 1)}
}
func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}
func main() {
	stays := build(17)
	sum := 0
	for k := 0; k < 60; k++ {
		sum += build(15).count()
	}
	fmt.Println(sum + stays.count())
}
`;
const print = `// A table is printed line by line; with 1 through a buffer of its own.
use std::io::{BufWriter, Write};
fn main() {
    if std::env::args().nth(1).as_deref() == Some("1") {
        let mut out = BufWriter::new(std::io::stdout());
        for k in 0..1_500_000u64 { writeln!(out, "{} {}", k, k * k).unwrap(); }
    } else {
        for k in 0..1_500_000u64 { println!("{} {}", k, k * k); }
    }
}
`;
/** A server, and its client beside it, which ends it after all requests. */
const served = (port: number, atOnce: number): string =>
  heredoc(
    `serve${atOnce}.sh`,
    `(sleep 0.3; redis-benchmark -p ${port} -q -n 200000 -c 8 -t set -P ${atOnce} > bench.out 2>&1
redis-cli -p ${port} shutdown nosave) &
exec redis-server --port ${port} --save '' --appendonly no --daemonize no
`,
  );
export const sixthBatch: readonly Program[] = [
  {
    name: 'redis-one-at-a-time',
    language: 'C',
    kind: 'store',
    needs: ['redis-server', 'redis-benchmark', 'redis-cli'],
    packages: ['redis-server', 'redis-tools'],
    prepare: served(18650, 1) + served(18650, 32),
    run: sh('sh serve1.sh'),
    fixed: sh('sh serve32.sh'),
    registered: {
      on,
      cause: 'each request of some bytes is a call that reads and one that writes, by the only thread',
      kinds: ['kernel', 'serial'],
      subject: /redis|read|write|call|send|recv/i,
      fix: '32 requests at a time (pipelining)',
    },
  },
  {
    name: 'perl-shared-hash',
    language: 'Perl',
    kind: 'application',
    needs: ['perl'],
    packages: ['perl'],
    prepare: heredoc('words.pl', words),
    run: sh('perl words.pl 0'),
    fixed: sh('perl words.pl 1'),
    registered: {
      on,
      cause:
        "each change of a shared variable takes the lock of the interpreter's shared memory, beside the hash's own",
      kinds: ['lock-contention', 'overhead', 'spinning', 'oversubscription', 'dependency'],
      subject: /lock|mutex|shared|cond|hand/i,
      fix: 'a hash for each thread, added at the end',
    },
  },
  {
    name: 'node-one-pool-thread',
    language: 'JavaScript',
    kind: 'application',
    needs: ['node'],
    packages: ['nodejs'],
    prepare: heredoc('passwords.js', passwords),
    run: sh('node passwords.js', { UV_THREADPOOL_SIZE: '1' }),
    fixed: sh('node passwords.js', { UV_THREADPOOL_SIZE: '2' }),
    registered: {
      on,
      cause: 'one thread of the pool computes all hashes',
      kinds: ['serial', 'starvation'],
      subject: /node|pbkdf2|crypto|sha512|worker|uv|PBKDF2/i,
      fix: 'two threads',
      spreads: true,
    },
  },
  {
    name: 'java-one-counter',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['openjdk-17-jdk-headless'],
    prepare: `${heredoc('Count.java', counter)}javac Count.java`,
    run: sh('java Count 0'),
    fixed: sh('java Count 1'),
    registered: {
      on,
      cause: 'two threads change one counter: its cache line goes to and fro',
      kinds: ['optimize', 'overhead'],
      subject: /generated|Count|lambda|java/i,
      fix: 'a LongAdder',
    },
  },
  {
    name: 'go-channel-without-room',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('lines.go', lines)}go build -ldflags=-linkmode=external -o lines lines.go`,
    run: sh('./lines 1'),
    fixed: sh('./lines 1000'),
    registered: {
      on,
      cause:
        'numbers are passed on one by one through a channel without room: goroutines are switched, woken and parked',
      kinds: ['overhead', 'lock-contention', 'oversubscription', 'dependency', 'spinning', 'pipeline'],
      subject: /chan|lock|sched|wake|hand|pass|futex|main/i,
      fix: '1,000 numbers at a time',
    },
  },
  {
    name: 'go-eager-collection',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('trees.go', trees)}go build -ldflags=-linkmode=external -o trees trees.go`,
    run: sh('./trees', { GOGC: '5' }),
    fixed: sh('./trees', { GOGC: '400' }),
    registered: {
      on,
      cause: 'garbage is collected whenever the heap has grown by a twentieth',
      kinds: ['overhead'],
      subject: /collect|garbage/i,
      fix: 'when it has grown fivefold',
    },
  },
  {
    name: 'rust-line-by-line',
    language: 'Rust',
    kind: 'application',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('print.rs', print)}rustc -O -g -o print print.rs`,
    run: sh('./print 0'),
    fixed: sh('./print 1'),
    registered: {
      on,
      cause: 'each line is written by a system call of its own',
      kinds: ['kernel'],
      subject: /write|call/i,
      fix: 'a buffer',
    },
  },
];
