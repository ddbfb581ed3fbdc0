/**
 * The rest of the eighth batch: Debian's programs, MPI, Java, Python, memory.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, eighth batch';
const orders = `// Revenue of products is summed by a parallel stream of boxed numbers in lists; with 1, of
// arrays of primitives.
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

public class Orders {
  static final int lines = 3_000_000, rounds = 40;

  static long boxed(List<Integer> quantities, List<Integer> prices) {
    return IntStream.range(0, lines)
        .parallel()
        .boxed()
        .map(k -> (long) quantities.get(k) * prices.get(k))
        .filter(revenue -> revenue % 3 != 0)
        .reduce(0L, Long::sum);
  }

  static long primitive(int[] quantities, int[] prices) {
    return IntStream.range(0, lines)
        .parallel()
        .mapToLong(k -> (long) quantities[k] * prices[k])
        .filter(revenue -> revenue % 3 != 0)
        .sum();
  }

  public static void main(String[] args) {
    boolean arrays = args.length > 0 && args[0].equals("1");
    int[] quantities = new int[lines], prices = new int[lines];
    long x = 1;
    for (int k = 0; k < lines; k++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
      quantities[k] = (int) (x & 1023);
      prices[k] = (int) (x >>> 40 & 65535);
    }
    long sum = 0;
    if (arrays) {
      for (int round = 0; round < rounds; round++) sum += primitive(quantities, prices);
    } else {
      List<Integer> boxedQuantities = new ArrayList<>(lines), boxedPrices = new ArrayList<>(lines);
      for (int k = 0; k < lines; k++) {
        boxedQuantities.add(quantities[k]);
        boxedPrices.add(prices[k]);
      }
      for (int round = 0; round < rounds; round++) sum += boxed(boxedQuantities, boxedPrices);
    }
    System.out.println(sum);
  }
}
`;
const heat = `/* Heat in a bar that is half of iron, by MPI: each process has as many cells, but iron needs
   more steps; with 1, cells are divided by their steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { cells = 6000, times = 3000, iron = 64, wood = 12 };
static double change(double left, double own, double right, int substeps) {
  for (int k = 0; k < substeps; k++) own += 0.2 / substeps * (left - 2 * own + right) + 1e-9 * own * own;
  return own;
}
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int fair = argc > 1 && atoi(argv[1]) == 1;
  const double all = cells / 2.0 * (iron + wood);
  int *first = calloc((size_t)size + 1, sizeof(int));
  for (int r = 1; r <= size; r++) first[r] = (int)((long)cells * r / size);
  if (fair) {
    double sum = 0;
    for (int c = 0, r = 1; c < cells && r < size; c++)
      if ((sum += c < cells / 2 ? iron : wood) >= all * r / size) first[r++] = c + 1;
  }
  double *now = calloc(cells + 2, sizeof(double)), *next = calloc(cells + 2, sizeof(double)), heat = 0;
  for (int c = 1; c <= cells; c++) now[c] = c % 100;
  for (int t = 0; t < times; t++) {
    for (int c = first[rank]; c < first[rank + 1]; c++)
      next[c + 1] = change(now[c], now[c + 1], now[c + 2], c < cells / 2 ? iron : wood);
    const int low = first[rank] + 1, high = first[rank + 1];
    if (rank > 0)
      MPI_Sendrecv(&next[low], 1, MPI_DOUBLE, rank - 1, 0, &next[low - 1], 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    if (rank < size - 1)
      MPI_Sendrecv(&next[high], 1, MPI_DOUBLE, rank + 1, 0, &next[high + 1], 1, MPI_DOUBLE, rank + 1, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double own = 0;
    for (int c = low; c <= high; c++) own += next[c];
    MPI_Allreduce(&own, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double *other = now;
    now = next, next = other;
  }
  if (rank == 0) printf("%.3f\\n", heat);
  MPI_Finalize();
}
`;
const tiles = `# Tiles of a picture are filtered by two processes: each gets its tile pickled through a pipe,
# and sends it back;
# with 1, the picture is in shared memory.
import sys
from multiprocessing import Pool, shared_memory
import numpy as np

SIZE, TILE, ROUNDS = 4096, 512, 3
shared = None


def filtered(tile):
    wide = tile.astype(np.int32)
    return ((wide + np.roll(wide, 1, 0) + np.roll(wide, 1, 1)) // 3).astype(np.float64)


def by_value(tile):
    return filtered(tile)


def attach(name):
    global shared
    shared = shared_memory.SharedMemory(name=name)


def in_place(corner):
    picture = np.ndarray((SIZE, SIZE), np.float64, buffer=shared.buf)
    y, x = corner
    tile = picture[y:y + TILE, x:x + TILE]
    tile[:] = filtered(tile)


def main():
    corners = [(y, x) for y in range(0, SIZE, TILE) for x in range(0, SIZE, TILE)]
    start = np.arange(SIZE * SIZE, dtype=np.float64).reshape(SIZE, SIZE) % 255
    if sys.argv[1] == '1':
        memory = shared_memory.SharedMemory(create=True, size=start.nbytes)
        picture = np.ndarray(start.shape, start.dtype, buffer=memory.buf)
        picture[:] = start
        with Pool(2, attach, (memory.name,)) as pool:
            for _ in range(ROUNDS):
                pool.map(in_place, corners)
        print(picture.sum())
        memory.close()
        memory.unlink()
        return
    picture = start
    with Pool(2) as pool:
        for _ in range(ROUNDS):
            tiles = pool.map(by_value, [picture[y:y + TILE, x:x + TILE] for y, x in corners])
            for (y, x), tile in zip(corners, tiles):
                picture[y:y + TILE, x:x + TILE] = tile
    print(picture.sum())


main()
`;
const stars = `/* Stars fall towards the centre, in OpenMP: kept as structures of 128 bytes; with 1, what moves
   them in arrays. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { stars = 2000000, steps = 200 };
struct star {
  char name[32];
  double mass, temperature, metal[4], luminosity;
  float x, y, vx, vy;
  double age[2], reserved;
};
static struct star *catalogue;
static float *x, *y, *vx, *vy;
static inline void move(float *px, float *py, float *pvx, float *pvy) {
  const float r2 = *px * *px + *py * *py + 1e-3f, pull = 1e-4f / r2;
  *pvx -= pull * *px, *pvy -= pull * *py;
  *px += *pvx, *py += *pvy;
}
static void step_structures(void) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < stars; k++) {
    struct star *one = &catalogue[k];
    move(&one->x, &one->y, &one->vx, &one->vy);
  }
}
static void step_arrays(void) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < stars; k++) move(&x[k], &y[k], &vx[k], &vy[k]);
}
static float coordinate(uint32_t k) { return (float)(k * 2654435761u >> 8) / 16777216.0f - 0.5f; }
int main(int argc, char **argv) {
  const int arrays = argc > 1 && atoi(argv[1]) == 1;
  if (arrays) {
    x = malloc(4 * stars), y = malloc(4 * stars), vx = malloc(4 * stars), vy = malloc(4 * stars);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < stars; k++) x[k] = coordinate(2 * k), y[k] = coordinate(2 * k + 1), vx[k] = vy[k] = 0;
  } else {
    catalogue = malloc(sizeof(struct star) * stars);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < stars; k++) {
      catalogue[k].x = coordinate(2 * k), catalogue[k].y = coordinate(2 * k + 1);
      catalogue[k].vx = catalogue[k].vy = 0;
    }
  }
  double sum = 0;
  for (int step = 0; step < steps; step++) arrays ? step_arrays() : step_structures();
  for (int k = 0; k < stars; k += 97) sum += arrays ? x[k] : catalogue[k].x;
  printf("%.6f\\n", sum);
}
`;
const loans = `# Loans are valued by two processes; each loan gets a process of its own; with 1, each process
# gets half of them.
library(parallel)
prescheduled <- commandArgs(TRUE)[1] == "1"
value <- function(k) {
  rate <- (k * 16807) %% 2147483647 / 2147483647 / 10
  sum(1000 / (1 + rate / 12)^(1:360))
}
values <- mclapply(1:1000, value, mc.cores = 2, mc.preschedule = prescheduled)
cat(sprintf("%.2f\\n", sum(unlist(values))))
`;
const history = `# A dump of a repository: each revision adds a small file.
log = 'K 7\\nsvn:log\\nV 4\\nfile\\nPROPS-END\\n'
print('SVN-fs-dump-format-version: 2\\n')
print(f'Revision-number: 0\\nProp-content-length: {len(log)}\\nContent-length: {len(log)}\\n\\n{log}')
for n in range(1, 101):
    text, none = f'line of {n}\\n' * 20, 'PROPS-END\\n'
    print(f'Revision-number: {n}\\nProp-content-length: {len(log)}\\nContent-length: {len(log)}\\n\\n{log}')
    print(f'Node-path: file{n}\\nNode-kind: file\\nNode-action: add\\nProp-content-length: {len(none)}')
    print(f'Text-content-length: {len(text)}\\nContent-length: {len(none) + len(text)}\\n\\n{none}{text}\\n')
`;
const drawing = `# What is drawn: lines of words.
import random
random.seed(3)
words = ("the quick brown fox jumps over lazy dogs while threads wait for each other at barriers and "
         "nobody knows why").split()
for l in range(16):
    print(f"text 20,{30 * (l + 1)} '{' '.join(random.choice(words) for _ in range(12))}'")
`;
const squares = `\\\\ Squares by threads, which get one number at a time.
f(n)=n^2+1;
export(f);
print(vecsum(parapply(f, vector(300000, k, k))));
quit
`;
const squaresDivided = `\\\\ Squares by threads, which get an eighth of the numbers at a time.
f(n)=n^2+1;
export(f);
print(vecsum(concat(parapply(v->apply(f, v), vector(8, j, vector(37500, k, (j-1)*37500+k))))));
quit
`;
const gp = 'gp -q --default parisize=200000000 --default threadsizemax=64M';
const load = (option: string): Program['run'] => ({
  argv: ['sh', '-c', `rm -rf repo && cp -r empty repo && exec svnadmin load -q${option} repo < dump`],
});
export const eighthBatchMore: readonly Program[] = [
  {
    name: 'java-boxed-stream',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Orders.java', orders)}javac -d . Orders.java`,
    run: sh('java Orders 0'),
    fixed: sh('java Orders 1'),
    registered: {
      on,
      cause: 'a parallel stream makes objects of all its numbers: memory, and its collection',
      kinds: ['overhead', 'optimize', 'kernel'],
      subject: /garbage|collect|alloc|box|Integer|Long|reduce|Orders|object|memory|page/i,
      fix: 'arrays and streams of primitives',
    },
  },
  {
    name: 'mpi-uneven-cells',
    language: 'C, MPI',
    kind: 'solver',
    needs: ['mpicc.mpich', 'mpiexec.mpich'],
    packages: ['mpich', 'libmpich-dev'],
    prepare: `${heredoc('heat.c', heat)}mpicc.mpich -O2 -g -o heat heat.c`,
    run: sh('mpiexec.mpich -n 2 ./heat 0'),
    fixed: sh('mpiexec.mpich -n 2 ./heat 1'),
    registered: {
      on,
      cause: 'one process has five times as much work for as many cells; the other polls for its messages',
      kinds: ['processes', 'imbalance', 'spinning'],
      subject: /MPI|process|rank/i,
      fix: 'cells are divided by their work',
    },
  },
  {
    name: 'python-pickled-tiles',
    language: 'Python',
    kind: 'application',
    needs: ['python3'],
    packages: ['python3', 'python3-numpy'],
    prepare: heredoc('tiles.py', tiles),
    run: sh('python3 tiles.py 0'),
    fixed: sh('python3 tiles.py 1'),
    registered: {
      on,
      cause: 'tiles of 2 MiB are pickled, and go through pipes to two processes and back',
      kinds: ['kernel', 'serial', 'io', 'processes', 'overhead'],
      subject: /pickle|read|write|pipe|copy|memmove|memcpy|recv|send|process/i,
      fix: 'the picture is in shared memory',
    },
  },
  {
    name: 'openmp-structures',
    language: 'C, OpenMP',
    kind: 'application',
    needs: ['cc'],
    packages: ['gcc'],
    prepare: `${heredoc('stars.c', stars)}cc -O2 -g -fopenmp -o stars stars.c -lm`,
    run: sh('./stars 0'),
    fixed: sh('./stars 1'),
    registered: {
      on,
      cause: 'a loop uses 16 bytes of each structure of 128: it waits for memory',
      kinds: ['optimize'],
      subject: /step_structures/i,
      fix: 'the four used numbers are in arrays',
    },
  },
  {
    name: 'tesseract-four-threads',
    language: 'C++, OpenMP',
    kind: 'text recognition',
    needs: ['tesseract', 'gm', 'python3'],
    packages: ['tesseract-ocr', 'tesseract-ocr-eng', 'graphicsmagick', 'fonts-dejavu-core', 'python3'],
    prepare: `${heredoc('drawing.py', drawing)}python3 drawing.py > drawing.txt
gm convert -size 1400x520 xc:white -font /usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf \\
  -pointsize 22 -fill black -draw @drawing.txt page.png`,
    run: sh('tesseract page.png page'),
    fixed: sh('tesseract page.png page', { OMP_THREAD_LIMIT: '1' }),
    registered: {
      on,
      cause: 'regions of four threads on two CPUs for microseconds of work: threads spin and yield at their barriers',
      kinds: ['oversubscription', 'spinning', 'overhead'],
      subject: /OpenMP|gomp|thread|barrier|spin/i,
      fix: 'one thread',
    },
  },
  {
    name: 'pari-element-by-element',
    language: 'C',
    kind: 'algebra',
    needs: ['gp'],
    packages: ['pari-gp'],
    prepare: `${heredoc('squares.gp', squares)}${heredoc('squares-divided.gp', squaresDivided)}`,
    run: sh(`${gp} squares.gp`),
    fixed: sh(`${gp} squares-divided.gp`),
    registered: {
      on,
      cause: 'parapply passes on 300,000 numbers one by one: mutexes, conditions and switches for microseconds of work',
      kinds: ['overhead', 'lock-contention', 'dependency'],
      subject: /condition|mutex|parapply|wak|woken|pari|hand/i,
      fix: 'eight parts of the vector are passed on',
    },
  },
  {
    name: 'r-process-for-each-loan',
    language: 'R',
    kind: 'statistics',
    needs: ['Rscript'],
    packages: ['r-base-core'],
    prepare: heredoc('loans.R', loans),
    run: sh('Rscript loans.R 0'),
    fixed: sh('Rscript loans.R 1'),
    registered: {
      on,
      cause: 'a process is forked for each of 1,000 short evaluations',
      kinds: ['overhead', 'kernel', 'io', 'processes'],
      subject: /fork|child|process/i,
      fix: 'each of two processes gets half of them',
    },
  },
  {
    name: 'subversion-load',
    language: 'C',
    kind: 'version control',
    needs: ['svnadmin', 'python3'],
    packages: ['subversion', 'python3'],
    prepare: `${heredoc('history.py', history)}python3 history.py > dump
svnadmin create empty`,
    run: load(''),
    fixed: load(' --no-flush-to-disk'),
    registered: {
      on,
      cause: 'each revision is flushed to the disk seven times',
      kinds: ['io', 'kernel'],
      subject: /sync|disk/i,
      fix: 'nothing is flushed',
    },
  },
];
