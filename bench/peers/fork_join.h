/* Fork-join programs and parallel loops, the same for every system that has tasks. A program defines, before it
 * includes this file:
 *
 *   SCOPE(s), FORK(s, procedure, argument), JOIN(s, procedure)   calls `procedure(argument)` beside the caller; waits
 *                                                      for all such calls
 * if these are not possible in ordinary procedures, how a procedure that uses them is written, left, called by another
 * one, and called from outside:
 *   TASK_PROCEDURE(procedure), LEAVE, CALL_HERE(procedure, argument), CALL_FIRST(procedure, argument)
 * and, if it has loops:
 *   LOOP(begin, end, body, argument)                   calls body(from, to, argument) for parts of a range
 *   LOOP_UNEVEN(begin, end, body, argument)            the same, as one would write it if some elements take longer
 *   REDUCE(begin, end, body, argument)                 the sum of what body(from, to, argument) returns for the parts
 *
 * One operation is one whole run; each result is checked.
 */
#include "measure.h"

#ifndef TASK_PROCEDURE
#define TASK_PROCEDURE(procedure) static void procedure(void *argument)
#define TASK_END
#define LEAVE                           return
#define CALL_HERE(procedure, argument)  procedure(argument)
#define CALL_FIRST(procedure, argument) procedure(argument)
#endif

/* ---- n queens: a task for each place that is free; 10 by 10 ---- */

enum { QUEENS = 10 };
struct queens {
  unsigned columns, left, right; /* taken, as seen from this row */
  int row;
  long solutions;
};
TASK_PROCEDURE(queens_call) {
  struct queens *own = (struct queens *)argument, next[QUEENS];
  if (own->row == QUEENS) {
    own->solutions = 1;
    LEAVE;
  }
  SCOPE(scope);
  int count = 0;
  unsigned taken = own->columns | own->left | own->right;
  for (unsigned place = 1; place < 1u << QUEENS; place <<= 1) {
    if (taken & place) continue;
    next[count].columns = own->columns | place;
    next[count].left = (own->left | place) << 1;
    next[count].right = (own->right | place) >> 1;
    next[count].row = own->row + 1;
    FORK(scope, queens_call, &next[count]);
    count++;
  }
  JOIN(scope, queens_call);
  own->solutions = 0;
  for (int k = 0; k < count; k++) own->solutions += next[k].solutions;
}
TASK_END
static double queens(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    struct queens whole = {0, 0, 0, 0, 0};
    CALL_FIRST(queens_call, &whole);
    must(whole.solutions == 724, "n queens: a wrong number of solutions");
  }
  return now_ns() - begin;
}

/* ---- unbalanced tree search: a node has four children with a probability of 0.23, by a hash of its own name ---- */

enum { TREE_ROOT = 2000, TREE_CHILDREN = 4 };
struct node {
  uint64_t name;
  long nodes;
};
static inline uint64_t hash(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}
TASK_PROCEDURE(tree_call) {
  struct node *own = (struct node *)argument, child[TREE_CHILDREN];
  own->nodes = 1;
  if (own->name >> 32 >= (uint64_t)(0.23 * 4294967296.0)) LEAVE;
  SCOPE(scope);
  for (unsigned k = 0; k < TREE_CHILDREN; k++) {
    child[k].name = hash(own->name + k);
    FORK(scope, tree_call, &child[k]);
  }
  JOIN(scope, tree_call);
  for (int k = 0; k < TREE_CHILDREN; k++) own->nodes += child[k].nodes;
}
TASK_END
static struct node roots[TREE_ROOT];
TASK_PROCEDURE(tree_root) {
  SCOPE(scope);
  long *nodes = (long *)argument;
  for (unsigned i = 0; i < TREE_ROOT; i++) {
    roots[i].name = hash(i);
    FORK(scope, tree_call, &roots[i]);
  }
  JOIN(scope, tree_call);
  for (int i = 0; i < TREE_ROOT; i++) *nodes += roots[i].nodes;
}
TASK_END
static double tree(long n) {
  static long before;
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    long nodes = 0;
    CALL_FIRST(tree_root, &nodes);
    must(nodes > TREE_ROOT && (before == 0 || nodes == before), "the tree has another size");
    before = nodes;
  }
  return now_ns() - begin;
}

/* ---- matrix multiplication by quarters: 256 by 256, down to 32 ---- */

enum { MATRIX = 256, MATRIX_LEAF = 32 };
static float matrix_a[MATRIX][MATRIX], matrix_b[MATRIX][MATRIX], matrix_c[MATRIX][MATRIX];
struct product {
  int row, column, inner, size;
};
TASK_PROCEDURE(product_call) {
  struct product *own = (struct product *)argument, part[4];
  int half = own->size / 2;
  if (own->size == MATRIX_LEAF) {
    int row = own->row, column = own->column, inner = own->inner;
    for (int i = row; i < row + MATRIX_LEAF; i++)
      for (int k = inner; k < inner + MATRIX_LEAF; k++) {
        const float a = matrix_a[i][k], *b = &matrix_b[k][column];
        float *c = &matrix_c[i][column];
        for (int j = 0; j < MATRIX_LEAF; j++) c[j] += a * b[j];
      }
    LEAVE;
  }
  for (int step = 0; step < 2; step++) {
    SCOPE(scope);
    for (int k = 0; k < 4; k++) {
      part[k].row = own->row + (k >> 1) * half;
      part[k].column = own->column + (k & 1) * half;
      part[k].inner = own->inner + step * half;
      part[k].size = half;
      FORK(scope, product_call, &part[k]);
    }
    JOIN(scope, product_call);
  }
}
TASK_END
static double matrix(long n) {
  for (int i = 0; i < MATRIX; i++)
    for (int j = 0; j < MATRIX; j++) matrix_a[i][j] = (float)(i % 7), matrix_b[i][j] = (float)(j % 5);
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    struct product whole = {0, 0, 0, MATRIX};
    memset(matrix_c, 0, sizeof matrix_c);
    CALL_FIRST(product_call, &whole);
    must(matrix_c[6][4] == 6.0f * 4.0f * MATRIX, "the product is wrong");
  }
  return now_ns() - begin;
}

/* ---- quicksort: 200,000 numbers, pieces of at most 64 by insertion ---- */

enum { SORTED = 200000, SORT_LEAF = 64 };
static uint32_t numbers[SORTED];
struct piece {
  uint32_t *low, *high; /* the last one */
};
TASK_PROCEDURE(sort_call) {
  struct piece own = *(struct piece *)argument;
  if (own.high - own.low < SORT_LEAF) {
    for (uint32_t *at = own.low + 1; at <= own.high; at++) {
      uint32_t value = *at, *to = at;
      for (; to > own.low && to[-1] > value; to--) *to = to[-1];
      *to = value;
    }
    LEAVE;
  }
  uint32_t a = *own.low, b = own.low[(own.high - own.low) / 2], c = *own.high;
  uint32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
  uint32_t *left = own.low, *right = own.high;
  while (left <= right) {
    while (*left < pivot) left++;
    while (*right > pivot) right--;
    if (left > right) break;
    uint32_t value = *left;
    *left++ = *right, *right-- = value;
  }
  struct piece below, above;
  below.low = own.low, below.high = right;
  above.low = left, above.high = own.high;
  SCOPE(scope);
  FORK(scope, sort_call, &above);
  if (below.low < below.high) CALL_HERE(sort_call, &below);
  JOIN(scope, sort_call);
}
TASK_END
static double sort(long n) {
  double took = 0;
  for (long k = 0; k < n; k++) {
    for (uint32_t i = 0; i < SORTED; i++) numbers[i] = (uint32_t)hash(i);
    struct piece whole = {numbers, numbers + SORTED - 1};
    double begin = now_ns();
    CALL_FIRST(sort_call, &whole);
    took += now_ns() - begin;
    for (int i = 1; i < SORTED; i++) must(numbers[i - 1] <= numbers[i], "not sorted");
  }
  return took;
}

#ifdef LOOP
/* ---- loops over 100,000 elements, a few instructions each ---- */

enum { ELEMENTS = 100000 };
static double elements[ELEMENTS];
static void scale(int64_t from, int64_t to, void *argument) {
  double by = *(double *)argument;
  for (int64_t k = from; k < to; k++) elements[k] = elements[k] * by + 1;
}
static double loop(long n) {
  double by = 0.5, begin = now_ns();
  for (long k = 0; k < n; k++) LOOP(0, ELEMENTS, scale, &by);
  double took = now_ns() - begin;
  for (int k = 0; k < ELEMENTS; k++) must(elements[k] >= 1 && elements[k] <= 2, "an element was left out");
  return took;
}
/* Nothing to do: what a loop itself takes, of so few elements that it is not worth a processor. */
enum { FEW = 1000 };
static void nothing_of(int64_t from, int64_t to, void *argument) {
  (void)argument;
  __asm__ volatile("" : : "r"(from), "r"(to));
}
static double loop_empty(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) LOOP(0, FEW, nothing_of, NULL);
  return now_ns() - begin;
}
/* Element k takes time in proportion to k: the second half takes three times as long as the first. */
enum { UNEVEN = 2000 };
static int64_t uneven_sum[UNEVEN];
static void triangle(int64_t from, int64_t to, void *argument) {
  int64_t by = *(int64_t *)argument;
  for (int64_t k = from; k < to; k++) {
    int64_t sum = 0;
    for (int64_t i = 0; i < k; i++) sum += (i ^ sum) * by;
    uneven_sum[k] = sum;
  }
}
static double loop_uneven(long n) {
  int64_t by = 7;
  triangle(UNEVEN - 1, UNEVEN, &by);
  int64_t last = uneven_sum[UNEVEN - 1];
  double begin = now_ns();
  for (long k = 0; k < n; k++) LOOP_UNEVEN(0, UNEVEN, triangle, &by);
  double took = now_ns() - begin;
  must(uneven_sum[UNEVEN - 1] == last && uneven_sum[1] == 0, "an element is wrong");
  return took;
}
static int64_t squares(int64_t from, int64_t to, void *argument) {
  int64_t sum = 0, by = *(int64_t *)argument;
  for (int64_t k = from; k < to; k++) sum += k * k % by;
  return sum;
}
static double reduce(long n) {
  int64_t by = 7, expected = squares(0, ELEMENTS, &by);
  double begin = now_ns();
  for (long k = 0; k < n; k++) must(REDUCE(0, ELEMENTS, squares, &by) == expected, "the sum is wrong");
  return now_ns() - begin;
}

#endif

/* 0; 3: there is no such case. */
static int run_fork_join(const char *name) {
  static const struct {
    const char *name;
    double (*run)(long n);
  } cases[] = {
    {"queens", queens},
    {"tree", tree},
    {"matrix", matrix},
    {"sort", sort},
#ifdef LOOP
    {"loop", loop},
    {"loop-empty", loop_empty},
    {"loop-uneven", loop_uneven},
    {"reduce", reduce},
#endif
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (strcmp(name, cases[k].name)) continue;
    measure(cases[k].run, 1, 1);
    return 0;
  }
  return 3;
}
