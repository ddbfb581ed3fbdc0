/* What is known about a tree of processes (tree.h): its processes and threads, sums, the time line.
 *
 * Owns:    the types alone. Writer and reader: as tree.h says.
 */
#ifndef QZI_TREE_STATE_H
#define QZI_TREE_STATE_H

#include <stdint.h>

#define QZI_TREE_KINDS    96u  /* maximum number of kinds; the last one takes all others */
#define QZI_TREE_BUSY     256u /* largest number of busy CPUs that is distinguished; more count as this many */
#define QZI_TREE_KEPT     128u /* maximum number of processes listed individually in the file */
#define QZI_TREE_FAMILIES 64u
#define QZI_TREE_SPANS    512u /* maximum number of spans of the time line */
#define QZI_TREE_WAITS    512u
#define QZI_TREE_BESIDE   8u /* distinguished numbers of living children; the last one: that many or more */

/* State of a thread, for the path. */
enum qzi_tree_state { QZI_TREE_RAN, QZI_TREE_NO_CPU, QZI_TREE_ASLEEP, QZI_TREE_STATES };

struct qzi_tree_kind {
  char name[64];
  uint32_t forked;                   /* 1: created by fork, and continues the same program */
  uint64_t processes, became;        /* number of processes that were ever of this kind; of those that then executed
                                        another program */
  uint64_t run_ns, became_ns;        /* processor time of all; of those that then executed another program */
  uint64_t ended, least_ns, most_ns; /* processes that ended as this kind; least and most processor time of one */
  uint64_t short_count, short_ns;    /* those of them that lived for less than 0.1 s; their processor time */
  uint64_t alone_ns; /* time in which only this kind had a CPU, and no other thread is known to have waited for one */
  uint64_t by_busy[QZI_TREE_BUSY + 1];
};

/* The chain of what a thread had to wait for, as sums, which add up to the time since the beginning. */
struct qzi_tree_chain {
  uint64_t ns[QZI_TREE_KINDS][QZI_TREE_STATES];
};

/* Children of one process that lived at the same time. */
struct qzi_tree_family {
  uint32_t pid, kind, child_kind, alive, most; /* child_kind: kind of the last child */
  uint64_t children, since_ns, ns[QZI_TREE_BESIDE + 1];
};

struct qzi_tree_process {
  uint32_t pid, parent, kind, threads; /* parent: pid; 0: no process in the tree */
  uint32_t number;                     /* in the order of their beginnings */
  uint32_t looked;                     /* how often its title was read (look.h) */
  uint64_t begin_ns, end_ns;           /* end 0: it lives */
  uint64_t run_ns, alone_ns;           /* alone: time in which no other process of the tree had a CPU */
  uint64_t kind_run_ns;                /* processor time since it became of its kind */
  double npt_ns;
  uint64_t span_number, span_ns; /* number of a span of the time line, and the time that it ran in that span */
  struct qzi_tree_family family;
  struct qzi_tree_chain *child_chain; /* chain of the child that ended last; NULL: none has ended */
  uint64_t child_end_ns;
  struct qzi_tree_process *next; /* next process with the same hash */
};

/* What a sleeping thread waits for. */
enum qzi_tree_wait {
  QZI_WAIT_UNKNOWN,    /* not examined yet, or it had ended when it was */
  QZI_WAIT_CHILDREN,   /* for a child process to end */
  QZI_WAIT_PIPE_READ,  /* for data in a pipe */
  QZI_WAIT_PIPE_WRITE, /* for room in a pipe */
  QZI_WAIT_SOCKET,
  QZI_WAIT_LOCK,      /* a mutex shared by processes */
  QZI_WAIT_SHARED,    /* another futex shared by processes: a semaphore, a condition */
  QZI_WAIT_THREADS,   /* a private futex of the process, or one of its threads' end */
  QZI_WAIT_SEMAPHORE, /* a System V semaphore */
  QZI_WAIT_FILE_LOCK,
  QZI_WAIT_EVENTS, /* poll, select, epoll */
  QZI_WAIT_SLEEP,
  QZI_WAIT_DEVICE, /* uninterruptible sleep */
  QZI_WAIT_FLUSH,  /* for what was written to reach the disk */
  QZI_WAIT_OTHER,
  QZI_WAITS
};
#define QZI_TREE_PEERS    8u
#define QZI_TREE_SHORT_NS 40000000u /* a shorter sleep has often ended when it is to be examined */

struct qzi_tree_thread {
  uint32_t tid;
  struct qzi_tree_process *process;
  enum qzi_tree_state state;
  int cpu;             /* the CPU that it has; -1: none */
  uint64_t since_ns;   /* time since which it is in this state */
  uint64_t counted_ns; /* time up to which its chain is complete */
  struct qzi_tree_chain *chain;
  enum qzi_tree_wait wait; /* what it waits for in the current sleep */
  int released;            /* 1: a process that it waited for has ended: the chain is that process's */
  uint64_t slept_ns;       /* when its last sleep ended; 0: it had none */
  uint32_t peers[QZI_TREE_PEERS], peer_count; /* pids of the processes that it waits for */
  uint64_t look_ns;                           /* if none were found: when to search again */
  struct qzi_tree_thread *next, *previous_all, *next_all;
};

struct qzi_tree_wait_row {
  uint32_t kind, wait, holder; /* kind of the process it waits for; UINT32_MAX: unknown, or not in the tree */
  uint32_t holder_pid;         /* its pid; 0: several */
  uint64_t ns, idle_ns; /* thread time; the part of it while fewer threads were runnable than there are usable CPUs */
  uint64_t short_ns;    /* the part of ns while a sleep was still short */
};

/* Time in which nothing ran, until a thread went on that had slept in that way; the part of it of short sleeps. */
struct qzi_tree_gap {
  uint64_t ns, short_ns;
};

struct qzi_tree_span {
  uint64_t ns, run_ns, top_ns;
  uint32_t top_pid, top_kind;
};

#define QZI_TREE_HASH 4096u

struct qzi_tree {
  uint64_t begin_ns, now_ns; /* beginning of the launched process; time of the last event */
  unsigned cpus;             /* number of usable CPUs: P */
  uint32_t root;             /* pid of the launched process */
  unsigned busy;             /* number of threads that have a CPU */
  unsigned no_cpu;           /* number of runnable threads without a CPU, as far as known */
  uint64_t by_busy[QZI_TREE_BUSY + 1];
  uint64_t starved_ns;              /* time in which no thread ran although one was runnable */
  uint64_t held_back_ns;            /* time in which some ran, fewer than P, although another one was runnable */
  struct qzi_tree_thread **running; /* by CPU */
  unsigned running_room;
  struct qzi_tree_thread *threads[QZI_TREE_HASH], *all;
  struct qzi_tree_process *processes[QZI_TREE_HASH];
  unsigned alive, alive_most;
  uint32_t numbers;
  struct qzi_tree_kind kinds[QZI_TREE_KINDS];
  unsigned kind_count;
  struct qzi_tree_process kept[QZI_TREE_KEPT]; /* ended processes with the most NPT */
  unsigned kept_count;
  struct qzi_tree_family families[QZI_TREE_FAMILIES]; /* of ended processes; in no particular order */
  unsigned family_count;
  struct qzi_tree_span spans[QZI_TREE_SPANS];
  unsigned span_count;
  uint64_t span_ns, span_number;
  struct qzi_tree_wait_row waits[QZI_TREE_WAITS];
  unsigned wait_count;
  struct qzi_tree_gap gaps[QZI_TREE_KINDS][QZI_WAITS];
  uint64_t gap_ns;            /* for how long nothing has run or been runnable; 0: something runs */
  struct qzi_tree_chain path; /* chain of the launched process, when it has ended */
  uint64_t switches, odd;     /* odd: events that contradicted the state, because others were lost */
  int executes, over;         /* whether the launched process was seen to execute its program; whether it has ended */
  int no_memory;
};

#endif
