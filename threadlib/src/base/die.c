/* Abort of a program that misuses the package: one line on stderr, then abort(); and the texts for places in such
 * lines.
 *
 * Owns:    nothing.
 * Must not: allocate, or use stdio streams (the program may hold their locks).
 */
#define _GNU_SOURCE
#include "die.h"
#include "thread.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

const char *qzi_place_text(uint64_t place, char *text, size_t bytes) {
  Dl_info info;
  if (!place)
    snprintf(text, bytes, "an unknown place");
  else if (!dladdr((void *)(uintptr_t)place, &info) || !info.dli_fname)
    snprintf(text, bytes, "0x%jx", (uintmax_t)place);
  else {
    const char *slash = strrchr(info.dli_fname, '/');
    uintptr_t base = (uintptr_t)info.dli_fbase, offset = (uintptr_t)place - base;
    int length = snprintf(text, bytes, "%s+0x%jx", slash ? slash + 1 : info.dli_fname, (uintmax_t)offset);
    if (info.dli_sname && length > 0 && (size_t)length < bytes)
      snprintf(text + length, bytes - (size_t)length, " (%s)", info.dli_sname);
  }
  return text;
}
