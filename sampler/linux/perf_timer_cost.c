/* See perf_timer_cost.h. */
#include "perf_timer_cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "perf_samples.h"

/* ns: no timer takes longer; cost below a thousandth of the program's processor time is ignored. */
#define WORTH_NS 3000u

/* Context switches of the whole machine since boot; 0: unknown. */
static uint64_t switches_of_machine(void) {
  char text[8192];
  int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  uint64_t count = 0;
  ssize_t bytes;
  if (fd < 0) return 0;
  /* The line may be split across two reads; it comes after the counts of all interrupts, which may be thousands. */
  for (size_t kept = 0; !count && (bytes = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
    size_t all = kept + (size_t)bytes;
    text[all] = 0;
    const char *line = strstr(text, "\nctxt "), *end = line ? strchr(line + 1, '\n') : NULL;
    if (end) count = strtoull(line + 6, NULL, 10);
    kept = all < 32 ? all : 32;
    memmove(text, text + all - kept, kept);
  }
  close(fd);
  return count;
}

static uint64_t own_switches(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw;
}

void qzi_timer_cost_note(struct qzi_timer_cost *cost, uint64_t program, uint64_t run_ns) {
  uint64_t samples = cost->taken;
  if (cost->begun && (program == cost->program || !samples)) return;
  uint64_t machine = switches_of_machine(), own = own_switches();
  if (cost->begun && machine && samples != cost->samples && program > cost->program) {
    uint64_t mine = program - cost->program, known = mine + 2 * (own - cost->own), all = machine - cost->machine;
    uint64_t others = all > known ? all - known : 0;
    cost->count += others < mine ? others : mine;
  }
  cost->begun = 1;
  cost->machine = machine;
  cost->own = own;
  cost->program = program;
  cost->samples = samples;
  if (cost->measured || !cost->count || cost->count * WORTH_NS < run_ns / 1000) return;
  cost->measured = 1;
  cost->each_ns = qzi_perf_timer_ns();
}
