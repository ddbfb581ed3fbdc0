/* Opens and closes a sampler. See snapshot.h. */
#include "snapshot.h"
#include "lock_holders.h"
#include "sampler/profile/symbolize.h"
#include "sampler/profile/interned_stacks.h"
#include "sampler/util/lazy_memory.h"

#include <string.h>

/* Allocates the state of each processor and its scratch memory in one piece. */
static int make_visits(struct qzi_sampler *sampler) {
  uint64_t processors = sampler->view->processors;
  size_t keys_bytes = (sampler->view->stack_limit * sizeof(uint64_t) + 127) & ~(size_t)127;
  size_t bytes = processors * (sizeof(struct qzi_visit) + 2 * keys_bytes) + 2 * keys_bytes;
  unsigned char *memory = qzi_lazy_memory(bytes);
  if (!memory) return -1;
  qzi_lazy_free(sampler->visit_memory, sampler->visit_bytes);
  sampler->visit_memory = memory;
  sampler->visit_bytes = bytes;
  sampler->visits = (struct qzi_visit *)(void *)memory;
  memory += processors * sizeof(struct qzi_visit);
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    visit->word = QZI_NO_WORD;
    visit->keys = (uint64_t *)(void *)memory;
    visit->prints = (uint64_t *)(void *)(memory + keys_bytes);
    memory += 2 * keys_bytes;
  }
  sampler->keys = (uint64_t *)(void *)memory;
  sampler->prints = (uint64_t *)(void *)(memory + keys_bytes);
  return 0;
}

int qzi_sampler_open(struct qzi_sampler *sampler, const struct qz_session_view *view, struct qzi_file *file,
                     uint64_t now_ns) {
  memset(sampler, 0, sizeof *sampler);
  sampler->view = view;
  sampler->threading = view->publisher == QZ_PUBLISHER_PTHREAD ? &qzi_kernel_threading : &qzi_processor_threading;
  sampler->file = file;
  sampler->tuples.file = file;
  sampler->instructions.in = &sampler->in;
  sampler->last_ns = now_ns;
  sampler->objects_bytes = (size_t)view->object_table.capacity * sizeof *sampler->objects;
  sampler->objects = qzi_lazy_memory(sampler->objects_bytes);
  if (make_visits(sampler) || !sampler->objects || qzi_intern_open(&sampler->in, file, view) ||
      qzi_timeline_open(&sampler->timeline, file) || !(sampler->holders = qzi_holders_open(file))) {
    qzi_sampler_close(sampler);
    return -1;
  }
  if (sampler->threading->open(sampler)) {
    qzi_sampler_close(sampler);
    return -1;
  }
  uint64_t processors = view->processors;
  if (qzi_file_room(file, QZ_SECTION_PROCESSORS, processors)) {
    qzi_sampler_close(sampler);
    return -1;
  }
  qzi_file_append(file, QZ_SECTION_PROCESSORS, processors);
  struct qz_profile *head = file->head;
  head->publisher = view->publisher;
  head->pid = view->pid;
  head->processors = view->processors;
  head->first_ns = now_ns;
  head->hook = view->hook;
  head->hook_inside_ps = view->hook_inside_ps;
  head->lock = view->lock;
  head->spawn_ps = view->spawn_ps;
  head->wait_ps = view->wait_ps;
  head->stack_limit = view->stack_limit;
  head->session_flags = view->flags;
  return 0;
}

void qzi_sampler_close(struct qzi_sampler *sampler) {
  /* Must be first: it ends the reading threads (inline_frames.c), which use the interner and the file. */
  if (sampler->threading) sampler->threading->close(sampler);
  qzi_lazy_free(sampler->visit_memory, sampler->visit_bytes);
  qzi_lazy_free(sampler->objects, sampler->objects_bytes);
  qzi_path_close(&sampler->path);
  qzi_symbols_close(&sampler->in);
  if (sampler->in.file) qzi_intern_close(&sampler->in);
  if (sampler->timeline.file) qzi_timeline_close(&sampler->timeline);
  qzi_slices_close(&sampler->slices);
  qzi_tuples_close(&sampler->tuples);
  qzi_instructions_close(&sampler->instructions);
  qzi_table_free(&sampler->blame);
  qzi_table_free(&sampler->wait_overlap);
  qzi_table_free(&sampler->calls);
  if (sampler->asked) qzi_lazy_free(sampler->asked, sampler->view->object_table.capacity * sizeof *sampler->asked);
  free(sampler->bases);
  free(sampler->sums);
  qzi_holders_close(sampler->holders);
  memset(sampler, 0, sizeof *sampler);
}

void qzi_sampler_rebase(struct qzi_sampler *sampler, uint64_t now_ns) {
  if (now_ns > sampler->last_ns) sampler->last_ns = now_ns;
  sampler->threading->skip(sampler);
}

int qzi_sampler_resize(struct qzi_sampler *sampler, uint32_t before) {
  struct qzi_file *file = sampler->file;
  struct qz_profile *head = file->head;
  uint32_t now = sampler->view->processors;
  for (uint32_t p = now; p < before; p++)
    if (file->processors[p].idle_ns != head->elapsed_ns) return -1;
  if (now > before && qzi_file_room(file, QZ_SECTION_PROCESSORS, now - before)) return -1;
  if (make_visits(sampler)) return -1;
  /* A reader of the growing file knows by this that the next snapshot is incomplete. */
  __atomic_store_n(&head->rounds_begun, head->snapshots + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t p = before; p < now; p++)
    file->processors[p] = (struct qz_processor_stats){.idle_ns = head->elapsed_ns};
  __atomic_store_n(&head->sections[QZ_SECTION_PROCESSORS].count, now, __ATOMIC_RELEASE);
  qzi_timeline_resize(&sampler->timeline, before, now);
  head->processors = now;
  return 0;
}
