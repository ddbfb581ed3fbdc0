/* See samples_due.h. */
#include "samples_due.h"

#define NONE   32u  /* number of due samples after which, if none came, the events are opened again, */
#define LONGER 4u   /* factor for that number the next time, */
#define OFTEN  3u   /* and how often this is done */
#define RARE   200u /* number of due samples from which on missing ones are no coincidence */

void qzi_samples_due_begin(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples) {
  due->run_ns = due->opened_ns = run_ns;
  due->samples = samples;
}

static uint64_t beyond(uint64_t ns, uint64_t part_ns) { return ns > part_ns ? ns - part_ns : 0; }

enum qzi_samples_come qzi_samples_due(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples,
                                      uint64_t switches_ns, uint64_t interval_ns) {
  if (!interval_ns || run_ns < due->opened_ns) return QZI_SAMPLES_COME;
  uint64_t came = samples - due->samples, enough = NONE;
  uint64_t expected = beyond(run_ns - due->run_ns, switches_ns) / interval_ns;
  for (uint32_t k = 0; k < due->opened; k++) enough *= LONGER;
  if (!came && due->opened < OFTEN && beyond(run_ns - due->opened_ns, switches_ns) / interval_ns >= enough) {
    due->opened++;
    due->opened_ns = run_ns;
    return QZI_SAMPLES_NONE;
  }
  return expected >= RARE && 2 * came < expected ? QZI_SAMPLES_RARE : QZI_SAMPLES_COME;
}
