/* A tree of processes: what each kind of process in it did, by the number of its threads that had a CPU at that time.
 *
 * Owns:    processes and threads that live, sums by kind of process, the processes with the most time, the time line.
 * Writer and reader: the observing thread (observer.h); when that has ended, who writes the file (tree_file.h).
 * Must not: ask the kernel, or read a clock: events are its only input, so that tests can make them up.
 *
 * docs/reference/trees.md defines what the numbers mean.
 */
#ifndef QZI_TREE_H
#define QZI_TREE_H

#include <stdint.h>
#include "sampler/linux/task_events.h"

#define QZI_TREE_KINDS    96u  /* the last one takes what finds no room */
#define QZI_TREE_BUSY     256u /* more at a time count as so many */
#define QZI_TREE_KEPT     128u /* processes that the file lists one by one */
#define QZI_TREE_FAMILIES 64u
#define QZI_TREE_SPANS    512u /* of the time line */
#define QZI_TREE_WAITS    512u
#define QZI_TREE_BESIDE   8u /* living children at the same time; the last one: so many or more */

/* What a thread does, for the path. */
enum qzi_tree_state { QZI_TREE_RAN, QZI_TREE_NO_CPU, QZI_TREE_ASLEEP, QZI_TREE_STATES };

struct qzi_tree_kind {
  char name[64];
  uint32_t forked;                   /* 1: made by fork, and goes on as the same program */
  uint64_t processes, became;        /* that ever were of it; that went on as another program */
  uint64_t run_ns, became_ns;        /* processor time; of those that went on as another program */
  uint64_t ended, least_ns, most_ns; /* processes that ended as it, and the processor time of those, least and most */
  uint64_t short_count, short_ns;    /* of these, that lived for less than 0.1 s; their processor time */
  uint64_t alone_ns;                 /* only one of it had a CPU, and nothing else is known to have wanted one */
  uint64_t by_busy[QZI_TREE_BUSY + 1];
};

/* The chain of what a thread had to wait for, as sums; all of it adds up to the time since the beginning. */
struct qzi_tree_chain {
  uint64_t ns[QZI_TREE_KINDS][QZI_TREE_STATES];
};

/* Children of one process that lived at the same time. */
struct qzi_tree_family {
  uint32_t pid, kind, child_kind, alive, most; /* child_kind: of the last one */
  uint64_t children, since_ns, ns[QZI_TREE_BESIDE + 1];
};

struct qzi_tree_process {
  uint32_t pid, parent, kind, threads; /* parent: pid; 0: of none in the tree */
  uint32_t number;                     /* processes are numbered as they begin */
  uint32_t looked;                     /* how often its title was looked for (look.h) */
  uint64_t begin_ns, end_ns;           /* end 0: lives */
  uint64_t run_ns, alone_ns;           /* alone: nothing else of the tree had a CPU */
  uint64_t kind_run_ns;                /* since it is of its kind */
  double npt_ns;
  uint64_t span_number, span_ns; /* what it ran in the span of the time line that has that number */
  struct qzi_tree_family family;
  struct qzi_tree_chain *child_chain; /* of the child that ended last; NULL: none has */
  uint64_t child_end_ns;
  struct qzi_tree_process *next; /* of the same hash */
};

/* What a sleeping thread waits for. */
enum qzi_tree_wait {
  QZI_WAIT_UNKNOWN,    /* nobody has looked */
  QZI_WAIT_CHILDREN,   /* for a child process to end */
  QZI_WAIT_PIPE_READ,  /* for data */
  QZI_WAIT_PIPE_WRITE, /* for room */
  QZI_WAIT_SOCKET,
  QZI_WAIT_LOCK,      /* a mutex that processes share */
  QZI_WAIT_SHARED,    /* another futex that processes share: a semaphore, a condition */
  QZI_WAIT_THREADS,   /* a futex of the process itself */
  QZI_WAIT_SEMAPHORE, /* of System V */
  QZI_WAIT_FILE_LOCK,
  QZI_WAIT_EVENTS, /* poll, select, epoll */
  QZI_WAIT_SLEEP,
  QZI_WAIT_DEVICE, /* uninterruptible */
  QZI_WAIT_OTHER,
  QZI_WAITS
};
#define QZI_TREE_PEERS 8u

struct qzi_tree_thread {
  uint32_t tid;
  struct qzi_tree_process *process;
  enum qzi_tree_state state;
  int cpu;             /* that it has; -1: none */
  uint64_t since_ns;   /* it has that state since then */
  uint64_t counted_ns; /* the chain is so far */
  struct qzi_tree_chain *chain;
  enum qzi_tree_wait wait;                    /* of this sleep */
  int released;                               /* 1: one that it waited for has ended: the chain is that one's */
  uint32_t peers[QZI_TREE_PEERS], peer_count; /* pids that it waits for */
  uint64_t look_ns;                           /* where none were found: when to look again */
  struct qzi_tree_thread *next, *previous_all, *next_all;
};

struct qzi_tree_wait_row {
  uint32_t kind, wait, holder; /* holder: a kind; UINT32_MAX: not known, or none in the tree */
  uint32_t holder_pid;         /* 0: several */
  uint64_t ns, idle_ns;        /* thread time; of it while fewer wanted to run than CPUs may be used */
};

struct qzi_tree_span {
  uint64_t ns, run_ns, top_ns;
  uint32_t top_pid, top_kind;
};

#define QZI_TREE_HASH 4096u

struct qzi_tree {
  uint64_t begin_ns, now_ns; /* of the launched process; of the last event */
  unsigned cpus;             /* that may be used: P */
  uint32_t root;             /* pid */
  unsigned busy;             /* threads that have a CPU */
  unsigned no_cpu;           /* that could go on and have none (as far as is known) */
  uint64_t by_busy[QZI_TREE_BUSY + 1];
  uint64_t starved_ns;              /* nothing ran, though something could have */
  struct qzi_tree_thread **running; /* by CPU */
  unsigned running_room;
  struct qzi_tree_thread *threads[QZI_TREE_HASH], *all;
  struct qzi_tree_process *processes[QZI_TREE_HASH];
  unsigned alive, alive_most;
  uint32_t numbers;
  struct qzi_tree_kind kinds[QZI_TREE_KINDS];
  unsigned kind_count;
  struct qzi_tree_process kept[QZI_TREE_KEPT]; /* that have ended, with the most NPT */
  unsigned kept_count;
  struct qzi_tree_family families[QZI_TREE_FAMILIES]; /* of processes that have ended, longest first or not */
  unsigned family_count;
  struct qzi_tree_span spans[QZI_TREE_SPANS];
  unsigned span_count;
  uint64_t span_ns, span_number;
  struct qzi_tree_wait_row waits[QZI_TREE_WAITS];
  unsigned wait_count;
  struct qzi_tree_chain path; /* of the launched process, when it has ended */
  uint64_t switches, odd;     /* odd: events that contradicted what was known, as where some were lost */
  int executes, over;         /* the launched process has been seen to run its program; has ended */
  int no_memory;
};

/* Begins with the process `root`, which has begun to execute nothing yet. NULL: no memory. */
struct qzi_tree *qzi_tree_new(uint32_t root, const char *name, unsigned cpus, uint64_t begin_ns);
void qzi_tree_free(struct qzi_tree *tree);
/* In the order of their times; an earlier one counts as of the last one's time. */
void qzi_tree_take(struct qzi_tree *tree, const struct qzi_task_event *event);
/* Nothing happened until then. What comes after the launched process's end does not count. */
void qzi_tree_advance(struct qzi_tree *tree, uint64_t now_ns);
/* What lives has ended: nothing follows. */
void qzi_tree_end(struct qzi_tree *tree);

struct qzi_tree_process *qzi_tree_process_of(const struct qzi_tree *tree, uint32_t pid);
/* The process is called so from now on (its title). */
void qzi_tree_rename(struct qzi_tree *tree, struct qzi_tree_process *process, const char *name);
/* A thread waits for that, for so much time. */
void qzi_tree_waited(struct qzi_tree *tree, const struct qzi_tree_thread *thread, uint64_t ns);

#endif
