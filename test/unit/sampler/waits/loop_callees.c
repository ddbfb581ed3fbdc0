/* What procedures are that a loop calls: by their names, and their code, which is this process's. */
#include "sampler/waits/loop_callees.h"

#include <sys/mman.h>
#include <unistd.h>
#include "sampler/machine_code/call_target.h"
#include "stub_paths.h"

enum { SITE = 0x40, VDSO = 0x2000, PAGE = 4096 };
static uint64_t target; /* of the call at SITE, or of a jump */
static int jumped;
uint64_t qzi_call_target(uint32_t pid, uint64_t site) {
  CHECK(pid == (uint32_t)getpid() && site == SITE);
  return target;
}
uint64_t qzi_jump_target(uint32_t pid, uint64_t entry) {
  CHECK(pid == (uint32_t)getpid() && entry == 0x77);
  jumped++;
  return target;
}
int qzi_paths_vdso(struct qzi_paths *of, uint64_t address) {
  CHECK(of);
  return address == VDSO;
}
uint32_t qzi_paths_pid(const struct qzi_paths *of) {
  CHECK(of);
  return (uint32_t)getpid();
}

static struct qzi_code code;
static unsigned char bytes[QZI_CALLEE_BYTES];
static enum qzi_callee look(uint64_t at) {
  target = at;
  code = (struct qzi_code){.count = 0};
  return qzi_callee_look(paths, 0, SITE, &code, bytes);
}

static const struct {
  const char *name;
  int library;
  enum qzi_callee is;
} names[] = {
  {"clock_gettime", QZI_LIBRARY_C, QZI_CALLEE_CLOCK},
  {"clock_gettime@@GLIBC_2.17", QZI_LIBRARY_C, QZI_CALLEE_CLOCK},
  {"clock_get", QZI_LIBRARY_C, QZI_CALLEE_UNKNOWN},
  {"clock_gettime64", QZI_LIBRARY_C, QZI_CALLEE_UNKNOWN},
  {"time", QZI_LIBRARY_C, QZI_CALLEE_CLOCK},
  {"omp_get_wtime@@OMP_1.0", QZI_LIBRARY, QZI_CALLEE_CLOCK},
  {"_ZNSt6chrono3_V212steady_clock3nowEv", QZI_LIBRARY_C, QZI_CALLEE_CLOCK},
  {"sched_yield", QZI_LIBRARY_C, QZI_CALLEE_YIELD},
  {"__cyg_profile_func_enter", 0, QZI_CALLEE_YIELD},
  {"__fentry__", 0, QZI_CALLEE_HOOK},
  {"__return__", QZI_LIBRARY, QZI_CALLEE_HOOK},
  {"memcpy", QZI_LIBRARY_C, QZI_CALLEE_UNKNOWN}, /* of a library only names say what it is */
  {"", QZI_LIBRARY, QZI_CALLEE_UNKNOWN},
  {"@", QZI_LIBRARY, QZI_CALLEE_UNKNOWN},
};

int main(void) {
  unsigned char *place = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(place != MAP_FAILED && !mprotect(place + PAGE, PAGE, PROT_NONE));
  struct procedure its = {.entry = (uint64_t)(uintptr_t)place};
  procedures = &its;
  procedures_count = 1;
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
    its.name = names[k].name;
    its.library = names[k].library;
    if (look(its.entry) != names[k].is) fprintf(stderr, "%s\n", its.name);
    CHECK_IS(look(its.entry), names[k].is);
  }
  CHECK_IS(look(0), QZI_CALLEE_UNKNOWN);
  CHECK_IS(look(VDSO), QZI_CALLEE_CLOCK);

  /* A procedure of the program's own: its code, as far as it can be read. */
  for (unsigned k = 0; k < PAGE; k++) place[k] = (unsigned char)k;
  static const struct {
    unsigned offset, count; /* on the page; how much of it is read */
  } codes[] = {{0, QZI_CALLEE_BYTES}, {PAGE - QZI_CALLEE_BYTES, QZI_CALLEE_BYTES}, {PAGE - 7, 7}};
  its.name = "own";
  its.library = 0;
  for (unsigned k = 0; k < sizeof codes / sizeof *codes; k++) {
    its.entry = (uint64_t)(uintptr_t)place + codes[k].offset;
    CHECK_IS(look(its.entry), QZI_CALLEE_CODE);
    CHECK(code.address == its.entry && code.count == codes[k].count && code.bytes == bytes);
    CHECK(!memcmp(bytes, place + codes[k].offset, code.count));
  }
  its.entry = (uint64_t)(uintptr_t)place + PAGE;
  CHECK_IS(look(its.entry), QZI_CALLEE_UNKNOWN);

  /* Called by a jump: without a place of the call. */
  CHECK(!jumped);
  target = (uint64_t)(uintptr_t)place;
  CHECK_IS(qzi_callee_look(paths, 0x77, 0, &code, bytes), QZI_CALLEE_CODE);
  CHECK(jumped == 1 && code.address == target);
  return 0;
}
