/* The size of the session, and the offsets of its tables. See session_layout.h. */
#include "session_layout.h"

#include <sys/resource.h>

#define CRUMBS_OF_PROCESSOR 256u /* 8 KB */
#define CRUMBS_OF_THREAD    32u
#define SPAN_ACTORS         1024u
#define SPACE_LEAST         (128u << 20) /* with less, neither the program nor the sampler has enough */
#define THREADS_LEAST       64u

static uint64_t place(uint64_t *total, uint64_t bytes) {
  uint64_t at = *total;
  *total = (at + bytes + QZI_PAGE - 1) & ~(uint64_t)(QZI_PAGE - 1);
  return at;
}
static struct qz_table table(uint64_t offset, uint64_t stride, uint64_t capacity) {
  return (struct qz_table){.offset = offset, .stride = stride, .capacity = (uint32_t)capacity};
}

static uint64_t thread_bytes(uint32_t entries) {
  return (sizeof(struct qz_thread) + (uint64_t)entries * sizeof(struct qz_entry) + 63) & ~UINT64_C(63);
}

uint64_t qzi_session_lay_out(struct qzi_session *s, struct qz_session *head) {
  uint64_t total = 0, call_slots = ((uint64_t)s->call_tables + 1) * QZI_CALL_SLOTS + s->small_tables * QZI_SMALL_SLOTS;
  s->thread_stride = thread_bytes(s->short_limit);
  place(&total, sizeof *head);
  uint64_t room =
    s->processors > s->call_tables ? s->processors : s->call_tables; /* their number may grow later: qzi_pub_init */
  head->processor_table = table(place(&total, room * sizeof(struct qz_processor)), sizeof(struct qz_processor), room);
  head->thread_table = table(place(&total, s->threads * s->thread_stride), s->thread_stride, s->threads);
  if (s->short_limit < s->stack_limit) {
    s->long_stride = thread_bytes(s->stack_limit);
    head->long_table = table(place(&total, s->threads * s->long_stride), s->long_stride, s->threads);
  }
  head->object_table =
    table(place(&total, s->objects * sizeof(struct qz_object)), sizeof(struct qz_object), s->objects);
  head->call_table = table(place(&total, call_slots * sizeof(struct qz_call)), sizeof(struct qz_call), call_slots);
#ifdef QZI_PUB_ONE_THREAD
  if (s->threads <= QZ_MARKS) head->mark_table = table(place(&total, QZ_MARKS), 1, QZ_MARKS);
  head->creation_table =
    table(place(&total, QZ_CREATIONS * sizeof(struct qz_creation)), sizeof(struct qz_creation), QZ_CREATIONS);
#endif
  head->string_table = table(place(&total, s->strings), 1, s->strings);
  bool each = qzi_publishers_kind == QZ_PUBLISHER_PTHREAD; /* each thread is an actor of the time path */
  uint64_t actors = each ? s->threads : room;
  s->crumbs_limit = head->crumbs_limit = each ? CRUMBS_OF_THREAD : CRUMBS_OF_PROCESSOR;
  s->path_stride = sizeof(struct qz_path) + s->crumbs_limit * sizeof(struct qz_crumb);
  if (actors <= UINT16_MAX + 1)
    head->path_table = table(place(&total, actors * s->path_stride), s->path_stride, actors);
  if (head->path_table.capacity) {
    uint64_t some = actors < SPAN_ACTORS ? actors : SPAN_ACTORS;
    head->span_path_table = table(place(&total, some * s->path_stride), s->path_stride, some);
    head->span_table = table(place(&total, some * sizeof(struct qz_span)), sizeof(struct qz_span), some);
  }
  return total;
}

uint64_t qzi_pub_space(void) {
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return space.rlim_cur < SPACE_LEAST ? 0 : space.rlim_cur / 4;
}

void qzi_session_fit(struct qzi_session *s, bool started) {
  struct qz_session head = {0};
  uint64_t most = qzi_pub_space();
  while (qzi_session_lay_out(s, &head) > most) {
    uint64_t threads = !started && s->threads > THREADS_LEAST ? s->threads * (s->thread_stride + s->long_stride) : 0,
             objects = !started && s->objects > QZI_OBJECTS_LEAST ? s->objects * sizeof(struct qz_object) : 0,
             calls = s->call_tables > s->processors ? s->call_tables * QZI_CALL_SLOTS * sizeof(struct qz_call) : 0;
    if (!threads && !objects && !calls) return;
    if (calls >= threads && calls >= objects)
      s->call_tables = s->call_tables / 2 > s->processors ? s->call_tables / 2 : s->processors;
    else if (threads >= objects)
      s->threads /= 2;
    else
      s->objects /= 2;
  }
}
