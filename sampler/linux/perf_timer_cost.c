/* See perf_timer_cost.h. */
#include "perf_timer_cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "perf_samples.h"

#define WORTH_NS \
  3000u /* no timer takes longer; below a thousandth of the program's processor time it does not matter */

/* Switches of the whole machine since it started; 0: unknown. */
static uint64_t switches_of_machine(void) {
  char text[8192];
  int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  uint64_t count = 0;
  ssize_t bytes;
  if (fd < 0) return 0;
  /* The line may lie across two reads, behind thousands of interrupts. */
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

void qzi_turns_note(struct qzi_turns *turns, uint64_t program, uint64_t run_ns) {
  uint64_t samples = turns->taken;
  if (turns->begun && (program == turns->program || !samples)) return;
  uint64_t machine = switches_of_machine(), own = own_switches();
  if (turns->begun && machine && samples != turns->samples && program > turns->program) {
    uint64_t mine = program - turns->program, known = mine + 2 * (own - turns->own), all = machine - turns->machine;
    uint64_t others = all > known ? all - known : 0;
    turns->count += others < mine ? others : mine;
  }
  turns->begun = 1;
  turns->machine = machine;
  turns->own = own;
  turns->program = program;
  turns->samples = samples;
  if (turns->measured || turns->count * WORTH_NS < run_ns / 1000) return;
  turns->measured = 1;
  turns->each_ns = qzi_running_turn_ns();
}
