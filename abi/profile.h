/* The profile: the file that the sampler writes while it samples.
 *
 * Owns:    the layout of a profile file.
 * Writer:  the sampler, through a shared mapping, while `status` is QZ_PROFILE_RECORDING.
 * Reader:  reports (of a finished file) and the live screen (of one that grows); both check everything.
 *
 * The file is a head and sections; a section is an array with a capacity, and a count that is stored (release) after
 * its elements. Its bytes lie in one or more extents, in order, each as long as all before it: while recording the file
 * grows at its end and has no holes. Its size depends on what was seen, not on how long. A finished file has one extent
 * a section, an end mark, and checksums over every byte. If the sampler dies, the file is good up to its last snapshot;
 * nothing says then whether it was damaged later.
 * All times are integer nanoseconds, so that sums are exact (docs/reference/metrics.md, section 5).
 */
#ifndef QZ_ABI_PROFILE_H
#define QZ_ABI_PROFILE_H

#include <stdint.h>
#include "origin.h"
#include "session.h"

#define QZ_PROFILE_MAGIC      UINT64_C(0x31465052545a5551) /* finished; "QUZTRPF1" as little-endian bytes */
#define QZ_PROFILE_MAGIC_OPEN UINT64_C(0x4e45504f545a5551) /* not (yet) finished; "QUZTOPEN" */
#define QZ_PROFILE_MAGIC_END  UINT64_C(0x444e4552545a5551) /* of the end mark; "QUZTREND" */
#define QZ_PROFILE_VERSION    25u
/* Older ones that are read, too: what they lack, sections and the last fields of some, is empty; all else is the same.
 */
#define QZ_PROFILE_OLDEST     16u

enum qz_profile_status {
  QZ_PROFILE_RECORDING = 1, /* the sampler is writing, or died while it did (then its pid is gone) */
  QZ_PROFILE_COMPLETE = 2,
  QZ_PROFILE_CUT = 3 /* ended early: see end_reason; what is there is right */
};
enum qz_end_reason {
  QZ_END_NONE = 0,
  QZ_END_EXIT = 1,        /* the program exited: exit_status is its status */
  QZ_END_SIGNAL = 2,      /* it was killed: exit_status is the signal */
  QZ_END_INTERRUPTED = 3, /* recording was ended by Ctrl-C or SIGTERM; the program may run on */
  QZ_END_DISK_FULL = 4,
  QZ_END_EXEC = 5, /* the program replaced itself by another that does not publish */
  QZ_END_ERROR = 6,
  QZ_END_TIME = 7 /* the time that was asked for was over; the program may run on */
};

/* How call paths were found where the program has no hooks, and what stood in the way. */
#define QZ_PATHS_HOOKS       1u   /* some threads have paths by hooks */
#define QZ_PATHS_WAITS       2u   /* of waiting threads by unwinding */
#define QZ_PATHS_RUNNING     4u   /* of running threads by the kernel's samples and unwinding */
#define QZ_PATHS_NO_MEMORY   8u   /* the program's memory may not be read: no unwinding */
#define QZ_PATHS_NO_SAMPLES  16u  /* the kernel gives no samples (perf_event_open) */
#define QZ_PATHS_FEW_SAMPLES 32u  /* for some threads it gave none: no more memory for them, or too many threads */
#define QZ_PATHS_NO_CALLS    64u  /* /proc/PID/task/TID/syscall may not be read: in which call a thread sleeps */
#define QZ_PATHS_KERNEL      128u /* samples tell the kernel's work from the program's */
#define QZ_PATHS_RARE        256u /* for a time it gave fewer than half of the samples that were due */

/* What of `usage` is known: time covered, processor times, page faults; how often threads gave up their CPUs, or lost
 * them (of a program that has ended, or is no longer recorded, where it could say so); reads and writes. */
#define QZ_USAGE_TIMES       1u
#define QZ_USAGE_SWITCHES    2u
#define QZ_USAGE_CALLS       4u

enum qz_section_id {
  QZ_SECTION_STRINGS = 0,          /* char; offset 0 is the empty string */
  QZ_SECTION_ENTITIES = 1,         /* struct qz_entity; 0 is never used */
  QZ_SECTION_STACKS = 2,           /* struct qz_stack_node; 0 is the empty stack */
  QZ_SECTION_TUPLES = 3,           /* struct qz_tuple */
  QZ_SECTION_BALANCE = 4,          /* struct qz_balance */
  QZ_SECTION_OBJECTS = 5,          /* struct qz_object_stats */
  QZ_SECTION_BLAME = 6,            /* struct qz_blame */
  QZ_SECTION_CALLS = 7,            /* struct qz_call_edge; written at intervals and at the end */
  QZ_SECTION_THREADS = 8,          /* struct qz_thread_stats */
  QZ_SECTION_MODULES = 9,          /* struct qz_module */
  QZ_SECTION_TIMELINE = 10,        /* struct qz_timeline */
  QZ_SECTION_PROCESSORS = 11,      /* struct qz_processor_stats, one for each processor */
  QZ_SECTION_WAIT_OVERLAP = 12,    /* struct qz_wait_overlap */
  QZ_SECTION_ON_PATH = 13,         /* struct qz_on_path; written at the end */
  QZ_SECTION_SEGMENTS = 14,        /* struct qz_path_segment; written at the end */
  QZ_SECTION_ON_SPAN = 15,         /* struct qz_on_span; written at the end */
  QZ_SECTION_SITES = 16,           /* struct qz_span_site; written at the end */
  QZ_SECTION_LEVELS = 17,          /* struct qz_level; written at the end */
  QZ_SECTION_WHAT_IF = 18,         /* struct qz_what_if_answer; written at the end. From version 18 on */
  QZ_SECTION_RECENT_PATHS = 19,    /* struct qz_recent_path; written at intervals and at the end. From version 19 on */
  QZ_SECTION_RECENT_SEGMENTS = 20, /* struct qz_path_segment; likewise */
  QZ_SECTION_INSTRUCTIONS = 21,    /* struct qz_instruction. From version 20 on */
  QZ_SECTION_SLICES = 22,          /* struct qz_slice; with --timeline alone. From version 22 on */
  QZ_SECTION_UNWINDING = 23,       /* struct qz_unwinding. From version 23 on */
  QZ_SECTION_COUNT = 24
};
#define QZ_EXTENTS_MAX 16
struct qz_extent {
  uint64_t offset; /* bytes from the start of the file, a multiple of 8 */
  uint64_t bytes;  /* (changes) the last one of a section may grow */
};
struct qz_section {
  uint64_t capacity;      /* elements */
  uint64_t count;         /* (changes) elements in use */
  uint64_t stride;        /* bytes of an element */
  uint32_t extents_count; /* (changes) */
  uint32_t checksum;      /* of a finished file: CRC-32C of all bytes of the extents */
  struct qz_extent extents[QZ_EXTENTS_MAX];
};

struct qz_profile {
  uint64_t magic;
  uint32_t version;
  uint32_t head_bytes; /* the first extent begins behind them; what follows this struct in them is 0 */
  uint32_t status;     /* (changes) enum qz_profile_status */
  uint32_t end_reason; /* (changes) enum qz_end_reason */
  int32_t exit_status; /* (changes) */
  uint32_t publisher;  /* enum qz_publisher */
  uint32_t pid;        /* of the program */
  uint32_t sampler_pid;
  uint32_t processors;          /* P */
  uint32_t cpus;                /* CPUs of the machine that the program may use */
  uint32_t program;             /* string: path of the executable */
  uint32_t arguments;           /* string: command line, shell-quoted */
  uint32_t host;                /* string: machine, kernel, CPU model */
  uint32_t version_text;        /* string: version of Quartz */
  uint64_t started_realtime_ns; /* CLOCK_REALTIME at the first snapshot */
  uint64_t first_ns;            /* CLOCK_MONOTONIC of the first snapshot */
  uint64_t attached;            /* 1: recording began while the program ran */

  /* (changes) progress; updated once a snapshot */
  uint64_t rounds_begun;   /* snapshots begun; equal to `snapshots` when no snapshot is half added */
  uint64_t snapshots;      /* snapshots added */
  uint64_t elapsed_ns;     /* time covered: the sum of all snapshots' weights = the sum over QZ_SECTION_BALANCE */
  uint64_t visits;         /* processor records copied */
  uint64_t torn_retries;   /* copies repeated because they were torn */
  uint64_t torn_accepted;  /* copies accepted although torn after the last retry */
  uint64_t skipped_ticks;  /* intervals in which no snapshot was possible */
  uint64_t invalid;        /* records that made no sense and were left out */
  uint64_t sampler_cpu_ns; /* CPU time of the sampling threads */
  uint64_t rate_mhz;       /* rate asked for, millihertz */
  uint32_t sampler_cpu;    /* CPU it was pinned to, UINT32_MAX: none */
  uint32_t sampler_spins;  /* 1: spinning on a CPU of its own; 0: sleeping */
  uint32_t sampler_threads;
  uint32_t paths; /* (changes) QZ_PATHS_... */

  /* from the session */
  struct qz_cost hook, lock; /* as in struct qz_session */
  uint64_t hook_inside_ps, spawn_ps, wait_ps;
  uint64_t stack_overflows; /* (changes) pushes refused: stacks deeper than stack_limit */
  uint32_t stack_limit;
  uint32_t session_flags;
  uint64_t calls_lost, threads_dropped, objects_merged, strings_dropped; /* (changes) */
  uint64_t spawns, switches, steals, parks;                              /* (changes) totals over processors */
  /* what did not fit into this file */
  uint64_t tuples_merged;   /* (changes) observations put into a tuple with coarser r because the table was full */
  uint64_t stacks_cut;      /* (changes) stacks shortened because the table was full */
  uint64_t entities_merged; /* (changes) threads counted under their group */
  /* of the kernel threads that publish, as the kernel counts it; read some times a second, 0 and 0: it did not say */
  uint64_t cpu_run_ns;     /* (changes) they ran on CPUs */
  uint64_t cpu_wait_ns;    /* (changes) they were runnable and waited for a CPU */
  uint64_t cpu_dispatches; /* (changes) how often they were given one */
  /* samples of running threads that the kernel took (pthread layer) */
  uint64_t samples;   /* (changes) how many */
  uint64_t sample_ns; /* what one takes from its thread, measured in the sampler; 0: not known */
  /* (changes) Those of threads without hooks: what the CPUs' time goes into. [1]: while more threads could run than
   * there are CPUs */
  struct qz_cpu_use {
    uint64_t samples, spinning, handing;
  } cpu_use[2];              /* all; those of threads that only waited; those in calls that wait, or wake, made
                              * by a procedure that spins as well */
  uint64_t timer_dispatches; /* (changes) how often a thread got a CPU from elsewhere than a thread of the program,
                     while samples were taken */
  uint64_t timer_ns; /* (changes) what the samples' timer takes then, measured in the sampler; 0: not known, or too
                       little to matter */
  uint64_t
    free_lock_ps;      /* (changes) what taking and releasing a free mutex takes, measured in the sampler; 0: not yet */
  uint64_t weight_us2; /* (changes) sum of the squares of all snapshots' weights, square microseconds */
  /* child processes, theirs included, as far as the program waited for their end while it was recorded */
  uint64_t children_run_ns; /* set at the end: they ran on CPUs */
  uint32_t children_apart;  /* 1: they have profiles of their own (--children) */
  uint32_t kin_milli; /* set at the end: thousandths of a CPU that other recorded processes of the launched program had
                         on average, while this one was recorded */
  /* What the kernel counted of the program while it was recorded. */
  struct qz_usage usage; /* (changes) */
  uint64_t usage_known;  /* (changes) QZ_USAGE_... */

  /* the time path; all 0: none was recorded */
  uint64_t path_ns;      /* its length: elapsed_ns */
  uint64_t path_crumbs;  /* crumbs read, */
  uint64_t path_lost;    /* lost: rings that were full, and links for which there was no memory */
  uint64_t path_cut_ns;  /* time of the path for which its chain was lost */
  uint64_t path_to_exit; /* 1: it leads to the end of the program; 0: to what ran when recording ended */

  /* work and span (docs/reference/path.md); span_ns 0: not recorded, or nothing of it */
  uint64_t work_ns, span_ns;
  uint64_t burdened_span_ns, typical_span_ns; /* 0: not known, for the program had not ended in order */
  uint64_t waited_ns; /* left out: waits for CPUs of the package's processors; with QZ_SESSION_CPU_WAITS */
  uint64_t aside_ns;  /* left out: the thread package's own work */
  uint64_t strands;
  uint64_t level_ns;  /* width of a level */
  uint64_t burden_ps; /* what a spawn adds to the burdened span */
  uint64_t span_lost; /* crumbs of the span that were lost */

  struct qz_section sections[QZ_SECTION_COUNT];
};

/* The last bytes of a finished file: head, extents and this make it up without gaps. */
struct qz_profile_end {
  uint64_t magic;
  uint64_t file_bytes;
  uint32_t head_checksum; /* CRC-32C of head_bytes bytes */
  uint32_t checksum;      /* CRC-32C of the fields above */
};

/* Things that time is charged to. */
enum qz_entity_kind {
  /* 1 .. QZ_KIND_COUNT-1: synchronization objects, values of enum qz_kind */
  QZ_ENTITY_PROCEDURE = 32,
  QZ_ENTITY_THREAD = 33,
  QZ_ENTITY_CODE_LOOP = 34, /* a loop of a procedure's code (QZ_KIND_LOOP is one that waits) */
  QZ_ENTITY_CODE_LINE = 35  /* a source line of a procedure's code, at which a path is or calls on */
};
struct qz_entity {
  uint32_t kind;
  uint32_t name; /* string; procedures: set when symbolized; objects and threads: given name or 0 */
  uint32_t file; /* string, set when symbolized; objects: of `address` */
  uint32_t line;
  uint64_t address; /* procedure: entry address, 0: it is inlined. Object: the place that created it. Thread: its start
                       routine. Loop: its first instruction, of one of its copies that the compiler made */
  uint32_t module;  /* index + 1 into QZ_SECTION_MODULES of the module that holds `address`, 0 = unknown */
  uint32_t record;  /* object index, or thread index, in the session; to distinguish namesakes. Procedure: 0, or the
                     * entity of the procedure that it is inlined into (the one that has the code). Loop: the entity of
                     * the procedure, inlined or not, whose source it is in */
  uint32_t detail;  /* string: why there is no name, or file ("stripped", "no debug information", ...), 0 = none */
  uint32_t instances;   /* objects or threads that share this entity */
  uint8_t origin;       /* enum qz_origin: of the code; of a futex or loop: of the library that waits there */
  uint8_t library_wait; /* enum qz_library_wait: of a futex or loop */
  uint8_t naming;       /* enum qz_naming */
  uint8_t missing;      /* enum qz_missing: what `detail` explains */
  uint32_t reserved;
};
/* How a futex or a loop got its name. */
enum qz_naming {
  QZ_NAMING_OWN = 0,  /* as everything else: it was given, or is that of a variable */
  QZ_NAMING_PLACE = 1 /* by what is called there, and where: "GOMP_barrier at solve.c:17"; it says what the thing is */
};
/* Stacks share their beginnings: a node is the stack of its parent with one more entity on top. */
struct qz_stack_node {
  uint32_t parent;
  uint32_t entity;
};

enum qz_waiting {
  QZ_WAITING_NONE = 0,
  QZ_WAITING_OBJECT = 1, /* the top of the stack is the object that the thread waits for */
  QZ_WAITING_WOKEN = 2   /* that object has let the thread go on, which waits for a CPU (states useful and ready) */
};

/* Runnable threads are counted exactly below this, then in so many buckets for each power of two. */
#define QZ_RUNNABLE_EXACT 64u
#define QZ_RUNNABLE_PARTS 8u

/* What the kernel does on behalf of a thread that executes: of threads without hooks, where the kernel gives samples of
 * itself (QZ_PATHS_KERNEL). The last one is no kernel's work, but that of the library. */
enum qz_kernel {
  QZ_KERNEL_NONE = 0,   /* nothing: the thread executes code of the program; or it is not known */
  QZ_KERNEL_FAULT = 1,  /* a page fault (or an interrupt) */
  QZ_KERNEL_CALL = 2,   /* a system call, none of the following */
  QZ_KERNEL_MEMORY = 3, /* mmap, munmap, mremap, mprotect, madvise, brk */
  QZ_KERNEL_FUTEX = 4,
  QZ_KERNEL_YIELD = 5,
  QZ_KERNEL_READ = 6, /* read, recv and the like */
  QZ_KERNEL_WRITE = 7,
  QZ_KERNEL_POLL = 8,   /* poll, select, epoll_wait */
  QZ_KERNEL_THREAD = 9, /* clone, exit */
  QZ_KERNEL_SLEEP = 10,
  QZ_KERNEL_LOCK = 11, /* nothing; the thread executes what takes and releases locks, waits and wakes: in the pthread
                        * layer or the C library */
  QZ_KERNEL_COUNT = 12
};

/* Observations that are alike. `ns` is their weight: the time since that same record was last visited.
 * b, s and r are those of its snapshot; in states useful, overhead and spinning the thread was on a processor in it,
 * in the others it was visited beside it. */
struct qz_tuple {
  uint32_t stack;    /* node */
  uint32_t thread;   /* entity */
  uint8_t state;     /* enum qz_state */
  uint8_t waiting;   /* enum qz_waiting */
  uint8_t torn;      /* 1: accepted although torn */
  uint8_t kernel;    /* enum qz_kernel: what the kernel did for it then */
  uint16_t busy;     /* b: processors useful or in overhead */
  uint16_t spinning; /* s */
  uint32_t runnable; /* r, exact below QZ_RUNNABLE_EXACT, then the lower bound of its bucket */
  uint64_t count;    /* observations */
  uint64_t ns;
  uint64_t runnable_ns; /* sum of r * ns, for the mean */
};

/* Time by what all processors did: the whole run, b = 0 included. Sum of ns = elapsed_ns. */
struct qz_balance {
  uint16_t busy, spinning;
  uint32_t runnable;    /* bucketed as in qz_tuple */
  uint64_t overhead_ns; /* sum over the snapshots of (processors in overhead) * ns; part of busy * ns */
  uint64_t count, ns, runnable_ns;
};

/* Queue lengths: exactly below QZ_QUEUE_EXACT, then so many buckets for each power of two ([16,24) [24,32) [32,48)
 * ...), the last one open. */
#define QZ_QUEUE_EXACT   16u
#define QZ_QUEUE_PARTS   2u
#define QZ_QUEUE_BUCKETS 32
struct qz_object_stats {
  uint32_t entity;
  uint32_t capacity;
  uint64_t instances, acquisitions, contended;
  uint64_t wait_ns, wait_max_ns, spin_ns;
  uint64_t hold_ns, hold_max_ns; /* exact, where session_flags has QZ_SESSION_EXACT_HOLD */
  uint64_t observed_ns;          /* time over which the queue was observed; sum of queue_ns */
  uint64_t queue_length_ns;      /* sum of (queue length * ns): mean = this / observed_ns */
  uint64_t queue_ns[QZ_QUEUE_BUCKETS];
  uint32_t wait_hist[QZ_TIME_BUCKETS];
  uint32_t hold_hist[QZ_TIME_BUCKETS];
};

/* Who held an object while others waited for it: their waiting time, charged to the holder's path. */
struct qz_blame {
  uint32_t object; /* entity */
  uint32_t stack;  /* holder's path, node; 0: nobody seen holding it */
  uint32_t thread; /* holder, entity; 0: none */
  uint32_t count;
  uint64_t ns; /* waiters * time */
};

/* Who ran while others waited and processors had nothing to do (b < P): the two sides of lost parallelism, as seen in
 * the same snapshots. A snapshot with waiters gives its time to the b busy processors, an equal share to each; where b
 * is more than 4, to some of them, chosen at random and weighted so that the sums are right on average. */
struct qz_wait_overlap {
  uint32_t object; /* entity; 0: input or output */
  uint32_t stack;  /* of the thread that ran, node */
  uint32_t thread; /* that ran, entity */
  uint32_t count;
  uint64_t ns;         /* time / b, while anybody waited (input and output: the same as waiters_ns) */
  uint64_t waiters_ns; /* waiters * time / b */
};

/* The time path of the run (docs/reference/path.md): its time by what was done. Sum of ns = path_ns of the head. */
struct qz_on_path {
  uint32_t stack;  /* node; 0: nobody knows */
  uint32_t thread; /* entity; 0: likewise */
  uint32_t
    object;      /* entity that the thread waited for, or was let go by, while it waits (state ready, blocked); or 0 */
  uint8_t state; /* enum qz_state */
  uint8_t arrival;  /* of a wait: enum qz_arrival (abi/session.h); else 0 */
  uint8_t inferred; /* 1: it ran while the path's thread waited for what nobody reports */
  uint8_t reserved;
  uint64_t count; /* stretches */
  uint64_t ns;
};
/* The same in time order. Where there are too many, neighbours are joined, under what took longer. */
struct qz_path_segment {
  uint64_t start_ns, ns;
  uint32_t stack, thread, object;
  uint8_t state, arrival, inferred;
  uint8_t came; /* enum qz_arrival, how the path came to this thread; `by` is the object then */
  uint32_t by;
  uint32_t joined; /* segments that it stands for */
};

/* The end of the time path as it stood when this was written: the chain of the thread that was at work last. While the
 * program runs there are two, written by turns; that with the greater number is the newer one, and stays as it is while
 * the other is written. At the end there is one. */
struct qz_recent_path {
  uint64_t number;       /* from 1; 0: it is being written */
  uint64_t start_ns, ns; /* what it covers; the sum of its segments' ns = ns */
  uint64_t undecided_ns; /* its end, which not all threads that were at work then had in common */
  uint64_t cut_ns;       /* time of it for which the chain was lost */
  uint64_t first, count; /* its segments: rows of QZ_SECTION_RECENT_SEGMENTS */
};

/* The span by what was done. Sum of ns = span_ns of the head. */
struct qz_on_span {
  uint32_t stack, thread; /* node, entity; 0: too short to be seen */
  uint64_t count, ns;
};
/* Work and span of all threads that were spawned, or created, at one place, and have ended. */
struct qz_span_site {
  uint64_t site;   /* return address of the call; 0: all places beyond the first QZ_SPAN_SITES - 1 */
  uint32_t start;  /* entity: start routine of the first one; 0: nothing was spawned there */
  uint32_t caller; /* entity of the procedure that contains site; 0: unknown, set when symbolized */
  uint64_t count, work_ns, span_ns;
  uint64_t top_count, top_work_ns, top_span_ns; /* those that descend from none that was spawned there */
  uint64_t merges, merged, lost, slack_ns;      /* of a place that waits for threads to end: see struct qz_site */
  uint64_t least_slack_ns;                      /* 0: none has lost, or so little */
  uint32_t line; /* of the call, in the caller's file; 0: not known, or of another file (inlined); since format 25 */
  uint32_t reserved;
};
/* What work and span would be if something took another part of the time that it takes. */
struct qz_what_if_answer {
  uint32_t kind;   /* enum qz_what_if_kind (abi/session.h) */
  uint32_t name;   /* string: as the user wrote it, without the factor */
  uint32_t entity; /* of the procedure; 0: not known */
  uint32_t flags;  /* QZ_ANSWER_... */
  uint64_t factor; /* in 1 / QZ_WHAT_IF_ONE */
  uint64_t span_ns, work_ns;
  uint64_t site;     /* QZ_WHAT_IF_PLACE: return address; nobody asked, it was chosen, */
  uint64_t since_ns; /* then: what threads did before counts as it was */
};
#define QZ_ANSWER_SEEN   1u /* what the question is about did run; a lock had to be waited for */
#define QZ_ANSWER_MISSED 4u /* some of its calls could not be told from the rest */
#define QZ_ANSWER_FOUND  2u /* a procedure, or (lock) a variable, has the name */
/* Work by the length of the chain to it: the k-th element is of lengths from k * level_ns. Sum = work_ns. */
struct qz_level {
  uint64_t ns;
};

/* An instruction of the program's own code at which threads were seen executing: the one that a sample found its thread
 * at, which may be one or two behind the one that took the time. Of threads without hooks, where the kernel gives
 * samples. */
struct qz_instruction {
  uint64_t address;
  uint32_t procedure; /* entity: of the procedure that has the code, which may have others inlined */
  uint32_t reserved;
  uint64_t count;   /* observations */
  uint64_t ns;      /* processor time at work, */
  uint64_t npt_ps;  /* and by the number of busy processors, picoseconds */
  uint64_t spin_ns; /* busy waiting */
};

/* What a thread did for some time: observations that follow each other and are alike. In the order in which they began
 * to be seen; those of one thread in the order of time. The first one is none: its ns is the grain, below which slices
 * have been joined with a neighbour because there were too many, in the state of the longer one (0: none were); its
 * start_ns is the time of threads that have no slices: they share an entity, or are too many. */
struct qz_slice {
  uint64_t start_ns; /* since the first snapshot */
  uint64_t ns;       /* (changes) */
  uint32_t thread;   /* entity */
  uint32_t stack;
  uint8_t state;   /* enum qz_state */
  uint8_t waiting; /* enum qz_waiting */
  uint8_t reserved[6];
};

/* Walks of threads' stacks, from the innermost procedure outwards (docs/reference/call-paths.md): row k is of the
 * module with that index + 1, row 0 of code in no file. */
enum qz_cut {
  QZ_CUT_NOT = 0,       /* it came to the thread's beginning */
  QZ_CUT_NO_RULE = 1,   /* how the caller is found is not known there */
  QZ_CUT_WRONG = 2,     /* what was found there can't be a caller: no call stands before the return address */
  QZ_CUT_MEMORY = 3,    /* the stack could not be read */
  QZ_CUT_GENERATED = 4, /* code that the program made while it ran */
  QZ_CUT_LATER = 5,     /* its code had not been analysed yet */
  QZ_CUT_DEEP = 6,      /* the stack is deeper than walks go */
  QZ_CUT_COUNT = 7
};
/* How a caller was found, and whether it is one: a call of this very procedure stands before the return address; one
 * through a register or memory, or of another procedure, which may go on in this one; neither. */
enum qz_unwound_by {
  QZ_UNWOUND_BY_TABLE = 0,
  QZ_UNWOUND_BY_CODE = 1,
  QZ_UNWOUND_BY_POINTER = 2,
  QZ_UNWOUND_BY_COUNT = 3
};
enum qz_link { QZ_LINK_VALID = 0, QZ_LINK_LIKELY = 1, QZ_LINK_INVALID = 2, QZ_LINK_COUNT = 3 };
struct qz_unwinding {
  uint64_t walks;                                     /* whose outermost procedure found is of this module */
  uint64_t cut[QZ_CUT_COUNT];                         /* of these, by enum qz_cut; [QZ_CUT_NOT] the others */
  uint64_t steps[QZ_UNWOUND_BY_COUNT][QZ_LINK_COUNT]; /* from procedures of this module; invalid ones by code or frame
                                                       * pointer were not made */
};

struct qz_call_edge {
  uint64_t site;   /* return address */
  uint32_t caller; /* entity of the procedure that contains site; 0: unknown, set when symbolized */
  uint32_t callee; /* entity */
  uint64_t count;
};

struct qz_thread_stats {
  uint32_t entity;
  uint32_t creator; /* entity */
  uint64_t serial;
  uint64_t first_ns; /* since first snapshot: first and last time seen */
  uint64_t last_ns;
};

struct qz_module {
  uint64_t start, end; /* addresses */
  uint64_t bias;       /* address - bias = address in the file's own terms */
  uint32_t path;       /* string */
  uint32_t build_id;   /* string, hexadecimal, 0 = none */
};

/* What one processor did in all; the four sum to elapsed_ns. */
struct qz_processor_stats {
  uint64_t useful_ns, overhead_ns, spinning_ns, idle_ns;
};

/* A stretch of the run: processor time in each state. When the table is full, neighbours are joined and all
 * later stretches are twice as long. */
struct qz_timeline {
  uint64_t start_ns, ns;                                 /* since first snapshot; length */
  uint64_t useful_ns, overhead_ns, spinning_ns, idle_ns; /* processor time; sum = P * ns */
  uint64_t runnable_ns;                                  /* sum of r * time */
  uint32_t snapshots;
  uint32_t top; /* entity innermost most often on busy processors in this stretch, 0 = none */
};

#endif
