/* Processes and threads of a tree, updated by events. See tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>
#include "tree_parts.h"

struct qzi_tree_thread *qzi_tree_thread_of(const struct qzi_tree *tree, uint32_t tid) {
  struct qzi_tree_thread *thread = tree->threads[tid % QZI_TREE_HASH];
  while (thread && thread->tid != tid) thread = thread->next;
  return thread;
}

struct qzi_tree_process *qzi_tree_process_of(const struct qzi_tree *tree, uint32_t pid) {
  struct qzi_tree_process *process = tree->processes[pid % QZI_TREE_HASH];
  while (process && process->pid != pid) process = process->next;
  return process;
}

static void stop_running(struct qzi_tree *tree, struct qzi_tree_thread *thread) {
  if (thread->cpu < 0) return;
  tree->running[thread->cpu] = NULL;
  thread->cpu = -1;
  tree->busy--;
}

static void set_state(struct qzi_tree *tree, struct qzi_tree_thread *thread, enum qzi_tree_state state) {
  qzi_tree_chain_on(tree, thread);
  tree->no_cpu -= thread->state == QZI_TREE_NO_CPU;
  tree->no_cpu += state == QZI_TREE_NO_CPU;
  thread->state = state;
  thread->since_ns = tree->now_ns;
}

/* ---- beginnings ---- */

static struct qzi_tree_process *begin_process(struct qzi_tree *tree, uint32_t pid, uint32_t ppid, uint32_t kind) {
  struct qzi_tree_process *process = calloc(1, sizeof *process);
  if (!process) return NULL;
  process->pid = pid;
  process->parent = ppid;
  process->number = tree->numbers++;
  process->begin_ns = tree->now_ns;
  process->next = tree->processes[pid % QZI_TREE_HASH];
  tree->processes[pid % QZI_TREE_HASH] = process;
  if (++tree->alive > tree->alive_most) tree->alive_most = tree->alive;
  qzi_tree_enter_kind(tree, process, kind);
  struct qzi_tree_process *parent = qzi_tree_process_of(tree, ppid);
  if (parent && parent != process) qzi_tree_family_on(tree, parent, 1, kind);
  return process;
}

static struct qzi_tree_thread *begin_thread(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t tid,
                                            struct qzi_tree_thread *creator) {
  struct qzi_tree_thread *thread = calloc(1, sizeof *thread);
  struct qzi_tree_chain *chain = calloc(1, sizeof *chain);
  if (!thread || !chain) {
    free(thread);
    free(chain);
    return NULL;
  }
  *thread = (struct qzi_tree_thread){.tid = tid,
                                     .process = process,
                                     .state = QZI_TREE_NO_CPU,
                                     .cpu = -1,
                                     .since_ns = tree->now_ns,
                                     .counted_ns = creator ? tree->now_ns : tree->begin_ns,
                                     .chain = chain,
                                     .next = tree->threads[tid % QZI_TREE_HASH],
                                     .next_all = tree->all};
  if (creator) {
    qzi_tree_chain_on(tree, creator);
    *chain = *creator->chain;
  }
  tree->threads[tid % QZI_TREE_HASH] = thread;
  if (tree->all) tree->all->previous_all = thread;
  tree->all = thread;
  tree->no_cpu++;
  process->threads++;
  return thread;
}

struct qzi_tree *qzi_tree_new(uint32_t root, const char *name, unsigned cpus, uint64_t begin_ns) {
  struct qzi_tree *tree = calloc(1, sizeof *tree);
  if (!tree) return NULL;
  tree->begin_ns = tree->now_ns = begin_ns;
  tree->cpus = cpus;
  tree->root = root;
  tree->span_ns = 1000000;
  struct qzi_tree_process *process = begin_process(tree, root, 0, qzi_tree_kind_of(tree, name, 0));
  if (process && begin_thread(tree, process, root, NULL)) return tree;
  qzi_tree_free(tree);
  return NULL;
}

/* The thread; if the event of its beginning was lost, it is added now. */
static struct qzi_tree_thread *known(struct qzi_tree *tree, uint32_t pid, uint32_t tid) {
  struct qzi_tree_thread *thread = qzi_tree_thread_of(tree, tid);
  if (thread) return thread;
  tree->odd++;
  struct qzi_tree_process *process = qzi_tree_process_of(tree, pid);
  if (!process) process = begin_process(tree, pid, 0, qzi_tree_kind_of(tree, "?", 0));
  thread = process ? begin_thread(tree, process, tid, NULL) : NULL;
  if (!thread) tree->no_memory = 1;
  return thread;
}

static void begins(struct qzi_tree *tree, const struct qzi_task_event *event) {
  struct qzi_tree_thread *creator = qzi_tree_thread_of(tree, event->ptid);
  struct qzi_tree_process *process = qzi_tree_process_of(tree, event->pid);
  if (qzi_tree_thread_of(tree, event->tid)) { /* the event of its end was lost */
    tree->odd++;
    return;
  }
  if (!process) {
    struct qzi_tree_process *parent = qzi_tree_process_of(tree, event->ppid);
    uint32_t kind = parent ? parent->kind : qzi_tree_kind_of(tree, "?", 0);
    process = begin_process(tree, event->pid, event->ppid, qzi_tree_kind_of(tree, tree->kinds[kind].name, 1));
  }
  if (!process || !begin_thread(tree, process, event->tid, creator)) tree->no_memory = 1;
}

/* ---- ends ---- */

static void forget_process(struct qzi_tree *tree, struct qzi_tree_process *process) {
  struct qzi_tree_process **at = &tree->processes[process->pid % QZI_TREE_HASH];
  while (*at != process) at = &(*at)->next;
  *at = process->next;
  free(process->child_chain);
  free(process);
}

static void end_process(struct qzi_tree *tree, struct qzi_tree_process *process, struct qzi_tree_chain *chain) {
  process->end_ns = tree->now_ns;
  tree->alive--;
  qzi_tree_release(tree, process, chain);
  qzi_tree_family_end(tree, process);
  qzi_tree_leave_kind(tree, process);
  if (process->pid == tree->root && !tree->over) {
    tree->path = *chain;
    tree->over = 1;
  }
  struct qzi_tree_process *parent = qzi_tree_process_of(tree, process->parent);
  if (parent && parent != process) {
    qzi_tree_family_on(tree, parent, -1, process->kind);
    free(parent->child_chain);
    parent->child_chain = chain;
    parent->child_end_ns = tree->now_ns;
  } else {
    free(chain);
  }
  qzi_tree_keep(tree, process);
  forget_process(tree, process);
}

static void end_thread(struct qzi_tree *tree, struct qzi_tree_thread *thread) {
  stop_running(tree, thread);
  set_state(tree, thread, QZI_TREE_ASLEEP);
  struct qzi_tree_thread **at = &tree->threads[thread->tid % QZI_TREE_HASH];
  while (*at != thread) at = &(*at)->next;
  *at = thread->next;
  if (thread->next_all) thread->next_all->previous_all = thread->previous_all;
  if (thread->previous_all)
    thread->previous_all->next_all = thread->next_all;
  else
    tree->all = thread->next_all;
  if (--thread->process->threads == 0)
    end_process(tree, thread->process, thread->chain);
  else
    free(thread->chain);
  free(thread);
}

void qzi_tree_end(struct qzi_tree *tree) {
  while (tree->all) end_thread(tree, tree->all);
}

void qzi_tree_free(struct qzi_tree *tree) {
  qzi_tree_end(tree);
  for (unsigned k = 0; k < QZI_TREE_HASH; k++)
    while (tree->processes[k]) forget_process(tree, tree->processes[k]);
  free(tree->running);
  free(tree);
}

/* ---- CPUs ---- */

static int has_room(struct qzi_tree *tree, unsigned cpu) {
  if (cpu < tree->running_room) return 1;
  unsigned room = cpu + 64;
  struct qzi_tree_thread **more = cpu < 65536 ? realloc(tree->running, room * sizeof(*more)) : NULL;
  if (!more) return 0;
  memset(more + tree->running_room, 0, (room - tree->running_room) * sizeof(*more));
  tree->running = more;
  tree->running_room = room;
  return 1;
}

static void runs(struct qzi_tree *tree, struct qzi_tree_thread *thread, int cpu) {
  if (cpu < 0 || !has_room(tree, (unsigned)cpu)) {
    tree->no_memory = 1;
    return;
  }
  if (thread->cpu >= 0 || tree->running[cpu]) { /* the event that it stopped, or that another thread stopped there,
                                                   was lost */
    tree->odd++;
    if (tree->running[cpu] && tree->running[cpu] != thread) {
      struct qzi_tree_thread *other = tree->running[cpu];
      stop_running(tree, other);
      set_state(tree, other, QZI_TREE_NO_CPU);
    }
    stop_running(tree, thread);
  }
  if (!tree->busy) qzi_tree_gap_ended(tree, thread);
  if (thread->state == QZI_TREE_ASLEEP) {
    qzi_tree_woken(tree, thread);
    thread->slept_ns = tree->now_ns;
  }
  set_state(tree, thread, QZI_TREE_RAN);
  thread->wait = QZI_WAIT_UNKNOWN;
  thread->peer_count = 0;
  thread->released = 0;
  thread->cpu = cpu;
  tree->running[cpu] = thread;
  tree->busy++;
  tree->switches++;
}

void qzi_tree_advance(struct qzi_tree *tree, uint64_t now_ns) {
  if (now_ns <= tree->now_ns || tree->over) return;
  uint64_t ns = now_ns - tree->now_ns;
  unsigned busy = tree->busy < QZI_TREE_BUSY ? tree->busy : QZI_TREE_BUSY, left = tree->busy;
  tree->by_busy[busy] += ns;
  if (!tree->busy && !tree->no_cpu) tree->gap_ns += ns;
  if (tree->no_cpu && tree->busy < tree->cpus) *(tree->busy ? &tree->held_back_ns : &tree->starved_ns) += ns;
  for (unsigned cpu = 0; left && cpu < tree->running_room; cpu++) {
    if (!tree->running[cpu]) continue;
    left--;
    struct qzi_tree_process *process = tree->running[cpu]->process;
    tree->kinds[process->kind].by_busy[busy] += ns;
    tree->kinds[process->kind].run_ns += ns;
    process->run_ns += ns;
    process->kind_run_ns += ns;
    process->npt_ns += (double)ns / tree->busy;
    if (tree->busy > 1 || tree->no_cpu) continue;
    tree->kinds[process->kind].alone_ns += ns;
    process->alone_ns += ns;
  }
  qzi_tree_spans_on(tree, now_ns);
  tree->now_ns = now_ns;
}

void qzi_tree_take(struct qzi_tree *tree, const struct qzi_task_event *event) {
  if (tree->over) return;
  qzi_tree_advance(tree, event->ns);
  struct qzi_tree_thread *thread;
  switch (event->kind) {
  case QZI_TASK_BEGINS: begins(tree, event); break;
  case QZI_TASK_ENDS:
    if ((thread = qzi_tree_thread_of(tree, event->tid))) end_thread(tree, thread);
    break;
  case QZI_TASK_RUNS:
    if ((thread = known(tree, event->pid, event->tid))) runs(tree, thread, event->cpu);
    break;
  case QZI_TASK_STOPS:
    if (!(thread = qzi_tree_thread_of(tree, event->tid)))
      break; /* an event that arrives after that of the thread's end */
    stop_running(tree, thread);
    set_state(tree, thread, event->preempted ? QZI_TREE_NO_CPU : QZI_TREE_ASLEEP);
    break;
  case QZI_TASK_EXECUTES:
    if (!(thread = known(tree, event->pid, event->tid))) break;
    qzi_tree_chain_on(tree, thread);
    if (event->pid == tree->root && !tree->executes++)
      qzi_tree_name_root(tree, thread->process, event->name);
    else
      qzi_tree_became(tree, thread->process, qzi_tree_kind_of(tree, event->name, 0));
    break;
  }
}
