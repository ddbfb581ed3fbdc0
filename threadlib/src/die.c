/* The end of a program that misuses the package: one line on stderr, then abort().
 *
 * Owns:    nothing.
 * Must not: allocate, or use stdio streams (the program may hold their locks).
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void qzi_die(const char *format, ...) {
  char text[1024] = "quartz: ";
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text + 8, sizeof text - 10, format, list);
  va_end(list);
  size_t bytes = 8 + (length < 0 ? 0 : (size_t)length < sizeof text - 11 ? (size_t)length : sizeof text - 11);
  text[bytes++] = '\n';
  ssize_t written = write(STDERR_FILENO, text, bytes);
  (void)written;
  abort();
}
