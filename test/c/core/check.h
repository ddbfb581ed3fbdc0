/* Checks for the tests of the thread package. A failed one says where, and ends the test. */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <stdlib.h>
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      _Exit(1); \
    } \
  } while (0)
#endif
