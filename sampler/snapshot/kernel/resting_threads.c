/* See resting_threads.h. */
#include "resting_threads.h"

#include "sampler/profile/external_objects.h"
#include "sampler/util/array.h"
#include "sampler/util/clock.h"

#define SETTLE_NS UINT64_C(100000000) /* minimum interval between two settlings, */
#define COST      1000u               /* which use at most 1/COST of a CPU */
#define SUMS_MOST 256u                /* maximum number of combinations of b, s and r between two settlings */
#define LEAST     QZ_MARK_LINES       /* minimum number of records; with fewer, no thread rests */

/* Resting threads with the same tuple. */
struct group {
  struct qzi_tuple_key key; /* busy, spinning and runnable are 0 */
  uint32_t count, external;
  uint32_t stats; /* index + 1 into QZ_SECTION_THREADS; 0: none */
  int waits;
};
/* Time of the snapshots since the last settling with this b, s and r. */
struct sum {
  uint16_t busy, spinning;
  uint32_t runnable;
  uint64_t count, ns;
};

struct qzi_resting {
  const unsigned char *marks; /* marks of the session; NULL: there are none */
  uint64_t *seen;             /* copies of the marks at the beginning of the last snapshot */
  uint32_t *group_of;         /* by record: index + 1; 0: it does not rest */
  uint64_t *awake;            /* a bit for each record */
  uint32_t capacity;
  struct group *groups;
  uint32_t groups_count, groups_room;
  struct qzi_table table; /* finds groups by key */
  struct sum sums[SUMS_MOST];
  uint32_t sums_count;
  uint32_t count, waiters;
  int64_t *owed_ns, all_owed_ns; /* processor time that is still to be reported, by record and in all */
  int scanned;                   /* 1: marks were read in this snapshot */
  uint64_t due_ns;
};

struct qzi_resting *qzi_resting_open(const struct qz_session_view *view) {
  struct qzi_resting *resting = calloc(1, sizeof *resting);
  if (!resting) return NULL;
  resting->marks = qz_session_marks(view);
  resting->capacity = view->thread_table.capacity;
  resting->seen = calloc(QZ_MARKS / sizeof *resting->seen, sizeof *resting->seen);
  resting->group_of = calloc(resting->capacity, sizeof *resting->group_of);
  resting->owed_ns = calloc(resting->capacity, sizeof *resting->owed_ns);
  resting->awake = calloc(resting->capacity / 64 + 1, sizeof *resting->awake);
  if (resting->seen && resting->group_of && resting->owed_ns && resting->awake) {
    memset(resting->awake, 0xff, (resting->capacity / 64 + 1) * sizeof *resting->awake);
    return resting;
  }
  qzi_resting_close(resting);
  return NULL;
}

void qzi_resting_close(struct qzi_resting *resting) {
  if (!resting) return;
  free(resting->seen);
  free(resting->group_of);
  free(resting->owed_ns);
  free(resting->awake);
  free(resting->groups);
  qzi_table_free(&resting->table);
  free(resting);
}

uint32_t qzi_resting_next(const struct qzi_resting *resting, uint32_t index, uint32_t high) {
  if (index >= high) return high;
  uint64_t word = resting->awake[index / 64] >> (index % 64) << (index % 64);
  for (uint32_t k = index / 64; k <= (high - 1) / 64; word = resting->awake[++k]) {
    if (!word) continue;
    uint32_t found = k * 64 + (uint32_t)__builtin_ctzll(word);
    return found < high ? found : high;
  }
  return high;
}

const uint64_t *qzi_resting_awake(const struct qzi_resting *resting) { return resting->count ? resting->awake : NULL; }

const struct qzi_tuple_key *qzi_resting_as(const struct qzi_resting *resting, uint32_t index) {
  return resting->group_of[index] ? &resting->groups[resting->group_of[index] - 1].key : NULL;
}
uint32_t qzi_resting_count(const struct qzi_resting *resting) { return resting->count; }
uint32_t qzi_resting_waiters(const struct qzi_resting *resting) { return resting->waiters; }

/* ---- sums ---- */

void qzi_resting_add(struct qzi_resting *resting, const struct qzi_counts *counts, uint64_t ns) {
  uint16_t busy = (uint16_t)(counts->useful + counts->overhead), spinning = (uint16_t)counts->spinning;
  if (!resting->count) return;
  struct sum *sum = resting->sums + resting->sums_count; /* the most recent ones are the most likely ones */
  while (sum > resting->sums) {
    sum--;
    if (sum->busy != busy || sum->spinning != spinning || sum->runnable != counts->runnable) continue;
    sum->count++;
    sum->ns += ns;
    return;
  }
  resting->sums[resting->sums_count++] =
    (struct sum){.busy = busy, .spinning = spinning, .runnable = counts->runnable, .count = 1, .ns = ns};
}

/* Adds the sums for `count` threads of the group. If the file has no room for another tuple, recording ends. */
static void add_sums(struct qzi_sampler *sampler, struct qzi_resting *resting, const struct group *group,
                     uint32_t threads) {
  struct qzi_tuple_key key = group->key;
  uint64_t all_ns = 0;
  uint32_t last = 0;
  for (uint32_t k = 0; k < resting->sums_count; k++) {
    const struct sum *sum = &resting->sums[k];
    key.busy = sum->busy;
    key.spinning = sum->spinning;
    key.runnable = sum->runnable;
    uint32_t at = qzi_tuple_find(&sampler->tuples, &key);
    if (!at) continue;
    struct qz_tuple *tuple = &sampler->file->tuples[at - 1];
    tuple->count += sum->count * threads;
    tuple->ns += sum->ns * threads;
    tuple->runnable_ns += sum->runnable * sum->ns * threads;
    all_ns += sum->ns * threads;
    last = at;
  }
  if (last) qzi_slice_add(&sampler->slices, last, sampler->file->head->elapsed_ns, all_ns);
  if (group->stats) sampler->file->threads[group->stats - 1].last_ns = sampler->file->head->elapsed_ns;
}

int qzi_resting_due(const struct qzi_resting *resting, uint64_t now_ns) {
  return resting->scanned && (now_ns >= resting->due_ns || resting->sums_count + 16 > SUMS_MOST);
}

void qzi_resting_settle(struct qzi_sampler *sampler, struct qzi_resting *resting, uint64_t now_ns) {
  uint64_t begin_ns = qzi_thread_cpu_ns();
  for (uint32_t k = 0; resting->sums_count && k < resting->groups_count; k++)
    if (resting->groups[k].count) add_sums(sampler, resting, &resting->groups[k], resting->groups[k].count);
  resting->sums_count = 0;
  uint64_t took_ns = qzi_thread_cpu_ns() - begin_ns;
  sampler->apart_ns += took_ns;
  resting->due_ns = now_ns + (took_ns * COST > SETTLE_NS ? took_ns * COST : SETTLE_NS);
}

/* ---- which threads rest ---- */

static uint32_t group_for(struct qzi_resting *resting, const struct group *its) {
  uint32_t hash =
    qzi_hash((uint64_t)its->key.stack << 32 | its->key.thread, (uint64_t)its->key.state << 8 | its->key.waiting);
  QZI_TABLE_EACH(&resting->table, hash, at) {
    struct group *other = &resting->groups[at - 1];
    if (qzi_tuple_same(&other->key, &its->key) && other->external == its->external && other->waits == its->waits)
      return at;
  }
  if (qzi_grow((void **)&resting->groups, &resting->groups_room, resting->groups_count + 1, sizeof *resting->groups) ||
      qzi_table_add(&resting->table, hash, resting->groups_count + 1))
    return 0;
  resting->groups[resting->groups_count] = *its;
  return ++resting->groups_count;
}

static void count_in(struct qzi_sampler *sampler, struct qzi_resting *resting, struct group *group, int one) {
  group->count += (uint32_t)one;
  resting->count += (uint32_t)one;
  if (group->waits) resting->waiters += (uint32_t)one;
  if (group->external) qzi_external_at(&sampler->in, group->external)->resting += (uint32_t)one;
}

void qzi_resting_wake(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index) {
  uint32_t at = resting->group_of[index];
  resting->awake[index / 64] |= UINT64_C(1) << (index % 64);
  if (!at) return;
  struct group *group = &resting->groups[at - 1];
  resting->group_of[index] = 0;
  resting->all_owed_ns -= resting->owed_ns[index];
  add_sums(sampler, resting, group, 1);
  count_in(sampler, resting, group, -1);
}

static int unmarked(const struct qzi_resting *resting, uint32_t index) {
  uint32_t mark = qz_mark_at(index);
  return resting->scanned &&
         __atomic_load_n(&resting->marks[mark], __ATOMIC_ACQUIRE) == ((const unsigned char *)resting->seen)[mark];
}

void qzi_resting_free(struct qzi_resting *resting, uint32_t index) {
  if (unmarked(resting, index)) resting->awake[index / 64] &= ~(UINT64_C(1) << (index % 64));
}

void qzi_resting_owe(struct qzi_resting *resting, uint32_t index, int64_t owed_ns) {
  resting->all_owed_ns += owed_ns - resting->owed_ns[index];
  resting->owed_ns[index] = owed_ns;
}
int64_t qzi_resting_owed_ns(const struct qzi_resting *resting) { return resting->all_owed_ns; }

void qzi_resting_rest(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index,
                      const struct qzi_tuple_key *key, int waits, uint32_t external, int64_t owed_ns) {
  if (resting->group_of[index] || !unmarked(resting, index)) return;
  struct group its = {.key = {.stack = key->stack, .thread = key->thread, .state = key->state, .waiting = key->waiting},
                      .external = external,
                      .stats = sampler->in.memos[index].stats,
                      .waits = waits != 0};
  uint32_t at = group_for(resting, &its);
  if (!at) return;
  resting->group_of[index] = at;
  resting->owed_ns[index] = owed_ns;
  resting->all_owed_ns += owed_ns;
  resting->awake[index / 64] &= ~(UINT64_C(1) << (index % 64));
  count_in(sampler, resting, &resting->groups[at - 1], 1);
}

/* The k-th marks of all cache lines belong to neighbouring records; so with few records, only the first marks of each
 * line are in use. */
void qzi_resting_begin(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t high) {
  resting->scanned = resting->marks && high > LEAST;
  if (!resting->scanned) return;
  uint32_t words = ((high - 1) / QZ_MARK_LINES) / sizeof(uint64_t) + 1;
  for (uint32_t line = 0; line < QZ_MARK_LINES; line++) {
    const uint64_t *now = (const uint64_t *)(const void *)(resting->marks + 64 * line);
    uint64_t *before = &resting->seen[64 / sizeof *before * line];
    for (uint32_t k = 0; k < words; k++) {
      uint64_t word = __atomic_load_n(&now[k], __ATOMIC_ACQUIRE), changed = word ^ before[k];
      before[k] = word;
      for (; changed; changed &= ~(UINT64_C(0xff) << (__builtin_ctzll(changed) & ~7))) {
        uint32_t at = k * 8 + (uint32_t)__builtin_ctzll(changed) / 8, index = at * QZ_MARK_LINES + line;
        if (index < resting->capacity) qzi_resting_wake(sampler, resting, index);
      }
    }
  }
}
