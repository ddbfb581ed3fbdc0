/* See recent.h. */
#include "recent.h"

#include <string.h>
#include "sampler/util/clock.h"

#define WINDOW        (UINT64_C(10000000000) >> QZ_PATH_TIME_SHIFT)
#define INTERVAL      (UINT64_C(1000000000) >> QZ_PATH_TIME_SHIFT)
#define SHARE         500u         /* at most 1/SHARE of the time may be spent on it */
#define SEGMENTS_MOST 4096u        /* maximum number of segments of a window */
#define UNDECIDED     (WINDOW / 2) /* what is not decided after this time stays in the sums as it was shown */

static void add_link(void *argument, const struct qzi_link *link) {
  struct qzi_recent *recent = argument;
  if (!recent->links++ && link->begin < recent->window_path.time)
    recent->overlap = recent->window_path.time - link->begin;
  qzi_settle(&recent->window_path, link);
}

/* Number of segments of one window for which the file has room. */
static uint32_t most_of(const struct qzi_file *file) {
  uint64_t half = file->head->sections[QZ_SECTION_RECENT_SEGMENTS].capacity / 2;
  return half < SEGMENTS_MOST ? (uint32_t)half : SEGMENTS_MOST;
}

static int have_room(struct qzi_file *file, unsigned section, uint64_t count) {
  uint64_t has = qzi_file_count(file, section);
  if (count <= has) return 1;
  if (qzi_file_room(file, section, count - has)) return 0;
  qzi_file_append(file, section, count - has);
  return 1;
}

/* Writes the window in recent->window_path to that row, and its segments from `first` on. */
static void write_window(struct qzi_recent *recent, struct qzi_file *file, unsigned row, uint64_t first,
                         struct qz_recent_path window) {
  if (!have_room(file, QZ_SECTION_RECENT_PATHS, row + 1) ||
      !have_room(file, QZ_SECTION_RECENT_SEGMENTS, first + recent->window_path.segments_count))
    return;
  struct qz_recent_path *to = &file->recent_paths[row];
  __atomic_store_n(&to->number, 0, __ATOMIC_RELEASE);
  window.first = first;
  window.count = qzi_settled_segments(&recent->window_path, file->recent_segments + first, window.start_ns, window.ns);
  *to = window;
  __atomic_store_n(&to->number, ++recent->number, __ATOMIC_RELEASE);
}

static struct qz_recent_path make(struct qzi_recent *recent, struct qzi_chains *chains,
                                  const struct qzi_settled *settled, uint32_t most, uint64_t elapsed_ns) {
  uint64_t from = chains->now > WINDOW ? chains->now - WINDOW : 0;
  qzi_settled_again(&recent->window_path, settled, from, most);
  recent->overlap = recent->links = 0;
  uint64_t decided = qzi_chains_until_now(chains, recent->window_path.time, add_link, recent);
  if (decided < from) decided = from;
  uint64_t start_ns = from << QZ_PATH_TIME_SHIFT, decided_ns = decided << QZ_PATH_TIME_SHIFT;
  int ended = qz_session_head(chains->view)->path_end != 0;
  return (struct qz_recent_path){
    .start_ns = start_ns,
    .ns = elapsed_ns - start_ns,
    .undecided_ns = ended || decided == chains->now ? 0 : elapsed_ns - decided_ns,
    .cut_ns = (recent->window_path.cut > recent->overlap ? recent->window_path.cut - recent->overlap : 0)
              << QZ_PATH_TIME_SHIFT};
}

void qzi_recent_write(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                      struct qzi_file *file, uint64_t elapsed_ns) {
  uint32_t most = most_of(file);
  uint64_t begun_ns = qzi_thread_cpu_ns();
  struct qz_recent_path window = make(recent, chains, settled, most, elapsed_ns);
  unsigned row = recent->number % 2;
  write_window(recent, file, row, row * (uint64_t)most, window);
  uint64_t undecided = window.undecided_ns >> QZ_PATH_TIME_SHIFT;
  if (undecided > UNDECIDED) undecided = UNDECIDED;
  qzi_settled_sum(&recent->until_now, &recent->window_path, chains->now - undecided);
  qzi_settled_show(&recent->until_now, &recent->window_path, file);
  uint64_t pause = ((qzi_thread_cpu_ns() - begun_ns) * SHARE) >> QZ_PATH_TIME_SHIFT;
  recent->due = chains->now + (pause > INTERVAL ? pause : INTERVAL);
}

void qzi_recent_finish(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                       struct qzi_file *file, uint64_t elapsed_ns) {
  struct qz_recent_path window = make(recent, chains, settled, most_of(file), elapsed_ns);
  write_window(recent, file, 0, 0, window);
  if (file->head->sections[QZ_SECTION_RECENT_PATHS].count > 1) file->head->sections[QZ_SECTION_RECENT_PATHS].count = 1;
  if (file->head->sections[QZ_SECTION_RECENT_SEGMENTS].count > recent->window_path.segments_count)
    file->head->sections[QZ_SECTION_RECENT_SEGMENTS].count = recent->window_path.segments_count;
}

void qzi_recent_free(struct qzi_recent *recent) {
  qzi_settled_free(&recent->window_path);
  qzi_settled_free(&recent->until_now);
  memset(recent, 0, sizeof *recent);
}
