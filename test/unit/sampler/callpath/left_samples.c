/* Samples that ended threads left: which thread's time they stand for, and how much of it (left_samples.h). */
#include "sampler/callpath/left_samples.h"
#include "test/support/check.h"

enum { INTERVAL = 1000, SERVE = 0x1000, PARSE = 0x2000, ANSWER = 0x3000, OTHER = 0x4000 };

#define CHECK_SAME(a, b) CHECK((uint64_t)(a) == (uint64_t)(b))

static struct qzi_left_samples left;

static struct qzi_sampled *sample(uint64_t number, uint32_t count, const uint64_t *entries) {
  struct qzi_sampled *sampled = calloc(1, sizeof *sampled);
  CHECK(sampled != NULL);
  sampled->number = number;
  sampled->walk.whole = 1;
  for (sampled->walk.count = 0; sampled->walk.count < count; sampled->walk.count++)
    sampled->walk.entries[sampled->walk.count] = entries[sampled->walk.count];
  return sampled;
}

/* Number of the sample that the time is attributed to; 0: none. */
static uint64_t spend(uint64_t start, uint64_t ns) {
  const struct qzi_sampled *its = qzi_left_samples_spend(&left, start, ns);
  return its ? its->number : 0;
}

static void unseen_threads_are_known_by_their_outermost_procedure(void) {
  CHECK_SAME(spend(SERVE, 10), 0);
  qzi_left_samples_add(&left, sample(1, 2, (uint64_t[]){SERVE, PARSE}), INTERVAL);
  qzi_left_samples_add(&left, sample(2, 1, (uint64_t[]){OTHER}), INTERVAL);
  struct qzi_sampled *cut = sample(3, 2, (uint64_t[]){OTHER, PARSE});
  cut->walk.whole = 0;
  qzi_left_samples_add(&left, cut, INTERVAL);
  CHECK_SAME(spend(OTHER, 10), 0);
  CHECK_SAME(spend(0, 10), 0);
  CHECK(!qzi_left_samples_any(&left, OTHER, 7) && qzi_left_samples_any(&left, SERVE, 7)->number == 1);
  const struct qzi_sampled *its = qzi_left_samples_spend(&left, SERVE, 10);
  CHECK(its && its->number == 1 && its->walk.count == 1);
  CHECK_SAME(its->walk.entries[0], PARSE);
  qzi_left_samples_close(&left);
}

static void each_stands_for_the_same_time_also_where_there_are_too_few(void) {
  uint64_t got[4] = {0};
  for (uint64_t k = 1; k <= 3; k++)
    qzi_left_samples_add(&left, sample(k, 2, (uint64_t[]){SERVE, k == 1 ? PARSE : ANSWER}), INTERVAL);
  for (int k = 0; k < 300; k++) got[spend(SERVE, 100)]++;
  for (int k = 1; k <= 3; k++) CHECK_SAME(got[k], 100);
  /* One that comes later does not stand for what the others stood for before. */
  qzi_left_samples_add(&left, sample(4, 2, (uint64_t[]){SERVE, ANSWER}), INTERVAL);
  uint64_t later = 0;
  for (int k = 0; k < 400; k++) later += spend(SERVE, 100) == 4;
  CHECK(later >= 100 && later <= 110);
  qzi_left_samples_close(&left);
}

static void only_what_stands_for_more_is_left(void) {
  struct qzi_sample_queue queue = {0};
  qzi_sample_queue_add(&queue, sample(1, 1, (uint64_t[]){PARSE}), INTERVAL);
  qzi_sample_queue_add(&queue, sample(2, 1, (uint64_t[]){ANSWER}), INTERVAL);
  qzi_sample_queue_spend(&queue, queue.kept[0], INTERVAL);
  qzi_left_samples_keep(&left, SERVE, &queue);
  CHECK_SAME(spend(SERVE, 100), 2);
  CHECK_SAME(spend(SERVE, 5000), 2);
  CHECK_SAME(spend(SERVE, 100), 2);
  qzi_sample_queue_close(&queue);
  qzi_left_samples_close(&left);
}

static void the_start_routines_used_last_are_kept(void) {
  for (uint64_t k = 0; k <= QZI_LEFT_STARTS; k++)
    qzi_left_samples_add(&left, sample(k + 1, 2, (uint64_t[]){SERVE + k, PARSE}), INTERVAL);
  CHECK_SAME(spend(SERVE, 100), 0);
  CHECK_SAME(spend(SERVE + 1, 100), 2);
  CHECK_SAME(spend(SERVE + QZI_LEFT_STARTS, 100), QZI_LEFT_STARTS + 1);
  for (uint64_t k = 0; k < 3u * QZI_LEFT_KEPT; k++)
    qzi_left_samples_add(&left, sample(100 + k, 2, (uint64_t[]){SERVE + 1, PARSE}), INTERVAL);
  CHECK(spend(SERVE + 1, 100) >= 100 + 2u * QZI_LEFT_KEPT);
  qzi_left_samples_close(&left);
}

int main(void) {
  unseen_threads_are_known_by_their_outermost_procedure();
  each_stands_for_the_same_time_also_where_there_are_too_few();
  only_what_stands_for_more_is_left();
  the_start_routines_used_last_are_kept();
  return 0;
}
