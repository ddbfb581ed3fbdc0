/* The rows of a profile's sections: what was seen, and of what.
 *
 * Owns:    their layout; those of the chains are in profile_path.h, the file that holds them in profile.h.
 */
#ifndef QZ_ABI_PROFILE_ROWS_H
#define QZ_ABI_PROFILE_ROWS_H

#include <stdint.h>
#include "origin.h"
#include "purpose.h"
#include "session.h"

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
  uint8_t library_wait; /* enum qz_library_wait: of a futex or loop; of a procedure: ..._DATA or unknown */
  uint8_t naming;       /* enum qz_naming */
  uint8_t missing;      /* enum qz_missing: what `detail` explains */
  uint32_t purposes;    /* QZ_PURPOSE_... by its name, 0: not decided yet; since format 27 */
  uint64_t variable; /* object: its own address, by which a static one is named before the recording ends; 0: unknown.
                      * Since format 30 */
};
/* How a synchronization object got its name. */
enum qz_naming {
  QZ_NAMING_OWN = 0,   /* as everything else: it was given, or is that of a variable */
  QZ_NAMING_PLACE = 1, /* by what is called there, and where: "GOMP_barrier at solve.c:17"; it says what the thing is */
  QZ_NAMING_INSIDE = 2 /* it is that of the procedure with the place that created it, whose line is not known; since
                        * format 32 */
};
/* Stacks share their beginnings: a node is the stack of its parent with one more entity on top. */
struct qz_stack_node {
  uint32_t parent;
  uint32_t entity;
};

/* The processor times of threads in tuples deviate by at most 1/PART of their sum from what the kernel counts, or by
 * one snapshot (docs/reference/metrics.md, section 6). */
#define QZ_ACCOUNT_PART 128u

enum qz_waiting {
  QZ_WAITING_NONE = 0,
  QZ_WAITING_OBJECT = 1, /* the top of the stack is the object that the thread waits for */
  QZ_WAITING_WOKEN = 2   /* that object has let the thread go on, which waits for a CPU (states useful and ready) */
};

/* Runnable threads are counted exactly below this, then in so many buckets for each power of two. */
#define QZ_RUNNABLE_EXACT 64u
#define QZ_RUNNABLE_PARTS 8u

/* What the kernel does on behalf of a thread that executes: of threads without hooks, where the kernel gives samples of
 * itself (QZ_PATHS_KERNEL). The last one is no kernel's work, but that of the library. In state overhead it is what the
 * thread package works for: THREAD (making threads), LOCK (waking), NONE (scheduling). */
enum qz_kernel {
  QZ_KERNEL_NONE = 0,   /* nothing: the thread executes code of the program; or it is not known */
  QZ_KERNEL_FAULT = 1,  /* a page fault (or an interrupt) */
  QZ_KERNEL_CALL = 2,   /* a system call, none of the following: also send and recv */
  QZ_KERNEL_MEMORY = 3, /* mmap, munmap, mremap, mprotect, madvise, brk */
  QZ_KERNEL_FUTEX = 4,
  QZ_KERNEL_YIELD = 5,
  QZ_KERNEL_READ = 6,   /* read, pread, readv and the like: those that the kernel counts (syscr of /proc/PID/io) */
  QZ_KERNEL_WRITE = 7,  /* the same for write (syscw) */
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
  uint64_t hold_ns, hold_max_ns; /* exact, where session_flags has QZ_SESSION_EXACT_HOLD. Else, of plain pthread
                                  * programs with work and span, hold_ns is processor time, estimated */
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

/* What the kernel counts for the program's threads, in user mode: the processor's own counters, where there are any,
 * and page faults. */
enum qz_counter {
  QZ_COUNTER_CYCLES = 0,
  QZ_COUNTER_INSTRUCTIONS = 1, /* that were finished */
  QZ_COUNTER_CACHE_MISSES = 2, /* of the last level */
  QZ_COUNTER_TLB_MISSES = 3,   /* of loads, in the data TLB */
  QZ_COUNTER_REMOTE = 4,       /* loads from the memory of another NUMA node */
  QZ_COUNTER_FAULTS = 5,       /* page faults */
  QZ_COUNTER_COUNT = 6
};
/* How much of it threads have made happen on a path, without what lies below. Each counter that could be read has a row
 * of stack 0, which also has what could not be attributed to any path. */
struct qz_counted {
  uint32_t stack;
  uint32_t counter; /* enum qz_counter */
  uint64_t amount;
};

/* What keeps the program's threads from CPUs that the machine has, apart from other programs
 * (docs/reference/metrics.md, section 6, "Limits of CPUs"). */
struct qz_cpu_limits {
  uint32_t online;      /* CPUs of the machine */
  uint32_t allowed;     /* those that the process could use when recording began; 0: unknown */
  uint32_t quota_milli; /* the least limit of its control groups, in thousandths of a CPU; 0: none, or unknown */
  uint32_t fewest;      /* the fewest CPUs that runnable threads could use in confined_ns; 0: never */
  /* (changes) Of the control group with that limit, while the program was recorded: periods, those in which the limit
   * was reached, and the time that its threads then waited for the next one, summed over CPUs */
  uint64_t periods, throttled_periods, throttled_ns;
  /* (changes) Elapsed time in which all runnable threads together could use fewer CPUs than there are, and than
   * threads; what would be saved of it if they could use all; and how long the threads then waited for those few */
  uint64_t confined_ns, confined_saving_ns, confined_wait_ns;
  /* (changes) Since format 35. The highest real-time priority that one of the program's threads was seen to have (100:
   * class SCHED_DEADLINE; 0: none was seen); and 1: the sampler got CPUs before that thread from then on */
  uint32_t realtime, outranked;
  /* (changes) Since format 36. Parallel regions of OpenMP that the program began, and barriers that those who began
   * them passed in them; about how long the layer's own code took there of those who began them; and of all threads for
   * tasks of OpenMP and oneTBB, and for creating threads */
  uint64_t rounds, rounds_ns, tasks_ns;
  /* (changes) Since format 37. Time that the command which started the program took before that, and from the program's
   * end until this file was written; 0: the program was not started by it, or did not end */
  uint64_t command_ns;
  /* Since format 38. By how much the chains of the span grew without work, all together: sleep, waits until a deadline,
   * blocking regions; plain pthread programs: 0. Written at the end */
  uint64_t asleep_ns;
};

/* A message or collective of a rank of an MPI program: struct qz_mpi_event (mpi_log.h), whose fields have the same
 * meaning here. */
struct qz_message_event {
  uint64_t posted_ns, begin_ns, ns; /* CLOCK_MONOTONIC of the host */
  uint64_t communicator;
  uint32_t number;
  int32_t peer, tag;
  uint32_t kind;     /* enum qz_mpi_event_kind */
  uint32_t call;     /* entity: the place that called MPI and waited there; 0: unknown */
  uint32_t thinning; /* 2^thinning numbers are one event: only multiples of it are here. The same in all rows */
};

/* A cache line that threads on different CPUs wrote, or read and wrote, alternately: what samples of them found around
 * the instruction that they were at (docs/reference/metrics.md). Of threads whose registers the kernel's samples have,
 * on x86-64. Of lines that many threads share, some are counted together in `others`. */
#define QZ_LINE_USERS     4
/* How a word was changed in one step that no other thread can divide. Bits. */
#define QZ_LOCKED_CHANGE  2u /* by adding, or the like: it never has to be tried again */
#define QZ_LOCKED_COMPARE 4u /* by comparing and exchanging */
struct qz_line_user {
  uint32_t thread, procedure; /* entities; procedure: the innermost one that last accessed it, inlined ones too */
  uint64_t samples;
  uint16_t written, read; /* words of four bytes: bit k is at address + 4 * k */
  uint8_t locked;         /* QZ_LOCKED_... */
  uint8_t reserved[3];
};
struct qz_shared_line {
  uint64_t address;  /* a multiple of 64 */
  uint32_t variable; /* name of the static variable that has the first word which is written; 0: it is none */
  uint32_t others;   /* samples of further threads */
  uint64_t samples;  /* of all threads that were about to access it, or had just done so */
  uint64_t turns;    /* of these, those that followed one of another thread on another CPU within 20 ms */
  struct qz_line_user by[QZ_LINE_USERS]; /* in the order in which they came; samples 0: none */
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
  QZ_CUT_LATER = 5,     /* its code had not been analysed yet, or no time was left for the walk */
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
  uint64_t first_ns; /* since first snapshot: first and last time that a snapshot visited it; both 0: none did */
  uint64_t last_ns;
  /* Its sleeps (nanosleep, ...) as far as snapshots saw them begin and end (sampler/snapshot/kernel/sleep_pace.h),
   * since format 33: number of intervals from the end of one to the end of the next, their sum and that of their
   * squares, and the same for the lengths of the sleeps that end them */
  uint64_t sleeps, interval_us, interval_us2, length_us, length_us2;
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
