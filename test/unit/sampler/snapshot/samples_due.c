/* Whether as many of the kernel's samples arrive as are due (samples_due.h). */
#include "sampler/snapshot/samples/samples_due.h"
#include "test/support/check.h"

#define MS UINT64_C(1000000)

static const struct {
  const char *name;
  uint64_t run_ms, samples, switches_ms;
  uint32_t opened;
  enum qzi_samples_come expects;
} rows[] = {
  {"none yet, few are due", 60, 0, 0, 0, QZI_SAMPLES_COME},
  {"none of those that are due", 70, 0, 0, 0, QZI_SAMPLES_NONE},
  {"one came", 70, 1, 0, 0, QZI_SAMPLES_COME},
  {"what sleeps take has none", 70, 0, 60, 0, QZI_SAMPLES_COME},
  {"sleeps took more than there was", 70, 0, 80, 0, QZI_SAMPLES_COME},
  {"opened anew: longer is waited", 200, 0, 0, 1, QZI_SAMPLES_COME},
  {"and not for ever", 5000, 0, 0, 3, QZI_SAMPLES_RARE},
  {"fewer than half", 400, 99, 0, 0, QZI_SAMPLES_RARE},
  {"half", 400, 100, 0, 0, QZI_SAMPLES_COME},
  {"too few are due to say", 398, 50, 0, 0, QZI_SAMPLES_COME},
  {"where most of the time is that of sleeps", 400, 30, 300, 0, QZI_SAMPLES_COME},
};

int main(void) {
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct qzi_samples_due due = {.opened = rows[k].opened};
    qzi_samples_due_begin(&due, 7 * MS, 3);
    enum qzi_samples_come come =
      qzi_samples_due(&due, (7 + rows[k].run_ms) * MS, 3 + rows[k].samples, rows[k].switches_ms * MS, 2 * MS);
    if (come != rows[k].expects) fprintf(stderr, "%s: %d\n", rows[k].name, (int)come);
    CHECK(come == rows[k].expects);
  }
  struct qzi_samples_due due = {0};
  CHECK(qzi_samples_due(&due, 70 * MS, 0, 0, 2 * MS) == QZI_SAMPLES_NONE); /* none arrived */
  CHECK(qzi_samples_due(&due, 80 * MS, 0, 0, 2 * MS) == QZI_SAMPLES_COME); /* the events have just been opened again */
  CHECK(qzi_samples_due(&due, 5 * MS, 0, 0, 2 * MS) == QZI_SAMPLES_COME);  /* another process: its time is smaller */
  CHECK(qzi_samples_due(&due, 5000 * MS, 0, 0, 0) == QZI_SAMPLES_COME);    /* no samples: none are due */
  return 0;
}
