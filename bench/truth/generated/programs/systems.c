#define _GNU_SOURCE
/* Components that ask the system: sleep, small calls, pipes, memory that comes and goes. */
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "crew.h"

/* sleep: t threads, n readings in all of a us, and b us of sleep after each. fix: none. */
WORK(take_reading)
__attribute__((noipa)) static void watch_sensor(const struct spec *spec) {
  for (long k = 0; k < spec->count / spec->threads; k++) {
    take_reading(spec->a);
    if (!spec->fix) usleep((useconds_t)spec->b);
  }
}
static void *watcher(void *member) {
  watch_sensor(((const struct member *)member)->spec);
  return NULL;
}
static void run_sleep(const struct spec *spec) {
  if (spec->threads == 1)
    watch_sensor(spec);
  else
    run_crew(spec, spec->threads, watcher);
}

/* calls: n bytes are copied from a file of memory to another, c at a time, with a ns for each. fix: 64 KiB. */
WORK(check_bytes)
__attribute__((noipa)) static void copy_log(int from, int to, long bytes, size_t each, double us) {
  static _Thread_local char block[65536];
  long at = 0;
  for (long left = bytes; left > 0; left -= (long)each, at = (at + (long)each) % (1 << 20)) {
    if (pread(from, block, each, at) < 0) abort();
    check_bytes(us * (double)each);
    if (pwrite(to, block, each, at) < 0) abort();
  }
}
static int memory_file(const char *name) {
  int file = memfd_create(name, 0);
  if (file < 0 || ftruncate(file, (1 << 20) + 65536) != 0) abort();
  return file;
}
static void *copier(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  int from = memory_file("log"), to = memory_file("copy");
  copy_log(from, to, spec->count / spec->threads, spec->fix ? 65536 : (size_t)spec->size, spec->a / 1000);
  close(from);
  close(to);
  return NULL;
}
static void run_calls(const struct spec *spec) { run_crew(spec, spec->threads, copier); }

/* pipe: n messages of c bytes go to another thread and back, with a us of work for each. fix: 64 of them at a time. */
static int out_pipe[2], back_pipe[2];
WORK(build_message)
WORK(read_message)
static void pass(int file, size_t bytes, ssize_t (*call)(int, char *, size_t)) {
  static _Thread_local char message[65536];
  for (size_t done = 0; done < bytes;) {
    ssize_t now = call(file, message, bytes - done);
    if (now <= 0) abort();
    done += (size_t)now;
  }
}
static ssize_t send_bytes(int file, char *message, size_t bytes) { return write(file, message, bytes); }
static ssize_t receive_bytes(int file, char *message, size_t bytes) { return read(file, message, bytes); }
static void *correspondent(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  int each = spec->fix ? 64 : 1;
  size_t bytes = (size_t)spec->size * (size_t)each;
  for (long k = 0; k < spec->count / each; k++) {
    if (self->index == 0) {
      for (int one = 0; one < each; one++) build_message(spec->a);
      pass(out_pipe[1], bytes, send_bytes);
      pass(back_pipe[0], (size_t)each, receive_bytes);
    } else {
      pass(out_pipe[0], bytes, receive_bytes);
      for (int one = 0; one < each; one++) read_message(spec->b);
      pass(back_pipe[1], (size_t)each, send_bytes);
    }
  }
  return NULL;
}
static void run_pipe(const struct spec *spec) {
  if (pipe(out_pipe) != 0 || pipe(back_pipe) != 0) abort();
  run_crew(spec, 2, correspondent);
}

/* churn: n pages of c KiB, each from malloc and back to it, with a us of work. fix: one for each thread, again. */
WORK(draw_page)
__attribute__((noipa)) static void render_pages(const struct spec *spec) {
  size_t bytes = (size_t)spec->size << 10;
  char *kept = spec->fix ? malloc(bytes) : NULL;
  for (long k = 0; k < spec->count / spec->threads; k++) {
    char *page = spec->fix ? kept : malloc(bytes);
    for (size_t at = 0; at < bytes; at += 4096) ((volatile char *)page)[at] = (char)k;
    draw_page(spec->a);
    if (!spec->fix) free(page);
  }
  free(kept);
}
static void *renderer(void *member) {
  render_pages(((const struct member *)member)->spec);
  return NULL;
}
static void run_churn(const struct spec *spec) {
  mallopt(M_MMAP_THRESHOLD, 128 << 10); /* setting it keeps malloc from raising it with the first page */
  run_crew(spec, spec->threads, renderer);
}

const struct component system_components[] = {
  {"sleep", run_sleep}, {"calls", run_calls}, {"pipe", run_pipe}, {"churn", run_churn}, {NULL, NULL},
};
