/* Which processes of a tree wait for which. See tree.h, docs/reference/trees.md. */
#include <stddef.h>
#include "tree.h"
#include "tree_parts.h"

#define HOPS 4u /* maximum length of a chain of waits (A waits for B, which waits for C, ...) */

static int is_runnable(const struct qzi_tree *tree, const struct qzi_tree_process *process) {
  for (const struct qzi_tree_thread *its = tree->all; its; its = its->next_all)
    if (its->process == process && its->state != QZI_TREE_ASLEEP) return 1;
  return 0;
}

static uint32_t add(uint32_t *pids, uint32_t count, uint32_t pid) {
  for (uint32_t k = 0; k < count; k++)
    if (pids[k] == pid) return count;
  if (count == QZI_TREE_PEERS) return count;
  pids[count] = pid;
  return count + 1;
}

/* Replaces the processes in `pids` by those at the end of the chain of waits: those of them that are runnable; else the
 * runnable ones for which they wait, and so on. If none is, `pids` is unchanged. Returns the number of processes. */
static uint32_t in_the_end(const struct qzi_tree *tree, const struct qzi_tree_process *waiter, uint32_t *pids,
                           uint32_t count) {
  uint32_t now[QZI_TREE_PEERS], now_count = count;
  for (uint32_t k = 0; k < count; k++) now[k] = pids[k];
  for (unsigned hop = 0; hop < HOPS && now_count; hop++) {
    uint32_t able[QZI_TREE_PEERS], able_count = 0, next[QZI_TREE_PEERS], next_count = 0;
    for (uint32_t k = 0; k < now_count; k++) {
      const struct qzi_tree_process *peer = qzi_tree_process_of(tree, now[k]);
      if (peer && peer != waiter && is_runnable(tree, peer)) able_count = add(able, able_count, peer->pid);
    }
    for (uint32_t k = 0; k < able_count; k++) pids[k] = able[k];
    if (able_count) return able_count;
    for (const struct qzi_tree_thread *its = tree->all; its; its = its->next_all)
      for (uint32_t k = 0; k < now_count; k++)
        for (uint32_t j = 0; its->process->pid == now[k] && j < its->peer_count; j++)
          if (its->peers[j] != waiter->pid) next_count = add(next, next_count, its->peers[j]);
    now_count = next_count;
    for (uint32_t k = 0; k < next_count; k++) now[k] = next[k];
  }
  return count;
}

static struct qzi_tree_wait_row *row_of(struct qzi_tree *tree, const struct qzi_tree_wait_row *want) {
  struct qzi_tree_wait_row *row = tree->waits, *end = row + tree->wait_count;
  for (; row < end; row++)
    if (row->kind == want->kind && row->wait == want->wait && row->holder == want->holder &&
        row->holder_pid == want->holder_pid)
      return row;
  if (tree->wait_count < QZI_TREE_WAITS) {
    *row = *want;
    tree->wait_count++;
    return row;
  }
  for (row = tree->waits; row < end - 1; row++) /* one row for all waits that have no row of their own */
    if (row->kind == want->kind && row->wait == want->wait) break;
  row->holder_pid = 0;
  return row;
}

void qzi_tree_waited(struct qzi_tree *tree, const struct qzi_tree_thread *thread, uint64_t ns) {
  uint32_t peers[QZI_TREE_PEERS], count = 0;
  for (uint32_t k = 0; k < thread->peer_count; k++)
    if (thread->peers[k] != thread->process->pid && qzi_tree_process_of(tree, thread->peers[k]))
      count = add(peers, count, thread->peers[k]);
  count = in_the_end(tree, thread->process, peers, count);
  uint32_t parts = count ? count : 1;
  for (uint32_t k = 0; k < parts; k++) {
    const struct qzi_tree_process *peer = count ? qzi_tree_process_of(tree, peers[k]) : NULL;
    struct qzi_tree_wait_row want = {.kind = thread->process->kind,
                                     .wait = thread->wait,
                                     .holder = peer ? peer->kind : UINT32_MAX,
                                     .holder_pid = peer ? peer->pid : 0};
    struct qzi_tree_wait_row *row = row_of(tree, &want);
    row->ns += ns / parts;
    if (tree->now_ns - thread->since_ns < QZI_TREE_SHORT_NS) row->short_ns += ns / parts;
    if (tree->busy + tree->no_cpu < tree->cpus) row->idle_ns += ns / parts;
  }
}

void qzi_tree_gap_ended(struct qzi_tree *tree, const struct qzi_tree_thread *thread) {
  if (thread->state == QZI_TREE_ASLEEP) {
    struct qzi_tree_gap *gap = &tree->gaps[thread->process->kind][thread->wait];
    gap->ns += tree->gap_ns;
    if (tree->now_ns - thread->since_ns < QZI_TREE_SHORT_NS) gap->short_ns += tree->gap_ns;
  }
  tree->gap_ns = 0;
}

static void share_gaps(struct qzi_tree_gap gaps[QZI_WAITS]) {
  uint64_t all_ns = 0;
  for (unsigned wait = 0; wait < QZI_WAITS; wait++)
    if (wait != QZI_WAIT_UNKNOWN) all_ns += gaps[wait].short_ns;
  if (!all_ns) return;
  double each = (double)gaps[QZI_WAIT_UNKNOWN].ns / (double)all_ns;
  for (unsigned wait = 0; wait < QZI_WAITS; wait++)
    if (wait != QZI_WAIT_UNKNOWN) gaps[wait].ns += (uint64_t)(each * (double)gaps[wait].short_ns);
  gaps[QZI_WAIT_UNKNOWN].ns = 0;
}

static void share_waits(struct qzi_tree *tree, struct qzi_tree_wait_row *unknown) {
  const struct qzi_tree_wait_row *end = tree->waits + tree->wait_count;
  uint64_t all_ns = 0;
  for (const struct qzi_tree_wait_row *row = tree->waits; row < end; row++)
    if (row->kind == unknown->kind && row->wait != QZI_WAIT_UNKNOWN) all_ns += row->short_ns;
  if (!all_ns) return;
  for (struct qzi_tree_wait_row *row = tree->waits; row < end; row++) {
    if (row->kind != unknown->kind || row->wait == QZI_WAIT_UNKNOWN) continue;
    double part = (double)row->short_ns / (double)all_ns;
    row->ns += (uint64_t)((double)unknown->ns * part);
    row->idle_ns += (uint64_t)((double)unknown->idle_ns * part);
  }
  unknown->ns = unknown->idle_ns = 0;
}

void qzi_tree_share_unknown(struct qzi_tree *tree) {
  for (unsigned k = 0; k < tree->kind_count; k++) share_gaps(tree->gaps[k]);
  for (unsigned k = 0; k < tree->wait_count; k++)
    if (tree->waits[k].wait == QZI_WAIT_UNKNOWN) share_waits(tree, &tree->waits[k]);
}
