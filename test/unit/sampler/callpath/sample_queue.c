/* Samples of a running thread: each is reported for the same amount of processor time (sample_queue.h). */
#include "sampler/callpath/sample_queue.h"
#include "test/support/check.h"

enum { INTERVAL = 1000, A = 1, B = 2, C = 3 };

static struct qzi_sample_queue queue;

/* A sample arrives just before the snapshot `round`, in which the thread's record is `record` (0: the thread is not
 * seen then). */
static void come(uint64_t number, uint32_t record, uint64_t polls) {
  struct qzi_sampled *sampled = calloc(1, sizeof *sampled);
  CHECK(sampled != NULL);
  sampled->number = sampled->round = number;
  sampled->polls = polls;
  qzi_sample_queue_add(&queue, sampled, INTERVAL);
  if (record) qzi_sample_queue_label(&queue, number, record, 1);
}

static int64_t left(void) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < queue.count; k++) sum += queue.kept[k]->left_ns;
  return sum;
}

/* What arrives, what is reported, and which sample is reported for it. */
struct step {
  enum { COMES, COMES_UNSEEN, COMES_POLLING, REPORTS, WORKED } what;
  uint32_t record;
  uint64_t ns;      /* reported, in REPORTS and WORKED */
  uint64_t expects; /* number of the sample reported; 0: none */
};
static const struct {
  const char *name;
  struct step steps[16];
} rows[] = {
  {"nothing came: nothing is reported", {{REPORTS, A, 100, 0}}},
  {"the oldest of the same record comes first, each for one interval",
   {{COMES, A, 0, 0}, {COMES, A, 0, 0}, {REPORTS, A, 400, 1}, {REPORTS, A, 600, 1}, {REPORTS, A, 1000, 2}}},
  {"the record that is seen comes first, whatever came earlier",
   {{COMES, A, 0, 0}, {COMES, B, 0, 0}, {REPORTS, B, 500, 2}, {REPORTS, A, 500, 1}, {REPORTS, B, 500, 2}}},
  {"one whose record is not known yet stands for any", {{COMES_UNSEEN, 0, 0, 0}, {REPORTS, B, 500, 1}}},
  {"of a record of which none came, the oldest of all", {{COMES, A, 0, 0}, {COMES, B, 0, 0}, {REPORTS, C, 500, 1}}},
  {"the last one goes on, and the next one stands for that much less",
   {{COMES, A, 0, 0},
    {REPORTS, A, 1000, 1},
    {REPORTS, A, 700, 1},
    {COMES, A, 0, 0},
    {REPORTS, A, 300, 2},
    {COMES, A, 0, 0},
    {REPORTS, A, 1000, 3}}},
  {"it goes on for four intervals, then others are reported",
   {{COMES, A, 0, 0}, {COMES, B, 0, 0}, {REPORTS, A, 4999, 1}, {REPORTS, A, 1, 1}, {REPORTS, A, 100, 2}}},
  {"work: of the same record while few wait",
   {{COMES, A, 0, 0}, {COMES, B, 0, 0}, {COMES, A, 0, 0}, {WORKED, B, 100, 2}}},
  {"work: of those that wait the oldest, where four do",
   {{COMES, A, 0, 0}, {COMES, B, 0, 0}, {COMES, B, 0, 0}, {COMES, B, 0, 0}, {WORKED, B, 1000, 1}, {WORKED, B, 100, 2}}},
  {"work: not one that was found polling, if there is another",
   {{COMES_POLLING, A, 0, 0}, {COMES, B, 0, 0}, {WORKED, A, 100, 2}, {REPORTS, A, 100, 1}}},
};

static void row(unsigned k) {
  uint64_t number = 0;
  int64_t expected = 0;
  qzi_sample_queue_close(&queue);
  for (const struct step *step = rows[k].steps; step->record || step->what == COMES_UNSEEN; step++) {
    if (step->what < REPORTS) {
      come(++number, step->record, step->what == COMES_POLLING ? 0x1234 : 0);
      expected += INTERVAL;
    } else {
      struct qzi_sampled *its = step->what == REPORTS ? qzi_sample_queue_at(&queue, step->record, INTERVAL)
                                                      : qzi_sample_queue_worked(&queue, step->record, INTERVAL);
      uint64_t task = its ? its->number : 0;
      if (task != step->expects) {
        fprintf(stderr, "%s: step %d reports %llu, not %llu\n", rows[k].name, (int)(step - rows[k].steps),
                (unsigned long long)task, (unsigned long long)step->expects);
        exit(1);
      }
      if (its) qzi_sample_queue_spend(&queue, its, step->ns);
      if (its) expected -= (int64_t)step->ns;
    }
    CHECK(left() == expected);
  }
}

/* Nothing is lost or reported twice, whatever arrives, as long as there is room: what remains is what arrived minus
 * what was reported. And there is never more than fits. */
static void any_order(void) {
  uint32_t random = 3;
  int64_t expected = 0;
  uint64_t task[3] = {0};
  qzi_sample_queue_close(&queue);
  for (uint64_t k = 1; k <= 20000; k++) {
    uint32_t record = 1 + (random = random * 1664525u + 1013904223u) % 3;
    if (queue.count < QZI_SAMPLES_KEPT && random >> 16 & 1) {
      come(k, random >> 17 & 1 ? record : 0, 0);
      expected += INTERVAL;
    }
    struct qzi_sampled *its = qzi_sample_queue_worked(&queue, record, INTERVAL);
    uint64_t ns = random >> 20 & 511;
    if (its) {
      qzi_sample_queue_spend(&queue, its, ns);
      expected -= (int64_t)ns;
      task[record - 1] += ns;
    }
    CHECK(left() == expected && queue.count <= QZI_SAMPLES_KEPT);
  }
  CHECK(task[0] && task[1] && task[2]);
  for (uint64_t k = 1; k <= 100; k++) come(k, A, 0);
  CHECK(queue.count == QZI_SAMPLES_KEPT);
}

int main(void) {
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) row(k);
  any_order();
  qzi_sample_queue_close(&queue);
  return 0;
}
