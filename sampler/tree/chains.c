/* The path of a tree: sums of what each thread had to wait for. See tree.h, docs/reference/trees.md. */
#include <stdlib.h>
#include "tree_parts.h"

/* a thread that waits for several things resumes within this time (ns) after the event that woke it */
#define SOON_NS 20000000u

void qzi_tree_chain_on(struct qzi_tree *tree, struct qzi_tree_thread *thread) {
  thread->chain->ns[thread->process->kind][thread->state] += tree->now_ns - thread->counted_ns;
  thread->counted_ns = tree->now_ns;
}

/* Continues the thread's chain from a chain that was complete up to `at_ns`; since then the thread had no CPU. */
static void go_on(struct qzi_tree *tree, struct qzi_tree_thread *thread, const struct qzi_tree_chain *chain,
                  uint64_t at_ns) {
  *thread->chain = *chain;
  thread->chain->ns[thread->process->kind][QZI_TREE_NO_CPU] += tree->now_ns - at_ns;
  thread->counted_ns = tree->now_ns;
}

static int may_wait_for_children(const struct qzi_tree_thread *thread, uint64_t late_ns) {
  switch (thread->wait) {
  case QZI_WAIT_UNKNOWN:
  case QZI_WAIT_CHILDREN: return 1;
  case QZI_WAIT_PIPE_READ:
  case QZI_WAIT_EVENTS:
  case QZI_WAIT_OTHER: return late_ns < SOON_NS;
  default: return 0;
  }
}

/* Of the threads in the processes for which it waited, the one that ran last. */
static struct qzi_tree_thread *last_peer(const struct qzi_tree *tree, const struct qzi_tree_thread *thread) {
  struct qzi_tree_thread *last = NULL;
  if (!thread->peer_count || thread->wait == QZI_WAIT_CHILDREN) return NULL;
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) {
    if (its->process == thread->process || its->state == QZI_TREE_NO_CPU) continue;
    if (its->state == QZI_TREE_ASLEEP && its->since_ns < thread->since_ns) continue;
    int peer = 0;
    for (uint32_t k = 0; k < thread->peer_count; k++) peer |= thread->peers[k] == its->process->pid;
    if (!peer) continue;
    if (!last || its->state == QZI_TREE_RAN || (last->state != QZI_TREE_RAN && its->since_ns > last->since_ns))
      last = its;
  }
  return last;
}

void qzi_tree_release(struct qzi_tree *tree, const struct qzi_tree_process *process,
                      const struct qzi_tree_chain *chain) {
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) {
    if (its->state != QZI_TREE_ASLEEP || its->wait == QZI_WAIT_CHILDREN) continue;
    for (uint32_t k = 0; k < its->peer_count; k++)
      if (its->peers[k] == process->pid && its->process != process) {
        *its->chain = *chain;
        its->counted_ns = tree->now_ns;
        its->released = 1;
      }
  }
}

void qzi_tree_woken(struct qzi_tree *tree, struct qzi_tree_thread *thread) {
  struct qzi_tree_process *process = thread->process;
  if (process->child_chain && process->child_end_ns > thread->since_ns &&
      may_wait_for_children(thread, tree->now_ns - process->child_end_ns)) {
    go_on(tree, thread, process->child_chain, process->child_end_ns);
    return;
  }
  struct qzi_tree_thread *peer = last_peer(tree, thread);
  /* woken by the end of the process that released it */
  if (thread->released && (!peer || peer->since_ns < thread->counted_ns)) {
    thread->chain->ns[process->kind][QZI_TREE_NO_CPU] += tree->now_ns - thread->counted_ns;
    thread->counted_ns = tree->now_ns;
    return;
  }
  if (!peer) return;
  if (peer->state == QZI_TREE_RAN) {
    qzi_tree_chain_on(tree, peer);
    go_on(tree, thread, peer->chain, tree->now_ns);
  } else {
    go_on(tree, thread, peer->chain, peer->counted_ns); /* it has been asleep since then */
  }
}
