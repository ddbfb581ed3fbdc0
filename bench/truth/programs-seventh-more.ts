/**
 * The rest of the seventh batch: allocation, OpenMP, Python, media.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, seventh batch';
const strings = `/* Four threads make and release lists of strings. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint64_t sums[4 * 16];
static void *lists(void *which) {
  uint64_t *sum = which, x = (uint64_t)(sum - sums) + 1;
  for (int round = 0; round < 100000; round++) {
    char *list[64];
    for (int k = 0; k < 64; k++) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      list[k] = malloc(1100 + x % 900);
      memset(list[k], (int)x, 32);
    }
    for (int k = 0; k < 64; k++) *sum += (uint8_t)list[k][7], free(list[k]);
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], 0, lists, &sums[16 * k]);
  for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
  uint64_t sum = 0;
  for (int k = 0; k < 4; k++) sum += sums[16 * k];
  printf("%lu\\n", (unsigned long)sum);
}
`;
const queens = `/* Places of queens are counted by tasks, one for each queen; with a depth, only for so many rows. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 12 };
static int depth = n;
static long place(int row, unsigned columns, unsigned left, unsigned right) {
  if (row == n) return 1;
  long part[n], sum = 0;
  for (int c = 0; c < n; c++) {
    unsigned bit = 1u << c;
    part[c] = 0;
    if ((columns | left | right) & bit) continue;
#pragma omp task shared(part) firstprivate(c, bit) if (row < depth)
    part[c] = place(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
#pragma omp taskwait
  for (int c = 0; c < n; c++) sum += part[c];
  return sum;
}
static long serially(int row, unsigned columns, unsigned left, unsigned right) {
  if (row == n) return 1;
  long sum = 0;
  for (int c = 0; c < n; c++) {
    unsigned bit = 1u << c;
    if (!((columns | left | right) & bit))
      sum += serially(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return sum;
}
static long cut(int row, unsigned columns, unsigned left, unsigned right) {
  if (row == depth) return serially(row, columns, left, right);
  long part[n], sum = 0;
  for (int c = 0; c < n; c++) {
    unsigned bit = 1u << c;
    part[c] = 0;
    if ((columns | left | right) & bit) continue;
#pragma omp task shared(part) firstprivate(c, bit)
    part[c] = cut(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
#pragma omp taskwait
  for (int c = 0; c < n; c++) sum += part[c];
  return sum;
}
int main(int argc, char **argv) {
  if (argc > 1) depth = atoi(argv[1]);
  long all = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 4; k++) all += depth < n ? cut(0, 0, 0, 0) : place(0, 0, 0, 0);
  printf("%ld\\n", all);
}
`;
const inner = `/* Systems are solved side by side, each by a solver that is parallel itself. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 4000, systems = 8 };
static void relax(double *x, const double *b) {
  for (int sweep = 0; sweep < 200; sweep++) {
#pragma omp parallel for
    for (int k = 1; k < n - 1; k++) x[n + k] = 0.5 * (x[k - 1] + x[k + 1]) + b[k];
#pragma omp parallel for
    for (int k = 1; k < n - 1; k++) x[k] = 0.5 * (x[n + k - 1] + x[n + k + 1]) + b[k];
  }
}
int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
  for (int s = 0; s < systems; s++) {
    double *x = calloc(2 * n, sizeof *x), *b = malloc(n * sizeof *b);
    for (int k = 0; k < n; k++) b[k] = sin(k * (s + 1.0)) / n;
    relax(x, b);
    sum += x[n / 2];
    free(x), free(b);
  }
  printf("%.6f\\n", sum);
}
`;
const smooth = `/* A picture is smoothed, column by column; with 1, row by row. */
#include <stdio.h>
#include <stdlib.h>
enum { n = 3000 };
static float (*from)[n], (*to)[n];
static float mean(int y, int x) {
  return (from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x]) / 4;
}
int main(int argc, char **argv) {
  const int rows = argc > 1 && atoi(argv[1]) == 1;
  from = malloc(sizeof(float[n][n])), to = malloc(sizeof(float[n][n]));
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) from[y][x] = (float)((x * 31 + y * 17) % 255), to[y][x] = 0;
  for (int pass = 0; pass < 24; pass++) {
    if (rows) {
#pragma omp parallel for
      for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) to[y][x] = mean(y, x);
    } else {
#pragma omp parallel for
      for (int x = 1; x < n - 1; x++)
        for (int y = 1; y < n - 1; y++) to[y][x] = mean(y, x);
    }
    float(*other)[n] = from;
    from = to, to = other;
  }
  double sum = 0;
  for (int k = 0; k < n; k++) sum += from[k][k];
  printf("%.1f\\n", sum);
}
`;
const plate = `! A field is advanced: by array statements in a workshare; with 1, by a loop that is divided.
program plate
  implicit none
  integer, parameter :: n = 1000
  real(8), allocatable :: a(:,:), b(:,:)
  integer :: step, i, j
  character(8) :: arg
  allocate(a(n, n), b(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = 1d-3 * (i + j)
    end do
  end do
  call get_command_argument(1, arg)
  !$omp parallel private(step, i, j)
  do step = 1, 100
    if (arg == '1') then
      !$omp do
      do j = 1, n
        do i = 1, n
          b(i, j) = sin(a(i, j)) * exp(-0.1d0 * a(i, j))
          a(i, j) = 0.99d0 * a(i, j) + cos(b(i, j))
        end do
      end do
      !$omp end do
    else
      !$omp workshare
      b = sin(a) * exp(-0.1d0 * a)
      a = 0.99d0 * a + cos(b)
      !$omp end workshare
    end if
  end do
  !$omp end parallel
  print *, sum(a)
end program
`;
const score = `/* Scores of two sequences by dynamic programming: called from Python. */
#include <stdint.h>
#include <stdlib.h>
long score(long seed, long n) {
  int *row = calloc((size_t)n + 1, sizeof(int));
  uint64_t x = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
  long best = 0;
  for (long i = 0; i < n; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    int diagonal = 0, letter = (int)(x & 3);
    for (long j = 1; j <= n; j++) {
      int above = row[j], same = (((unsigned long)j * 2654435761u >> 7) & 3) == (unsigned long)letter, s;
      s = diagonal + (same ? 2 : -1);
      if (s < above - 1) s = above - 1;
      if (s < row[j - 1] - 1) s = row[j - 1] - 1;
      if (s < 0) s = 0;
      diagonal = above, row[j] = s;
      if (s > best) best = s;
    }
  }
  free(row);
  return best;
}
`;
const align = `# Pairs are scored by a C library, in four threads: loaded by PyDLL; with 1 by CDLL.
import ctypes, os, sys
from concurrent.futures import ThreadPoolExecutor
path = os.path.join(os.getcwd(), 'libscore.so')
library = (ctypes.CDLL if sys.argv[1] == '1' else ctypes.PyDLL)(path)
library.score.argtypes = [ctypes.c_long, ctypes.c_long]
library.score.restype = ctypes.c_long
with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda seed: library.score(seed, 3000), range(1, 121))))
`;
const interpolated = (how: string): string =>
  'ffmpeg -v error -y -f lavfi -i testsrc2=size=320x240:rate=10:duration=4 ' +
  `-vf minterpolate=fps=30${how} -c:v libx264 -preset fast -f null -`;
export const seventhBatchMore: readonly Program[] = [
  {
    name: 'c-one-arena',
    language: 'C',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('strings.c', strings)}cc -O2 -g -o strings strings.c -pthread`,
    run: sh('./strings', { MALLOC_ARENA_MAX: '1' }),
    fixed: sh('./strings', { MALLOC_ARENA_MAX: '4' }),
    registered: {
      on,
      cause: 'four threads allocate from one arena, whose lock they wait for',
      kinds: ['lock-contention', 'overhead', 'spinning', 'oversubscription'],
      subject: /malloc|free|alloc|arena/i,
      fix: 'an arena for each thread',
    },
  },
  {
    name: 'openmp-task-for-each-queen',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('queens.c', queens)}cc -O2 -g -fopenmp -o queens queens.c`,
    run: sh('./queens'),
    fixed: sh('./queens 3'),
    registered: {
      on,
      cause: 'each call is a task, the library takes most of the time',
      kinds: ['overhead'],
      subject: /OpenMP|task|GOMP/i,
      fix: 'tasks for three rows only',
    },
  },
  {
    name: 'openmp-nested',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('inner.c', inner)}cc -O2 -g -fopenmp -o inner inner.c -lm`,
    run: sh('./inner', { OMP_MAX_ACTIVE_LEVELS: '2' }),
    fixed: sh('./inner', { OMP_MAX_ACTIVE_LEVELS: '1' }),
    registered: {
      on,
      cause: 'each of two threads starts regions of two threads for microseconds of work: more threads than CPUs',
      kinds: ['overhead', 'oversubscription', 'spinning'],
      subject: /OpenMP|region|relax|thread/i,
      fix: 'one level of regions',
    },
  },
  {
    name: 'openmp-columns',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('smooth.c', smooth)}cc -O2 -g -fopenmp -o smooth smooth.c`,
    run: sh('./smooth 0'),
    fixed: sh('./smooth 1'),
    registered: {
      on,
      cause: 'loops in the wrong order: each access is to another cache line',
      kinds: ['optimize'],
      subject: /main|smooth/i,
      fix: 'rows outside, columns inside',
    },
  },
  {
    name: 'fortran-workshare',
    language: 'Fortran, OpenMP',
    kind: 'application',
    needs: ['gfortran'],
    packages: ['gfortran'],
    prepare: `${heredoc('plate.f90', plate)}gfortran -O2 -g -fopenmp -o plate plate.f90`,
    run: sh('./plate 0'),
    fixed: sh('./plate 1'),
    registered: {
      on,
      cause: 'gfortran lets one thread do a workshare, the other waits at its end',
      kinds: ['serial', 'imbalance', 'starvation'],
      subject: /MAIN__|plate/i,
      fix: 'a loop that is divided',
      spreads: true,
    },
  },
  {
    name: 'python-library-keeps-lock',
    language: 'Python',
    kind: 'application',
    needs: ['python3', 'cc'],
    packages: ['python3', 'gcc'],
    prepare: `${heredoc('score.c', score)}${heredoc('align.py', align)}cc -O2 -g -shared -fPIC -o libscore.so score.c`,
    run: sh('python3 align.py 0'),
    fixed: sh('python3 align.py 1'),
    registered: {
      on,
      cause: "a C library is called with the interpreter's lock held",
      kinds: ['lock-contention', 'serial', 'dependency'],
      subject: /_PyRuntime|lock|score|one at a time/i,
      fix: 'a way to call it that releases the lock',
    },
  },
  {
    name: 'ffmpeg-interpolation',
    language: 'C, assembly',
    kind: 'media',
    needs: ['ffmpeg'],
    packages: ['ffmpeg'],

    run: sh(interpolated('')),
    fixed: sh(interpolated(':mi_mode=blend')),
    registered: {
      on,
      cause: 'a filter that interpolates motion runs in one thread, the encoder waits for it',
      kinds: ['serial', 'pipeline', 'starvation', 'imbalance'],
      subject: /avfilter|minterpolate|search|interpol|libav|ffmpeg/i,
      fix: 'frames are blended',
    },
  },
];
