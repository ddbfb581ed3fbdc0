/* See sample_pace.h. */
#include "sample_pace.h"

#define SHARE     64.0                /* samples may take 1/SHARE of the elapsed time, */
#define SPARE     16.0                /* and 1/SPARE while the program leaves a CPU idle; */
#define HEADSTART UINT64_C(40000000)  /* ns that do not count: the first walks meet only code that is new */
#define LOOK_NS   UINT64_C(100000000) /* between two choices of N, */
#define KEPT      0.75                /* of which the earlier ones count for so much */
#define MORE      0.25                /* by so much N may be too small, or larger than it has to be */

static uint64_t between(uint64_t from_ns, uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; }
static uint64_t less(uint64_t ns, uint64_t part_ns) { return ns > part_ns ? ns - part_ns : 0; }

uint64_t qzi_sample_time_own(const struct qzi_sample_time *from, const struct qzi_sample_time *to) {
  return less(between(from->cpu_ns, to->cpu_ns),
              between(from->walks_ns, to->walks_ns) + between(from->analyses_ns, to->analyses_ns));
}

static uint32_t choose(const struct qzi_sample_pace *pace, double share) {
  double now = pace->one_of ? pace->one_of : 1,
         needed = pace->taken > 0 ? pace->came * pace->cost_ns / pace->taken * share / pace->elapsed_ns : 1;
  if (needed < now + MORE && needed > now - 1 - MORE) return (uint32_t)now;
  if (needed >= QZI_SAMPLES_ONE_OF_MOST) return QZI_SAMPLES_ONE_OF_MOST;
  uint32_t next = (uint32_t)needed;
  return next + (next < needed);
}

int qzi_sample_pace_add(struct qzi_sample_pace *pace, uint64_t now_ns, const struct qzi_sample_time *from,
                        const struct qzi_sample_time *to, uint32_t taken, uint32_t came, int spare) {
  uint64_t cost_ns = less(between(from->cpu_ns, to->cpu_ns), between(from->analyses_ns, to->analyses_ns));
  uint32_t before = pace->one_of;
  if (pace->spent_ns < HEADSTART) {
    pace->spent_ns += cost_ns;
    pace->looked_ns = now_ns;
    return 0;
  }
  pace->cost_ns += (double)cost_ns;
  pace->taken += taken;
  pace->came += came;
  if (now_ns < pace->looked_ns + LOOK_NS) return 0;
  pace->elapsed_ns += (double)(now_ns - pace->looked_ns);
  pace->looked_ns = now_ns;
  pace->one_of = choose(pace, spare ? SPARE : SHARE);
  pace->cost_ns *= KEPT;
  pace->taken *= KEPT;
  pace->came *= KEPT;
  pace->elapsed_ns *= KEPT;
  return pace->one_of != before;
}
