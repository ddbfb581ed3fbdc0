/**
 * The third batch of real programs, registered after the mends for what was wrong with the second: like programs.ts.
 * The sources here were written anew, in shapes of well-known benchmarks (Phoenix, binary trees, n-body).
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, third batch';

const power = `// The largest eigenvalue of a small matrix, by power iteration with a library.
#include <cblas.h>
#include <math.h>
#include <stdio.h>
enum { n = 120, rounds = 2000000 };
static double a[n * n], x[n], y[n];
int main(void) {
  for (int k = 0; k < n * n; k++) a[k] = (k % n * 31 + k / n * 31) % 17 / 17.0;
  for (int k = 0; k < n; k++) x[k] = 1;
  double value = 0;
  for (int t = 0; t < rounds; t++) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, a, n, x, 1, 0.0, y, 1);
    value = cblas_dnrm2(n, y, 1);
    for (int k = 0; k < n; k++) x[k] = y[k] / value;
  }
  printf("%.6f\\n", value);
}
`;
const graph = `import java.util.*;
public class Graph {
  static final class Node { Node left, right; int value; Node(int v) { value = v; } }
  static Node tree(int depth) {
    Node n = new Node(depth);
    if (depth > 0) { n.left = tree(depth - 1); n.right = tree(depth - 1); }
    return n;
  }
  static int count(Node n) { return n == null ? 0 : 1 + count(n.left) + count(n.right); }
  public static void main(String[] words) {
    Node kept = tree(20);
    long sum = 0;
    for (int k = 0; k < Integer.parseInt(words[0]); k++) sum += count(tree(14));
    System.out.println(sum + count(kept));
  }
}
`;
const grain = `// Averages over a grid. With 1 each cell is a task of its own (simple_partitioner, grain size 1).
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
static void relax(std::vector<float> &to, const std::vector<float> &from, size_t k, size_t width) {
  to[k] = 0.25f * (from[k - 1] + from[k + 1] + from[k - width] + from[k + width]);
}
int main(int argc, char **argv) {
  const bool fine = argc > 1 && atoi(argv[1]) == 1;
  const size_t width = 1000, height = 1000;
  std::vector<float> a(width * height, 1.0f), b(width * height, 2.0f);
  for (int step = 0; step < 60; step++) {
    auto body = [&](const tbb::blocked_range<size_t> &r) {
      for (size_t k = r.begin(); k != r.end(); k++) relax(b, a, k, width);
    };
    tbb::blocked_range<size_t> all(width, width * (height - 1), 1);
    if (fine) tbb::parallel_for(all, body, tbb::simple_partitioner());
    else tbb::parallel_for(all, body, tbb::auto_partitioner());
    a.swap(b);
  }
  printf("%g\\n", a[width * height / 2]);
}
`;
const pairs = `! Forces of all pairs (i, j > i): rows get shorter.
program pairs
  implicit none
  integer, parameter :: n = 16000
  real(8) :: x(n), f(n), d
  integer :: i, j, step
  do i = 1, n
    x(i) = mod(i * 7919, 10007) * 0.001d0
  end do
  do step = 1, 12
    !$omp parallel do private(j, d) schedule(runtime)
    do i = 1, n
      f(i) = 0
      do j = i + 1, n
        d = x(j) - x(i)
        f(i) = f(i) + d / (sqrt(d * d + 0.01d0) * (d * d + 0.01d0))
      end do
    end do
    x = x + 1d-6 * f
  end do
  print *, sum(x)
end program
`;
const regress = `// Linear regression, a piece for each thread. Each adds up in its element of one array.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct point { signed char x, y; };
struct sums {
  struct point *points;
  long count, sx, sy, sxx, syy, sxy;
#ifdef APART
  char apart[128];
#endif
};
static void *regress(void *arg) {
  volatile struct sums *s = arg;
  for (int round = 0; round < 60; round++)
    for (long k = 0; k < s->count; k++) {
      const struct point p = s->points[k];
      s->sx += p.x, s->sy += p.y, s->sxx += p.x * p.x, s->syy += p.y * p.y, s->sxy += p.x * p.y;
    }
  return NULL;
}
int main(void) {
  enum { threads = 4, n = 12000000 };
  struct point *points = malloc(sizeof *points * n);
  for (long k = 0; k < n; k++) points[k] = (struct point){k % 101, k % 53};
  struct sums *s = calloc(threads, sizeof *s);
  pthread_t t[threads];
  for (int k = 0; k < threads; k++) {
    s[k].points = points + (long)k * n / threads, s[k].count = n / threads;
    pthread_create(&t[k], NULL, regress, &s[k]);
  }
  long sxy = 0;
  for (int k = 0; k < threads; k++) pthread_join(t[k], NULL), sxy += s[k].sxy;
  printf("%ld\\n", sxy);
}
`;
/** A server with TLS, its client beside it, which ends it after some requests. */
const served = (threads: number): string =>
  heredoc(
    `h${threads}.cfg`,
    `global
  nbthread ${threads}
  maxconn 1000
  tune.ssl.cachesize 0
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend all
  bind 127.0.0.1:1844${threads} ssl crt both.pem no-tls-tickets
  http-request return status 200 content-type text/plain string hello
`,
  ) +
  heredoc(
    `serve${threads}.sh`,
    `(sleep 0.4; ab -q -n 800 -c 16 https://127.0.0.1:1844${threads}/ > ab.out 2>&1; kill -USR1 $$) &
exec haproxy -db -f h${threads}.cfg
`,
  );
const loop = (each: string): string => `total=0\nfor n in $(seq 1 3000); do total=${each}; done\necho $total\n`;
const store = (bits: number): string =>
  'db_bench --db=db --use_existing_db=1 --benchmarks=readrandom --num=200000 --reads=400000 --threads=4 ' +
  `--cache_size=100000000 --cache_numshardbits=${bits} --open_files=-1 --value_size=100`;
const pixels = 'ffmpeg -v error -y -f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 40 -pix_fmt yuv420p in.y4m';

export const thirdBatch: readonly Program[] = [
  {
    name: 'rocksdb-one-shard',
    language: 'C++',
    kind: 'store',
    needs: ['db_bench'],
    packages: ['rocksdb-tools'],
    prepare: 'db_bench --db=db --benchmarks=fillseq --num=200000 --value_size=100',
    run: sh(store(0)),
    fixed: sh(store(6)),
    registered: {
      on,
      cause: 'four threads take the mutex of the one shard of the block cache for each block',
      kinds: ['lock-contention', 'overhead', 'oversubscription', 'spinning'],
      subject: /mutex|cache|lru|lock/i,
      fix: '64 shards in place of one',
    },
  },
  {
    name: 'openblas-small-products',
    language: 'C, assembly',
    kind: 'solver',
    needs: ['cc'],
    packages: ['gcc', 'libopenblas-pthread-dev'],
    prepare: `${heredoc('power.c', power)}cc -O2 -g -o power power.c -lopenblas -lm`,
    run: sh('./power'),
    fixed: sh('./power', { OPENBLAS_NUM_THREADS: '1' }),
    registered: {
      on,
      cause: 'products of 120 x 120 are divided among two threads, which yield (sched_yield) until the next one comes',
      kinds: ['spinning', 'overhead', 'oversubscription', 'kernel'],
      subject: /blas|gemv|yield|spin|power/i,
      fix: 'one thread',
      joins: true,
    },
  },
  {
    name: 'rav1e-one-tile',
    language: 'Rust',
    kind: 'media encoder',
    needs: ['rav1e', 'ffmpeg'],
    packages: ['rav1e', 'ffmpeg'],
    prepare: pixels,
    run: { argv: ['sh', '-c', 'rm -f o.ivf; exec rav1e in.y4m -s 8 --limit 30 --threads 2 --tiles 1 -o o.ivf'] },
    fixed: { argv: ['sh', '-c', 'rm -f o.ivf; exec rav1e in.y4m -s 8 --limit 30 --threads 2 --tiles 2 -o o.ivf'] },
    registered: {
      on,
      cause: 'a frame of one tile is encoded by one thread at a time',
      kinds: ['serial', 'starvation'],
      subject: /rav1e|thread|worker/i,
      fix: 'two tiles',
      spreads: true,
    },
  },
  {
    name: 'java-small-heap',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Graph.java', graph)}javac Graph.java`,
    run: sh('java -XX:+UseParallelGC -Xmx110m -cp . Graph 800'),
    fixed: sh('java -XX:+UseParallelGC -Xmx600m -cp . Graph 800'),
    registered: {
      on,
      cause: 'nine tenths of the time two threads collect garbage: the heap is nearly full',
      kinds: ['optimize', 'overhead'],
      subject: /GC|gc|collect|Oop|Mark|heap/,
      fix: 'a heap of 600 MB in place of 110',
    },
  },
  {
    name: 'vips-png',
    language: 'C',
    kind: 'image tool',
    needs: ['vips'],
    packages: ['libvips-tools'],
    prepare: 'vips gaussnoise n.v 5000 5000; vips cast n.v n8.v uchar',
    run: sh("vips gaussblur n8.v 'out.png[compression=6]' 3"),
    fixed: sh("vips gaussblur n8.v 'out.png[compression=1]' 3"),
    registered: {
      on,
      cause: 'one thread at a time writes the PNG file: deflate (libz) takes nearly all the time',
      kinds: ['serial', 'pipeline'],
      subject: /png|libz|deflate|vips/i,
      fix: 'compression 1 in place of 6',
    },
  },
  {
    name: 'haproxy-one-thread',
    language: 'C',
    kind: 'server',
    needs: ['haproxy', 'ab', 'openssl'],
    packages: ['haproxy', 'apache2-utils', 'openssl'],
    prepare:
      'openssl req -x509 -newkey rsa:4096 -nodes -keyout key -out cert -days 30 -subj /CN=localhost 2> openssl.out; ' +
      `cat cert key > both.pem\n${served(1)}${served(2)}`,
    run: sh('sh serve1.sh'),
    fixed: sh('sh serve2.sh'),
    registered: {
      on,
      cause: 'one thread signs for all connections (RSA)',
      kinds: ['serial', 'starvation'],
      subject: /haproxy|crypto|RSA|ssl|bn_/i,
      fix: 'two threads',
      spreads: true,
    },
  },
  {
    name: 'tbb-fine-grain',
    language: 'C++, TBB',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++', 'libtbb-dev'],
    prepare: `${heredoc('grain.cpp', grain)}c++ -O2 -g -o grain grain.cpp -ltbb`,
    run: sh('./grain 1'),
    fixed: sh('./grain 0'),
    registered: {
      on,
      cause: 'each cell is a task: the scheduler takes nearly all the time',
      kinds: ['overhead'],
      subject: /tbb|grain|start_for|task|main/i,
      fix: 'tasks of many cells (auto_partitioner)',
    },
  },
  {
    name: 'fortran-triangle',
    language: 'Fortran, OpenMP',
    kind: 'solver',
    needs: ['gfortran'],
    packages: ['gfortran'],
    prepare: `${heredoc('pairs.f90', pairs)}gfortran -O2 -g -fopenmp -o pairs pairs.f90`,
    run: sh('./pairs', { OMP_SCHEDULE: 'static', OMP_NUM_THREADS: '2' }),
    fixed: sh('./pairs', { OMP_SCHEDULE: 'dynamic,64', OMP_NUM_THREADS: '2' }),
    registered: {
      on,
      cause: 'rows get shorter: the first half of them, with three quarters of the work, belong to one thread',
      kinds: ['imbalance'],
      subject: /pairs|MAIN|omp/i,
      fix: 'schedule(dynamic, 64) in place of static',
    },
  },
  {
    name: 'false-sharing',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare:
      heredoc('regress.c', regress) +
      'cc -O2 -g -pthread -o together regress.c; cc -O2 -g -DAPART -pthread -o apart regress.c',
    run: sh('./together'),
    fixed: sh('./apart'),
    registered: {
      on,
      cause: 'sums of four threads lie in the same cache lines',
      kinds: ['optimize'],
      subject: /regress/,
      fix: '128 bytes between them',
    },
  },
  {
    name: 'shell-expr',
    language: 'shell',
    kind: 'script',
    needs: ['sh', 'expr'],
    packages: ['dash', 'coreutils'],
    prepare: heredoc('forks.sh', loop('$(expr $total + $n % 7)')) + heredoc('builtin.sh', loop('$((total + n % 7))')),
    run: sh('sh forks.sh'),
    fixed: sh('sh builtin.sh'),
    registered: {
      on,
      cause: 'each addition is a process of its own: it is forked, executed and waited for',
      kinds: ['kernel', 'io', 'overhead'],
      subject: /child|\bfork|\bexec|expr/i,
      fix: 'arithmetic of the shell',
    },
  },
];
