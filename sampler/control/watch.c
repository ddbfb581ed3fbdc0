/* See watch.h. */
#include "watch.h"

#include <stdio.h>
#include <unistd.h>
#include "sampler/outside/permission.h"

const char *qzi_watched_because(enum qz_program kind) {
  switch (kind) {
  case QZ_PROGRAM_STATIC: return "is statically linked";
  case QZ_PROGRAM_OTHER_LIBC: return "has another C library than the GNU one";
  case QZ_PROGRAM_SANITIZER: return "has a sanitizer's library";
  default: return NULL;
  }
}

struct qzi_outside *qzi_watch(const struct qzi_recording_request *request, pid_t pid, const char *whose,
                              const char **why) {
  static char text[300];
  const char *refusal = qzi_outside_refusal(pid, text, sizeof text);
  if (refusal) *why = refusal;
  if (refusal || qzi_outside_publishes(pid)) return NULL;
  struct qzi_outside *outside = qzi_outside_open(pid, why);
  if (outside && request->span)
    fprintf(stderr, "quartz: work and span are not known from outside; %s\n",
            request->attached ? "record the program from its start: quartz record --span"
                              : "link it dynamically, or with Quartz (quartz cflags, quartz libs)");
  if (!outside || request->quiet) return outside;
  fprintf(stderr, "quartz: %s: it is watched from outside, with fewer numbers and no exact counts%s\n", whose,
          qzi_outside_readable(pid) ? ""
          : geteuid()
            ? "; the kernel hides its memory and waits from you (see sysctl kernel.yama.ptrace_scope, or run as "
              "root), so only running threads are seen"
            : "; the kernel hides its memory and waits, even from root (a container needs --cap-add SYS_PTRACE), "
              "so only running threads are seen");
  return outside;
}
