/* The time line of a tree: spans of equal length, which are joined in pairs when there are too many. See tree.h. */
#include <string.h>
#include "tree_parts.h"

static void merge(struct qzi_tree *tree) {
  for (unsigned k = 0; k < QZI_TREE_SPANS / 2; k++) {
    struct qzi_tree_span *first = &tree->spans[2 * k], *second = first + 1, *to = &tree->spans[k];
    struct qzi_tree_span top = first->top_pid == second->top_pid || first->top_ns >= second->top_ns ? *first : *second;
    if (first->top_pid == second->top_pid) top.top_ns = first->top_ns + second->top_ns;
    top.ns = first->ns + second->ns;
    top.run_ns = first->run_ns + second->run_ns;
    *to = top;
  }
  tree->span_count = QZI_TREE_SPANS / 2;
  memset(tree->spans + tree->span_count, 0, sizeof tree->spans / 2);
  tree->span_ns *= 2;
}

void qzi_tree_spans_on(struct qzi_tree *tree, uint64_t now_ns) {
  for (uint64_t at_ns = tree->now_ns; at_ns < now_ns;) {
    uint64_t index = (at_ns - tree->begin_ns) / tree->span_ns;
    if (index >= QZI_TREE_SPANS) {
      merge(tree);
      tree->span_number++; /* time that processes used in the last span belongs to no span now */
      continue;
    }
    if (index >= tree->span_count) {
      tree->span_count = (unsigned)index + 1;
      tree->span_number++;
    }
    uint64_t end_ns = tree->begin_ns + (index + 1) * tree->span_ns, until_ns = end_ns < now_ns ? end_ns : now_ns;
    struct qzi_tree_span *span = &tree->spans[index];
    uint64_t ns = until_ns - at_ns;
    span->ns += ns;
    unsigned left = tree->busy;
    for (unsigned cpu = 0; left && cpu < tree->running_room; cpu++) {
      if (!tree->running[cpu]) continue;
      left--;
      struct qzi_tree_process *process = tree->running[cpu]->process;
      if (process->span_number != tree->span_number) process->span_ns = 0;
      process->span_number = tree->span_number;
      process->span_ns += ns;
      span->run_ns += ns;
      if (process->span_ns <= span->top_ns && process->pid != span->top_pid) continue;
      span->top_pid = process->pid;
      span->top_kind = process->kind;
      if (process->span_ns > span->top_ns) span->top_ns = process->span_ns;
    }
    at_ns = until_ns;
  }
}
