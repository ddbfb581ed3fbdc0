/* Checks for C tests. A failed one says where, and ends the test: at once, for other kernel threads may be in the
 * middle of something. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(...) /* a condition; in C++ it may hold commas */                   \
  do {                                                                            \
    if (!(__VA_ARGS__)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      _Exit(1);                                                                   \
    }                                                                             \
  } while (0)

/* For calls that return an error number, or another small number. */
#define CHECK_IS(call, expected)                                                                              \
  do {                                                                                                        \
    long long is_ = (long long)(call), should_ = (long long)(expected);                                       \
    if (is_ != should_) {                                                                                     \
      fprintf(stderr, "%s:%d: %s is %lld (%s), not %s\n", __FILE__, __LINE__, #call, is_, strerror((int)is_), \
              #expected);                                                                                     \
      _Exit(1);                                                                                               \
    }                                                                                                         \
  } while (0)

#endif
