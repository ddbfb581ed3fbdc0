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
    if (tree->busy + tree->no_cpu < tree->cpus) row->idle_ns += ns / parts;
  }
}
