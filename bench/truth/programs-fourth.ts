/**
 * The fourth batch of real programs, registered after the mends for what was wrong with the third: like programs.ts.
 * Causes are by plain tools and experiments: perf stat (software counters), strace -c, other numbers of threads.
 */
import { heredoc, sh, text } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, fourth batch';

const records = `// Records go through a pipeline: read, decode, count. With 1 records are decoded one after the other.
#include <tbb/parallel_pipeline.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
using record = std::vector<uint32_t>;
static uint32_t mix(uint32_t x, int rounds) {
  for (int k = 0; k < rounds; k++) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return x;
}
static record *decode(record *r) {
  for (uint32_t &x : *r) x = mix(x, 500);
  return r;
}
static uint64_t total;
static void count(record *r) {
  for (uint32_t x : *r) total += mix(x, 60) & 255;
  delete r;
}
int main(int argc, char **argv) {
  const auto mode = argc > 1 && atoi(argv[1]) == 1 ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel;
  uint32_t next = 0;
  auto read = [&](tbb::flow_control &end) -> record * {
    if (next == 1500) return end.stop(), nullptr;
    record *r = new record(1000);
    for (uint32_t &x : *r) x = mix(next * 1000003u + 1, 20);
    next++;
    return r;
  };
  tbb::parallel_pipeline(
      16, tbb::make_filter<void, record *>(tbb::filter_mode::serial_in_order, read) &
              tbb::make_filter<record *, record *>(mode, [](record *r) { return decode(r); }) &
              tbb::make_filter<record *, void>(tbb::filter_mode::serial_in_order, [](record *r) { count(r); }));
  printf("%lu\\n", (unsigned long)total);
}
`;
const smooth = `! Gauss-Seidel by colours on a small grid: a parallel region for each sweep over some hundred cells.
program smooth
  implicit none
  integer, parameter :: n = 240, sweeps = 1000000
  real(8) :: u(0:n+1), f(n)
  integer :: i, s
  u = 0
  do i = 1, n
    f(i) = mod(i * 7919, 101) * 0.01d0
  end do
  do s = 1, sweeps
    !$omp parallel do schedule(static)
    do i = 1 + mod(s, 2), n, 2
      u(i) = 0.5d0 * (u(i - 1) + u(i + 1) + f(i))
    end do
    !$omp end parallel do
  end do
  print *, sum(u)
end program
`;
const temporaries = `import numpy, threading
def work():
    a, b = numpy.arange(1 << 20, dtype=float), numpy.ones(1 << 20)
    for _ in range(120):
        c = a * 2.0 + b * 3.0 - a * b
        b = c - numpy.floor(c)
threads = [threading.Thread(target=work) for _ in range(2)]
for one in threads: one.start()
for one in threads: one.join()
`;
const hand = `import java.util.concurrent.*;
public class Hand {
  public static void main(String[] words) throws Exception {
    int room = Integer.parseInt(words[0]), n = 120000;
    BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(room);
    Thread reader = new Thread(() -> {
      try { for (int k = 0; k < n; k++) queue.put(work(k)); queue.put(-1); } catch (InterruptedException e) { }
    });
    reader.start();
    long sum = 0;
    for (int x; (x = queue.take()) != -1; ) sum += work(x);
    reader.join();
    System.out.println(sum);
  }
  static int work(int x) { int y = x; for (int k = 0; k < 100; k++) y ^= y << 13 ^ y >>> 7; return y & 0x7fffffff; }
}
`;
const spheres =
  `awk 'BEGIN { print "BEGIN_SCENE\\nRESOLUTION 640 480\\nCAMERA\\nZOOM 1.0\\nASPECTRATIO 1.0\\nANTIALIASING 0\\n` +
  'RAYDEPTH 3\\nCENTER 0.0 0.0 -6.0\\nVIEWDIR 0 0 1\\nUPDIR 0 1 0\\nEND_CAMERA\\n' +
  'LIGHT CENTER 5 5 -5 RAD 0.1 COLOR 1 1 1"; for (k = 0; k < 1500; k++) printf "SPHERE\\nCENTER %g %g %g\\nRAD 0.1\\n' +
  'TEXTURE AMBIENT 0.2 DIFFUSE 0.8 SPECULAR 0.1 OPACITY 1.0 COLOR 1 %g 0.5 TEXFUNC 0\\n", ' +
  '(k * 7919 % 401) / 100 - 2, (k * 104729 % 307) / 100 - 1.5, (k * 1299709 % 211) / 100, k % 10 / 10; ' +
  `print "END_SCENE" }' > balls.dat`;
const makefile = `all: $(patsubst %.c,%.o,$(wildcard f*.c))
f%.o: f%.c
	cc -O2 -c -o $@ $<
`;
const sources =
  'for k in $(seq 40); do { for h in stdio stdlib string; do echo "#include <$h.h>"; done; ' +
  'echo "int f$k(int x) { char b[99]; snprintf(b, sizeof b, \\"%d\\", x); return atoi(b) + (int)strlen(b); }"; } ' +
  '> f$k.c; done';
/** A server with four threads, and its client beside it, which ends it after some requests. */
const served = (level: number): string => `cat > h${level}.conf <<END
ServerRoot $PWD
ServerName localhost
Listen 127.0.0.1:1854${level}
PidFile $PWD/pid
ErrorLog $PWD/error.log
LoadModule mpm_worker_module /usr/lib/apache2/modules/mod_mpm_worker.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
TypesConfig /etc/mime.types
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
User www-data
Group www-data
DocumentRoot $PWD/www
SetOutputFilter DEFLATE
DeflateCompressionLevel ${level}
END
cat > serve${level}.sh <<'END'
(sleep 0.4; ab -q -n 250 -c 4 -H 'Accept-Encoding: gzip' http://127.0.0.1:1854${level}/page.txt > ab.out 2>&1
kill -TERM $$) &
exec apache2 -f "$PWD/h${level}.conf" -DFOREGROUND
END
`;
export const fourthBatch: readonly Program[] = [
  {
    name: '7z-lzma',
    language: 'C++',
    kind: 'compressor',
    needs: ['7z'],
    packages: ['p7zip-full'],
    prepare: `${text}; head -c 5000000 text > part`,
    run: sh('7z a -bd -m0=lzma -mx=7 -mmt=2 a.7z part'),
    fixed: sh('7z a -bd -m0=lzma2:c=1m -mx=7 -mmt=4 b.7z part'),
    registered: {
      on,
      cause:
        'the input is one block: one thread finds matches, all the time, and one codes them, 40 % of it: no more ' +
        'threads can help',
      kinds: ['pipeline', 'serial'],
      subject: /7z|match|bt\d|lz/i,
      fix: 'blocks of 1 MiB, compressed at the same time',
      spreads: true,
    },
  },
  {
    name: 'tachyon-no-bounds',
    language: 'C',
    kind: 'renderer',
    needs: ['tachyon'],
    packages: ['tachyon'],
    prepare: spheres,
    run: sh('tachyon balls.dat -numthreads 2 -nobounding -o picture.tga'),
    fixed: sh('tachyon balls.dat -numthreads 2 -o picture.tga'),
    registered: {
      on,
      cause: 'each ray is intersected with each of 1,500 spheres; both CPUs are busy: only less work helps',
      kinds: ['optimize'],
      subject: /tachyon|sphere|intersect|trace|shade/i,
      fix: 'bounding volumes',
    },
  },
  {
    name: 'kyoto-prototype',
    language: 'C++',
    kind: 'store',
    needs: ['kcprototest'],
    packages: ['kyotocabinet-utils'],
    run: sh('kcprototest order -th 4 200000'),
    fixed: sh('kcprototest order -th 1 800000'),
    registered: {
      on,
      cause: 'four threads take the one read-write lock of the database for each record, mostly to write',
      kinds: ['lock-contention', 'overhead', 'spinning', 'oversubscription'],
      subject: /lock|kyoto|kc|ProtoDB/i,
      fix: 'one thread for all records',
      joins: true,
    },
  },
  {
    name: 'numpy-temporaries',
    language: 'Python',
    kind: 'library',
    needs: ['/usr/bin/python3'],
    packages: ['python3', 'python3-numpy'],
    prepare: heredoc('temporaries.py', temporaries),
    run: sh('/usr/bin/python3 temporaries.py'),
    fixed: sh('/usr/bin/python3 temporaries.py', {
      MALLOC_MMAP_THRESHOLD_: '1000000000',
      MALLOC_TRIM_THRESHOLD_: '2000000000',
    }),
    registered: {
      on,
      cause: 'each intermediate array of 8 MB is mapped, faulted in and unmapped; two threads do so',
      kinds: ['kernel'],
      subject: /memory|fault|unmap|malloc/i,
      fix: 'thresholds of malloc that keep memory',
    },
  },
  {
    name: 'java-queue-of-one',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Hand.java', hand)}javac -d . Hand.java`,
    run: sh('java -cp . Hand 1'),
    fixed: sh('java -cp . Hand 1024'),
    registered: {
      on,
      cause: 'a queue with room for one element: two threads hand each element over, and sleep, for 0.3 µs of work',
      kinds: ['overhead', 'lock-contention', 'oversubscription', 'dependency', 'spinning', 'pipeline'],
      subject: /queue|futex|lock|condition|hand|java|park|mutex/i,
      fix: 'room for 1,024',
    },
  },
  {
    name: 'make-one-job',
    language: 'C, make',
    kind: 'process tree',
    needs: ['make', 'cc'],
    packages: ['make', 'gcc'],
    prepare: `${heredoc('Makefile', makefile)}${sources}`,
    run: sh('make -B -j1'),
    fixed: sh('make -B -j2'),
    registered: {
      on,
      cause: 'one compilation at a time',
      kinds: ['serial', 'starvation', 'io'],
      subject: /child|make|cc1/i,
      fix: 'two jobs',
      spreads: true,
    },
  },
  {
    name: 'fortran-small-regions',
    language: 'Fortran, OpenMP',
    kind: 'solver',
    needs: ['gfortran'],
    packages: ['gfortran'],
    prepare: `${heredoc('smooth.f90', smooth)}gfortran -O2 -g -fopenmp -o smooth smooth.f90`,
    run: sh('./smooth', { OMP_NUM_THREADS: '2' }),
    fixed: sh('./smooth', { OMP_NUM_THREADS: '1' }),
    registered: {
      on,
      cause: 'a million parallel regions of 0.2 µs of work: starting and ending them takes nine tenths',
      kinds: ['overhead', 'spinning'],
      subject: /gomp|omp|smooth|MAIN/i,
      fix: 'one thread',
      joins: true,
    },
  },
  {
    name: 'ripgrep-regex',
    language: 'Rust',
    kind: 'search',
    needs: ['rg'],
    packages: ['ripgrep'],
    prepare: `${text}; echo 'words of a line that comes again x' >> text`,
    run: sh(String.raw`rg -j2 '(?i)(\w+\s+){3}that\s+\w+\s+again\s+x' text text text text text`),
    fixed: sh(`rg -j2 -F 'comes again x' text text text text text`),
    registered: {
      on,
      cause: 'an automaton goes through each byte of the text; two threads, both CPUs are busy: only less work helps',
      kinds: ['optimize'],
      subject: /\brg\b|regex|dfa|nfa|search/i,
      fix: 'a literal, which finds the same line',
    },
  },
  {
    name: 'apache-deflate',
    language: 'C',
    kind: 'server',
    needs: ['/usr/sbin/apache2', 'ab'],
    packages: ['apache2-bin', 'apache2-utils'],
    prepare: `${text}; mkdir www; head -c 300000 text > www/page.txt; chmod 755 .. . www\n${served(9)}${served(1)}`,
    run: sh('sh serve9.sh', { PATH: '/usr/sbin:/usr/bin:/bin' }),
    fixed: sh('sh serve1.sh', { PATH: '/usr/sbin:/usr/bin:/bin' }),
    registered: {
      on,
      cause: 'each page is compressed at level 9 when it is sent; both CPUs are busy: only less work helps',
      kinds: ['optimize'],
      subject: /deflate|longest_match|libz|zlib/i,
      fix: 'level 1',
    },
  },
  {
    name: 'tbb-serial-filter',
    language: 'C++, TBB',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++', 'libtbb-dev'],
    prepare: `${heredoc('records.cpp', records)}c++ -O2 -g -o records records.cpp -ltbb`,
    run: sh('./records 1'),
    fixed: sh('./records 0'),
    registered: {
      on,
      cause: 'the filter that decodes takes one record at a time, and has 80 % of the work',
      kinds: ['pipeline', 'serial'],
      subject: /decode|mix|filter|main::\{lambda|operator\(\)/i,
      fix: 'a parallel filter',
    },
  },
];
