/* The program's environment, and the programs that it starts.
 *
 * The launcher's variables are taken out of the environment before the program sees it, so that it and its children
 * find what they would without Quartz. They are given again where the launched process replaces itself by another
 * program (exec), to what a wrapper starts (follow.c), or to every program where children are recorded; but never to
 * one that the layer does not fit: that would not start, or would complain.
 *
 * Owns:    the launcher's variables as they were. Writer: the constructor, once. Reader: whoever starts a program.
 * Must not: allocate or change memory: between vfork and exec that is the parent's.
 */
#include "pthread-layer/src/layer.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/launcher.h"
#include "abi/program.h"
#include "abi/sandbox.h"
#include "publisher/private.h"

#define PRELOAD  "LD_PRELOAD="
#define SESSION  QZ_CHANNEL_ENV "="
#define CHILDREN QZ_CHILDREN_ENV "="
#define MEASURED QZ_CALIBRATION_ENV "="
#define LAYER    "/libquartz-pthread.so"

static char layer[PATH_MAX], session[256]; /* path of the layer, entry of the session; "": the launcher gave none */
static char measured[512];                 /* entry of what this process has measured; "": nothing */
static enum { NO_CHILDREN, FOLLOWED_CHILDREN, ALL_CHILDREN } children;
static bool followed; /* this process is itself a wrapper's child */
static pid_t launched;

extern char **environ;

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* Length of the first entry of LD_PRELOAD's value, with the separator, where it is a file of that name; else 0. */
static size_t entry_of(const char *value, const char *name) {
  size_t length = strcspn(value, ": "), bytes = strlen(name);
  if (length < bytes || strncmp(value + length - bytes, name, bytes)) return 0;
  return length + (value[length] != 0);
}

/* Length of what the layer's launcher put at the beginning of it; 0: nothing. */
static size_t layer_part(const char *value) {
  size_t part = entry_of(value, LAYER);
  return part ? part + entry_of(value + part, QZ_MPI_LAYER) : 0;
}

/* By hand: a program may have an unsetenv of its own, which knows nothing of the environment yet (bash). */
static void forget(const char *name) {
  char **to = environ;
  for (char **from = environ; from && *from; from++)
    if (!begins(*from, name)) *to++ = *from;
  if (to) *to = NULL;
}

void qzl_environment_take(bool again) {
  const char *preload = getenv("LD_PRELOAD"), *name = getenv(QZ_CHANNEL_ENV), *which = getenv(QZ_CHILDREN_ENV);
  size_t part = preload ? layer_part(preload) : 0;
  if (!part || !name) return;
  if (snprintf(session, sizeof session, SESSION "%s", name) >= (int)sizeof session) session[0] = 0;
  if (snprintf(layer, sizeof layer, "%.*s", (int)strcspn(preload, ": "), preload) >= (int)sizeof layer) layer[0] = 0;
  followed = which && !strcmp(which, QZ_CHILDREN_FOLLOWED);
  if (which && !strcmp(which, QZ_CHILDREN_ALL)) children = ALL_CHILDREN;
  if (qzi_publishing() && (followed || (which && !strcmp(which, QZ_CHILDREN_FOLLOW)))) children = FOLLOWED_CHILDREN;
  if (!again || (followed && !qzi_publishing()))
    session[0] = 0;
  else
    launched = getpid();
  size_t named = strlen(MEASURED);
  memcpy(measured, MEASURED, named + 1);
  if (!qzi_calibration_text(measured + named, sizeof measured - named)) measured[0] = 0;
  if (children == ALL_CHILDREN) return;
  if (children == FOLLOWED_CHILDREN) qzl_follow_begin();
  forget(SESSION);
  forget(CHILDREN);
  forget(MEASURED);
  if (!preload[part])
    forget(PRELOAD);
  else
    memmove((char *)(uintptr_t)preload, preload + part, strlen(preload + part) + 1);
}

/* Whom the launcher's variables are for. */
enum whom { NOBODY, ITSELF, ITS_CHILD };

/* What the program to be started needs. */
struct needs {
  enum whom whom; /* NOBODY: it is started as the caller asks */
  bool session, layer;
  size_t entries, preload_bytes; /* room for its environment */
};

/* The system calls of qz_program_at and qz_program_named. */
static void look_for_trial(void) {
  struct stat state;
  char byte;
  int fd = open("/", O_RDONLY | O_CLOEXEC), failed = 0;
  failed += getpid() + (int)geteuid() + (int)getegid() < 0;
  failed += access("/", X_OK) + stat("/", &state) + fstat(fd, &state);
  failed += pread(fd, &byte, 1, 0) < 0;
  failed += fgetxattr(fd, "security.capability", NULL, 0) < 0;
  __asm__ volatile("" : : "r"(failed)); /* nobody asks what became of them */
  close(fd);
}

const char *qzl_follow_sampler(void) {
  return children == FOLLOWED_CHILDREN && *session ? session + strlen(SESSION) : NULL;
}

/* Whether what the process becomes, or (child) starts, may need the launcher's variables: then its file is looked at.
 * Where the program has limited its system calls, it goes its way without, unless looking does no harm. */
static enum whom concerns(bool child) {
  if (!*session || (child && !children) || (qzi_no_system_calls && !qz_sandbox_survives(look_for_trial))) return NOBODY;
  if (!child && getpid() == launched) return ITSELF;
  if (children == FOLLOWED_CHILDREN) return !qzi_no_system_calls && qzl_follows(!child) ? ITS_CHILD : NOBODY;
  return children ? ITS_CHILD : NOBODY;
}

/* Not in a changed root, nor for another user who may not read it: the dynamic linker would complain to the program's
 * users. */
static bool layer_is_here(void) {
  int fd = *layer ? open(layer, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static struct needs needs_of(enum whom whom, enum qz_program kind, char *const *environment) {
  struct needs needs = {.whom = whom};
  needs.layer = kind == QZ_PROGRAM_PLAIN && layer_is_here();
  needs.session = needs.layer || kind == QZ_PROGRAM_PACKAGE;
  if (whom == ITSELF || children == ALL_CHILDREN)
    needs.session |= kind == QZ_PROGRAM_STATIC || kind == QZ_PROGRAM_PRIVILEGED;
  if (needs.session && whom == ITS_CHILD && children == FOLLOWED_CHILDREN) qzl_follow_count();
  needs.preload_bytes = strlen(PRELOAD) + 2 * strlen(layer) + strlen("/mpi-layer" QZ_MPI_LAYER) + 4;
  for (; environment && environment[needs.entries]; needs.entries++)
    if (begins(environment[needs.entries], PRELOAD)) needs.preload_bytes += strlen(environment[needs.entries]);
  needs.entries += 5;
  return needs;
}

static void fill(const struct needs *needs, char *const *environment, char **to, char *preload) {
  const char *rest = "";
  size_t count = 0, place = SIZE_MAX;
  for (char *const *entry = environment; entry && *entry; entry++) {
    if (begins(*entry, SESSION) || begins(*entry, CHILDREN) || begins(*entry, MEASURED)) continue;
    if (begins(*entry, PRELOAD)) {
      if (place != SIZE_MAX) continue;
      rest = *entry + strlen(PRELOAD);
      rest += layer_part(rest);
      place = count;
    }
    to[count++] = *entry;
  }
  if (place == SIZE_MAX && needs->layer) place = count++;
  if (place != SIZE_MAX) {
    size_t used = strlen(PRELOAD);
    memcpy(preload, PRELOAD, used + 1);
    if (needs->layer) qz_launcher_layers(layer, environment, preload + used, needs->preload_bytes - used);
    used += strlen(preload + used);
    snprintf(preload + used, needs->preload_bytes - used, "%s%s", needs->layer && *rest ? ":" : "", rest);
    to[place] = preload;
  }
  if (needs->session) {
    to[count++] = session;
    if (*measured && needs->layer) to[count++] = measured;
    if (children == ALL_CHILDREN) to[count++] = (char *)(uintptr_t)(CHILDREN QZ_CHILDREN_ALL);
    if (children == FOLLOWED_CHILDREN)
      to[count++] = (char *)(uintptr_t)(needs->whom == ITSELF && !followed ? CHILDREN QZ_CHILDREN_FOLLOW
                                                                           : CHILDREN QZ_CHILDREN_FOLLOWED);
  }
  to[count] = NULL;
}

/* `environment` becomes the one to start it with; lives as long as the calling function. */
#define FIT(kind, child)                                                                  \
  enum whom whom = concerns(child);                                                       \
  struct needs needs = whom ? needs_of(whom, kind, environment) : (struct needs){NOBODY}; \
  char *entries[needs.entries + 1], preload[needs.preload_bytes + 1];                     \
  if (whom) {                                                                             \
    fill(&needs, environment, entries, preload);                                          \
    environment = entries;                                                                \
  }
#define NEXT(name) ((__typeof__(&name))qzl_next(#name, NULL))

static __typeof__(&execve) real_execve;
static __typeof__(&execvpe) real_execvpe;
static __typeof__(&fexecve) real_fexecve;
static __typeof__(&posix_spawn) real_posix_spawn, real_posix_spawnp;

/* Looked up early: the dynamic linker must not be asked between vfork and exec. */
__attribute__((constructor)) static void resolve(void) {
  if (real_execve) return;
  real_execvpe = NEXT(execvpe);
  real_fexecve = NEXT(fexecve);
  real_posix_spawn = NEXT(posix_spawn);
  real_posix_spawnp = NEXT(posix_spawnp);
  real_execve = NEXT(execve);
}

static int run_at(const char *path, char *const *arguments, char *const *environment) {
  resolve();
  FIT(qz_program_at(path), false);
  return real_execve(path, arguments, environment);
}
static int run_named(const char *name, char *const *arguments, char *const *environment) {
  resolve();
  FIT(qz_program_named(name), false);
  return real_execvpe(name, arguments, environment);
}

QZL_EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  return run_at(path, arguments, environment);
}
QZL_EXPORT int execv(const char *path, char *const arguments[]) { return run_at(path, arguments, environ); }
QZL_EXPORT int execvp(const char *name, char *const arguments[]) { return run_named(name, arguments, environ); }
QZL_EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[]) {
  return run_named(name, arguments, environment);
}
QZL_EXPORT int fexecve(int fd, char *const arguments[], char *const environment_given[]) {
  char *const *environment = environment_given;
  char path[64];
  resolve();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FIT(qz_program_at(path), false);
  return real_fexecve(fd, arguments, environment);
}

/* Collects what follows `first`; `after`: the environment comes behind the NULL. */
#define COLLECT(first)                        \
  va_list list;                               \
  size_t count = 1;                           \
  va_start(list, first);                      \
  while (va_arg(list, const char *)) count++; \
  va_end(list);                               \
  char *arguments[count + 1];                 \
  arguments[0] = (char *)(uintptr_t)first;    \
  va_start(list, first);                      \
  for (size_t k = 1; k <= count; k++) arguments[k] = va_arg(list, char *)

QZL_EXPORT int execl(const char *path, const char *first, ...) {
  COLLECT(first);
  va_end(list);
  return run_at(path, arguments, environ);
}
QZL_EXPORT int execlp(const char *name, const char *first, ...) {
  COLLECT(first);
  va_end(list);
  return run_named(name, arguments, environ);
}
QZL_EXPORT int execle(const char *path, const char *first, ...) {
  COLLECT(first);
  char *const *environment = va_arg(list, char *const *);
  va_end(list);
  return run_at(path, arguments, environment);
}

QZL_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                           char *const environment_given[restrict]) {
  char *const *environment = environment_given;
  resolve();
  if (!children) return real_posix_spawn(pid, path, actions, attributes, arguments, environment);
  FIT(qz_program_at(path), true);
  return real_posix_spawn(pid, path, actions, attributes, arguments, environment);
}
QZL_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict name,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                            char *const environment_given[restrict]) {
  char *const *environment = environment_given;
  resolve();
  if (!children) return real_posix_spawnp(pid, name, actions, attributes, arguments, environment);
  FIT(qz_program_named(name), true);
  return real_posix_spawnp(pid, name, actions, attributes, arguments, environment);
}
