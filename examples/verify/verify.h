/* One comparison of two circuits: what was asked for, and its results. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "match.h"
#include "work.h"

/* The program as it was, step by step, while it was tuned; each stage includes the one before. */
enum stage { STAGE_INITIAL, STAGE_NOLOG, STAGE_PARALLEL_INPUT, STAGE_TUNED, STAGES };

enum { EXIT_EQUAL = 0, EXIT_DIFFERENT = 1, EXIT_WRONG_INPUT = 2, EXIT_UNDECIDED = 3 };

struct request {
  const char *files[2];
  enum stage stage;
  enum match_by match;
  const char *log; /* trace log, NULL: none */
  unsigned workers;
  size_t limit; /* diagram nodes for each attempt at each pair */
  int table;    /* print every pair */
  int quiet;    /* print the verdict alone */
  int times;    /* print the elapsed time of each phase, on stderr */
};

/* Compares, prints, and returns the program's exit status. Errors are printed too. */
int verify(const struct request *request);
/* Prints the results of finished work; returns the exit status that they mean. */
int print_results(const struct request *request, const struct netlist *const circuits[2],
                  const struct matching *matching, const struct work *work);

#endif
