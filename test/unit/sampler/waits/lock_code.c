/* Which procedures are code by which threads wait for and wake each other, by their names and where they are. */
#include "sampler/waits/lock_code.h"

#include "stub_paths.h"

static const struct {
  struct procedure its;
  int is;
} examples[] = {
  {{0x1000, QZI_LIBRARY_C, "pthread_mutex_lock"}, 1},
  {{0x1010, QZI_LIBRARY_C, "__lll_lock_wait"}, 1},
  {{0x1020, QZI_LIBRARY_C, "__pthread_cond_wait_common"}, 1},
  {{0x1030, QZI_LIBRARY_C, "memcpy"}, 0},
  {{0x1040, QZI_LIBRARY_C, "sync.(*Mutex).lockSlow"}, 0}, /* not in the C library */
  {{0x1050, 0, "pthread_mutex_lock"}, 0},                 /* a procedure of the program's, of this name */
  {{0x1060, 0, "sync.(*Mutex).lockSlow"}, 1},
  {{0x1070, 0, "runtime.lock2"}, 1},
  {{0x1080, 0, "runtime.mallocgc"}, 0},
  {{0x1090, 0, "_ZN3std3sys5mutex14lock_contended17h0E"}, 1},
  {{0x10a0, QZI_LIBRARY, "GOMP_critical_start"}, 1},
  {{0x10b0, QZI_LIBRARY, "GOMP_parallel"}, 0},
  {{0x10c0, QZI_LIBRARY, "__kmpc_end_critical"}, 1},
  {{0x10d0, QZI_LIBRARY, "_ZN13ObjectMonitor5enterEP10JavaThread"}, 1},
  {{0x10e0, 0, ""}, 0},
};
enum { COUNT = sizeof examples / sizeof *examples };

int main(void) {
  static struct procedure all[COUNT];
  struct qzi_walk walk = {.count = 0};
  struct qzi_lock_code code = {.known = {{.entry = 0}}};
  for (unsigned k = 0; k < COUNT; k++) all[k] = examples[k].its;
  procedures = all;
  procedures_count = COUNT;
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned k = 0; k < COUNT; k++) {
      walk.innermost = all[k].entry;
      int is = qzi_lock_code(&code, paths, &walk);
      if (is != examples[k].is) fprintf(stderr, "%s\n", all[k].name);
      CHECK_IS(is, examples[k].is);
    }
    CHECK_IS(names_asked, COUNT); /* in the second round, all are known */
  }
  /* Another procedure in the same place of the cache. */
  static const struct procedure other = {0x1000 + 256 * 16, QZI_LIBRARY_C, "strlen"};
  procedures = &other;
  procedures_count = 1;
  walk.innermost = other.entry;
  CHECK(!qzi_lock_code(&code, paths, &walk));

  /* The pthread layer's frames are on no walk. */
  walk = (struct qzi_walk){.in_layer = 1};
  CHECK(qzi_lock_code(&code, paths, &walk));
  walk = (struct qzi_walk){.in_layer = 0};
  CHECK(!qzi_lock_code(&code, paths, &walk));
  return 0;
}
