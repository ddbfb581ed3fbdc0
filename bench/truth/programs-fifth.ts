/**
 * The fifth batch of real programs, registered after the mends for what was wrong with the fourth: like programs.ts.
 * Causes are by knowledge of the programs, and by plain tools and experiments: time, other numbers of threads.
 */
import { heredoc, sh, text } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, fifth batch';

const channel = `// Lines are parsed by one thread and added up by another; a channel passes each one on.
use std::sync::mpsc::sync_channel;
use std::thread;
fn parse(k: u64) -> u64 {
    let mut x = k | 1;
    for _ in 0..40 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    x
}
fn main() {
    let batch: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let (to, from) = sync_channel::<Vec<u64>>(1);
    let parser = thread::spawn(move || {
        let mut lines = Vec::new();
        for k in 0..120_000u64 {
            lines.push(parse(k));
            if lines.len() == batch { to.send(std::mem::take(&mut lines)).unwrap(); }
        }
    });
    let mut sum = 0u64;
    for lines in from { for x in lines { sum = sum.wrapping_add(parse(x)); } }
    parser.join().unwrap();
    println!("{sum}");
}
`;
const pool = `import multiprocessing, sys
def check(x):
    return sum(ord(c) for c in str(x)) % 7
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.imap(check, range(100000), int(sys.argv[1]))))
`;
const cache = `// Four workers look words up in one cache, each under the cache's lock; with 1, in a cache of its own.
package main

import "C"
import (
	"fmt"
	"os"
	"sync"
)

type cache struct {
	lock  sync.Mutex
	words map[uint64]uint64
}

func (c *cache) look(key uint64) uint64 {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.words[key]++
	return c.words[key]
}
func main() {
	own := len(os.Args) > 1 && os.Args[1] == "1"
	shared := &cache{words: map[uint64]uint64{}}
	var all sync.WaitGroup
	for w := 0; w < 4; w++ {
		all.Add(1)
		go func(w uint64) {
			defer all.Done()
			c := shared
			if own {
				c = &cache{words: map[uint64]uint64{}}
			}
			x := w + 1
			for k := 0; k < 10000000; k++ {
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
				c.look(x & 1023)
			}
		}(uint64(w))
	}
	all.Wait()
	fmt.Println(len(shared.words))
}
`;
const histogram = `// Values are computed in parallel and counted in a critical section, with 1 by thread.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint64_t bins[256];
static unsigned value(uint64_t x) {
  for (int k = 0; k < 20; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x & 255;
}
int main(int count, char **words) {
  const int own = count > 1 && atoi(words[1]);
#pragma omp parallel
  {
    uint64_t mine[256] = {0};
#pragma omp for
    for (int k = 0; k < 40000000; k++) {
      unsigned v = value(k + 1);
      if (own)
        mine[v]++;
      else
#pragma omp critical
        bins[v]++;
    }
#pragma omp critical
    for (int k = 0; k < 256; k++) bins[k] += mine[k];
  }
  printf("%lu\\n", (unsigned long)bins[7]);
}
`;
const buffers = `// Requests are answered from buffers of 40 MiB that each request takes, fills and gives back.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *serve(void *argument) {
  uint64_t sum = 0;
  for (int request = 0; request < 100; request++) {
    unsigned char *buffer = malloc(40 << 20);
    memset(buffer, request, 40 << 20);
    for (int k = 0; k < 40 << 20; k += 4096) sum += buffer[k];
    free(buffer);
  }
  *(uint64_t *)argument = sum;
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  uint64_t sums[2];
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, serve, &sums[k]);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  printf("%lu\\n", (unsigned long)(sums[0] + sums[1]));
}
`;
const references = `// Requests of two threads look the settings up; with 1 each takes a reference of its own to them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>
struct settings { uint64_t salt = 0x9e3779b97f4a7c15; };
static uint64_t answer(std::shared_ptr<settings> s, uint64_t x) { return (x ^ s->salt) * 0xff51afd7ed558ccd; }
static uint64_t answer_by_reference(const settings &s, uint64_t x) { return (x ^ s.salt) * 0xff51afd7ed558ccd; }
int main(int argc, char **argv) {
  const bool copies = argc > 1 && atoi(argv[1]) == 1;
  auto s = std::make_shared<settings>();
  uint64_t sums[16] = {};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; t++)
    threads.emplace_back([&, t] {
      uint64_t x = t + 1;
      for (int k = 0; k < 80000000; k++) x = copies ? answer(s, x) : answer_by_reference(*s, x);
      sums[8 * t] = x;
    });
  for (auto &t : threads) t.join();
  printf("%lu\\n", (unsigned long)(sums[0] ^ sums[8]));
}
`;
const proteins =
  `awk 'BEGIN { srand(7); a = "ACDEFGHIKLMNPQRSTVWY"; for (n = 0; n < 60000; n++) { print ">s" n; s = ""; ` +
  `for (k = 0; k < 200; k++) s = s substr(a, 1 + int(rand() * 20), 1); print s } }' > all.fa; ` +
  'head -48 all.fa > some.fa';
const reads =
  `awk 'BEGIN { srand(3); print "@SQ\\tSN:c1\\tLN:10000000"; b = "ACGT"; for (k = 0; k < 100; k++) q = q "I"; ` +
  `for (n = 0; n < 120000; n++) { s = ""; for (k = 0; k < 100; k++) s = s substr(b, 1 + int(rand() * 4), 1); ` +
  'print "r" n "\\t0\\tc1\\t" 1 + int(rand() * 9999000) "\\t60\\t100M\\t*\\t0\\t0\\t" s "\\t" q } }' +
  `' > reads.sam`;
/** A server with one worker process, and its client beside it, which ends it after some requests. */
const served = (level: number): string => `cat > n${level}.conf <<END
user root;
daemon off;
worker_processes 1;
pid $PWD/n${level}.pid;
error_log $PWD/n.log;
events { worker_connections 64; }
http {
  access_log off;
  types { text/plain txt; }
  client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3;
  uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5;
  server {
    listen 127.0.0.1:1864${level};
    root $PWD/www;
    gzip on;
    gzip_http_version 1.0;
    gzip_comp_level ${level};
    gzip_types text/plain;
  }
}
END
cat > serve${level}.sh <<'END'
(sleep 0.4; ab -q -n 120 -c 4 -H 'Accept-Encoding: gzip' http://127.0.0.1:1864${level}/page.txt > ab.out 2>&1
kill -QUIT $$) &
exec nginx -c "$PWD/n${level}.conf"
END
`;
const system = { PATH: '/usr/sbin:/usr/bin:/bin' };
export const fifthBatch: readonly Program[] = [
  {
    name: 'phmmer-one-worker',
    language: 'C',
    kind: 'bioinformatics',
    needs: ['phmmer'],
    packages: ['hmmer'],
    prepare: proteins,
    run: sh('phmmer --cpu 1 -o /dev/null some.fa all.fa'),
    fixed: sh('phmmer --cpu 2 -o /dev/null some.fa all.fa'),
    registered: {
      on,
      cause: 'main reads sequences for one worker, which compares them all',
      kinds: ['serial', 'starvation'],
      subject: /phmmer|pipeline|worker|p7_|thread/i,
      fix: 'two workers',
      spreads: true,
    },
  },
  {
    name: 'samtools-sort-level-9',
    language: 'C',
    kind: 'bioinformatics',
    needs: ['samtools'],
    packages: ['samtools'],
    prepare: reads,
    run: sh('samtools sort -@ 2 -l 9 -o out.bam reads.sam'),
    fixed: sh('samtools sort -@ 2 -l 1 -o out.bam reads.sam'),
    registered: {
      on,
      cause: 'blocks are compressed at level 9 by two threads, both CPUs are busy: only less work helps',
      kinds: ['optimize'],
      subject: /deflate|compress|bgzf/i,
      fix: 'level 1',
    },
  },
  {
    name: 'graphicsmagick-png',
    language: 'C, OpenMP',
    kind: 'image tool',
    needs: ['gm'],
    packages: ['graphicsmagick'],
    prepare: 'gm convert -size 2400x1800 plasma:red-blue in.ppm',
    run: sh('gm convert in.ppm -blur 0x8 out.png'),
    fixed: sh('gm convert in.ppm -blur 0x8 out.ppm'),
    registered: {
      on,
      cause: 'the picture is blurred by two threads, then one compresses it for PNG: nine tenths of the time',
      kinds: ['serial'],
      subject: /png|deflate|libz/i,
      fix: 'a format without compression',
    },
  },
  {
    name: 'nginx-gzip',
    language: 'C',
    kind: 'server',
    needs: ['/usr/sbin/nginx', 'ab'],
    packages: ['nginx', 'apache2-utils'],
    prepare: `${text}; mkdir www; head -c 300000 text > www/page.txt\n${served(9)}${served(1)}`,
    run: sh('sh serve9.sh', system),
    fixed: sh('sh serve1.sh', system),
    registered: {
      on,
      cause: 'one worker, forked by the master, compresses each page at level 9; it has one thread',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /deflate|longest_match|libz|zlib/i,
      fix: 'level 1',
    },
  },
  {
    name: 'python-pool-of-small-tasks',
    language: 'Python',
    kind: 'application',
    needs: ['/usr/bin/python3'],
    packages: ['python3'],
    prepare: heredoc('pool.py', pool),
    run: sh('/usr/bin/python3 pool.py 1'),
    fixed: sh('/usr/bin/python3 pool.py 1000'),
    registered: {
      on,
      cause: 'two processes get one number at a time: pipes, semaphores and pickling take all but a twentieth',
      kinds: ['overhead', 'kernel', 'io', 'lock-contention', 'dependency', 'oversubscription', 'pipeline'],
      subject: /read|write|sem|lock|pipe|hand|wait/i,
      fix: '1,000 numbers at a time',
    },
  },
  {
    name: 'rust-channel-of-one',
    language: 'Rust',
    kind: 'application',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('channel.rs', channel)}rustc -O -g -o channel channel.rs`,
    run: sh('./channel 1'),
    fixed: sh('./channel 1000'),
    registered: {
      on,
      cause: 'a channel with room for one line: two threads wait for each other (yield, sleep) for 0.1 µs of work',
      kinds: ['overhead', 'lock-contention', 'oversubscription', 'dependency', 'spinning', 'pipeline'],
      subject: /channel|mpsc|send|recv|yield|futex|array/i,
      fix: '1,000 lines at a time',
    },
  },
  {
    name: 'go-one-cache',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('cache.go', cache)}go build -ldflags=-linkmode=external -o cache cache.go`,
    run: sh('./cache 0'),
    fixed: sh('./cache 1'),
    registered: {
      on,
      cause: 'four goroutines take the lock of one map for some tens of nanoseconds at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription', 'dependency'],
      subject: /lock|mutex|futex|sema|cache/i,
      fix: 'a map for each goroutine',
    },
  },
  {
    name: 'openmp-critical',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('histogram.c', histogram)}cc -O2 -g -fopenmp -o histogram histogram.c`,
    run: sh('./histogram 0', { OMP_NUM_THREADS: '4' }),
    fixed: sh('./histogram 1', { OMP_NUM_THREADS: '4' }),
    registered: {
      on,
      cause: 'each value is added in a critical section, which four threads enter for a nanosecond at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription'],
      subject: /critical|gomp|omp|lock/i,
      fix: 'a histogram for each thread',
    },
  },
  {
    name: 'large-buffers',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('buffers.c', buffers)}cc -O2 -g -o buffers buffers.c -pthread`,
    run: sh('./buffers'),
    fixed: sh('./buffers', { MALLOC_MMAP_THRESHOLD_: '1000000000', MALLOC_TRIM_THRESHOLD_: '2000000000' }),
    registered: {
      on,
      cause: 'each buffer is mapped, faulted in and unmapped',
      kinds: ['kernel'],
      subject: /memory|fault|unmap|malloc/i,
      fix: 'thresholds of malloc that keep memory',
    },
  },
  {
    name: 'shared-references',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('references.cpp', references)}c++ -O2 -g -o references references.cpp -pthread`,
    run: sh('./references 1'),
    fixed: sh('./references 0'),
    registered: {
      on,
      cause: 'two threads change one reference count for each request: its cache line goes to and fro',
      kinds: ['optimize'],
      subject: /answer|_M_release|_Sp_counted|shared|_M_run|lambda|references/i,
      fix: 'the settings by reference',
    },
  },
];
