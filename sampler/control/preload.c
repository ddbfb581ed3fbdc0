/* Preloads the pthread layer. See preload.h. */
#include "preload.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "abi/launcher.h"

const char *qzi_layer_reason(enum qz_program kind) {
  switch (kind) {
  case QZ_PROGRAM_STATIC:
    return "it is statically linked; link it dynamically, or with Quartz (quartz cflags, quartz libs)";
  case QZ_PROGRAM_OTHER_LIBC: return "its C library is not the GNU one; build it for that";
  case QZ_PROGRAM_PRIVILEGED: return "it runs with another user's rights; run it as that user";
  case QZ_PROGRAM_SANITIZER: return "it has a sanitizer's library; build it without";
  case QZ_PROGRAM_FOREIGN: return "it is 32-bit, or made for another machine; build it for this one";
  case QZ_PROGRAM_UNKNOWN: return "its file cannot be read, or is damaged; record it as a user who may read it";
  default: return NULL;
  }
}

/* Finds the layer's file. Returns 0, or -1. */
static int find(char *path, size_t bytes) {
  static const char *const places[] = {"../pthread-layer/libquartz-pthread.so", "../lib/libquartz-pthread.so", NULL};
  const char *setting = getenv("QUARTZ_LAYER");
  if (setting && *setting) return snprintf(path, bytes, "%s", setting) < (int)bytes && !access(path, R_OK) ? 0 : -1;
  char self[PATH_MAX], resolved[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return -1;
  self[length] = 0;
  char *slash = strrchr(self, '/');
  if (!slash) return -1;
  *slash = 0;
  for (int k = 0; k < 3; k++) {
    char place[2 * PATH_MAX];
    if (places[k])
      snprintf(place, sizeof place, "%s/%s", self, places[k]);
    else
      snprintf(place, sizeof place, "%s/../%s/libquartz-pthread.so", self, QUARTZ_LIBRARIES);
    if (realpath(place, resolved) && !access(resolved, R_OK) && snprintf(path, bytes, "%s", resolved) < (int)bytes)
      return 0;
  }
  return -1;
}

int qzi_layer_path(char *path, size_t bytes) {
  if (find(path, bytes)) return -1;
  if (!strpbrk(path, " :")) return 0;
  /* Blanks and colons separate entries of LD_PRELOAD, so the directory gets a temporary symbolic name. */
  char *slash = strrchr(path, '/');
  if (!slash || strpbrk(slash, " :")) return -1;
  char name[NAME_MAX + 2];
  if (snprintf(name, sizeof name, "%s", slash) >= (int)sizeof name) return -1;
  *slash = 0;
  int directory = open(*path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  return snprintf(path, bytes, "/proc/%ld/fd/%d%s", (long)getpid(), directory, name) < (int)bytes ? 0 : -1;
}

int qzi_layer_preload(const char *path) {
  const char *before = getenv("LD_PRELOAD");
  char layers[2 * PATH_MAX];
  qz_launcher_layers(path, environ, layers, sizeof layers);
  if (!before || !*before) return setenv("LD_PRELOAD", layers, 1);
  size_t bytes = strlen(layers) + strlen(before) + 2;
  char *both = malloc(bytes);
  if (!both) return -1;
  snprintf(both, bytes, "%s:%s", layers, before);
  int failed = setenv("LD_PRELOAD", both, 1);
  free(both);
  return failed;
}
