/* The profile: the file that the sampler writes while it samples.
 *
 * Owns:    the layout of a profile file.
 * Writer:  the sampler, through a shared mapping, while `status` is QZ_PROFILE_RECORDING.
 * Reader:  reports (a finished file) and the live screen (a growing file); both check everything.
 *
 * The file consists of a head and sections. A section is an array with a capacity, and a count that is stored (release)
 * after its elements. Its bytes are in one or more extents, in order, each as long as all those before it: during
 * recording the file grows at its end and has no holes. Its size depends on what was observed, not on how long. A
 * finished file has one extent per section, an end mark, and checksums over every byte. If the sampler dies, the file
 * is valid up to its last snapshot; damage that happens later is then not detectable. All times are integer
 * nanoseconds, so that sums are exact (docs/reference/metrics.md, section 5).
 */
#ifndef QZ_ABI_PROFILE_H
#define QZ_ABI_PROFILE_H

#include <stdint.h>
#include "profile_path.h"
#include "profile_rows.h"

#define QZ_PROFILE_MAGIC      UINT64_C(0x31465052545a5551) /* of a finished file; "QUZTRPF1" as little-endian bytes */
#define QZ_PROFILE_MAGIC_OPEN UINT64_C(0x4e45504f545a5551) /* of an unfinished file; "QUZTOPEN" */
#define QZ_PROFILE_MAGIC_END  UINT64_C(0x444e4552545a5551) /* of the end mark; "QUZTREND" */
#define QZ_PROFILE_VERSION    38u
/* Older formats are read, too: sections and trailing fields that they lack are empty or 0; everything else is the same.
 */
#define QZ_PROFILE_OLDEST     16u

enum qz_profile_status {
  QZ_PROFILE_RECORDING = 1, /* the sampler is writing, or died while writing (then its PID does not exist) */
  QZ_PROFILE_COMPLETE = 2,
  QZ_PROFILE_CUT = 3 /* ended early: see end_reason; the contents are valid */
};
enum qz_end_reason {
  QZ_END_NONE = 0,
  QZ_END_EXIT = 1,        /* the program exited with status exit_status */
  QZ_END_SIGNAL = 2,      /* the program was killed by signal exit_status */
  QZ_END_INTERRUPTED = 3, /* recording was ended by Ctrl-C or SIGTERM; the program may continue */
  QZ_END_DISK_FULL = 4,
  QZ_END_EXEC = 5, /* the program executed another one that does not publish */
  QZ_END_ERROR = 6,
  QZ_END_TIME = 7 /* the requested recording time has elapsed; the program may continue */
};

/* How call paths were found in programs without hooks, and what prevented it. */
#define QZ_PATHS_HOOKS       1u  /* some threads have paths from hooks */
#define QZ_PATHS_WAITS       2u  /* paths of waiting threads are found by unwinding */
#define QZ_PATHS_RUNNING     4u  /* paths of running threads are found from the kernel's samples and by unwinding */
#define QZ_PATHS_NO_MEMORY   8u  /* the program's memory cannot be read: no unwinding */
#define QZ_PATHS_NO_SAMPLES  16u /* the kernel gives no samples (perf_event_open) */
/* The kernel gives no samples for some threads: too little memory, or too many threads. */
#define QZ_PATHS_FEW_SAMPLES 32u
/* /proc/PID/task/TID/syscall, which gives a sleeping thread's system call, cannot be read. */
#define QZ_PATHS_NO_CALLS    64u
#define QZ_PATHS_KERNEL      128u /* samples separate the kernel's work from the program's */
#define QZ_PATHS_RARE        256u /* for some time the kernel gave fewer than half of the samples that were due */
#define QZ_PATHS_SIGNALS     512u /* the kernel gives no samples; the program takes them of itself, by signals */

/* Which parts of `usage` are known: time covered, CPU times, page faults; context switches, voluntary and
 * involuntary (if the program has ended or is no longer recorded, and could report them); reads and writes. */
#define QZ_USAGE_TIMES       1u
#define QZ_USAGE_SWITCHES    2u
#define QZ_USAGE_CALLS       4u

/* The program's open sockets, looked at several times while it was recorded; 0: they could not be read. */
#define QZ_SOCKETS_SEEN      1u
#define QZ_SOCKETS_LISTENS   2u /* one accepts connections, or datagrams from anyone */
#define QZ_SOCKETS_CONNECTED 4u /* one is connected by TCP or UDP */
#define QZ_SOCKETS_LOCAL     8u /* one is connected to a process of this machine, or of another family */
/* What threads were seen to sleep in read() for, since format 34; only where their calls may be read. */
#define QZ_SOCKETS_READ      16u /* for a socket */
#define QZ_READS_ELSEWHERE   32u /* for a file, a pipe, a terminal */
/* The same for write(), since format 38. */
#define QZ_WRITES_THROUGH    64u  /* to a file that was opened with O_SYNC or O_DSYNC: each write is a flush */
#define QZ_WRITES_ELSEWHERE  128u /* to anything else */
#define QZ_WRITES_PIPES      256u /* to a pipe of another process */

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
  QZ_SECTION_PROCESSORS = 11,      /* struct qz_processor_stats, one per processor */
  QZ_SECTION_WAIT_OVERLAP = 12,    /* struct qz_wait_overlap */
  QZ_SECTION_ON_PATH = 13,         /* struct qz_on_path; until the end, as far as it is known */
  QZ_SECTION_SEGMENTS = 14,        /* struct qz_path_segment; written at the end */
  QZ_SECTION_ON_SPAN = 15,         /* struct qz_on_span; written at the end */
  QZ_SECTION_SITES = 16,           /* struct qz_span_site; written at the end */
  QZ_SECTION_LEVELS = 17,          /* struct qz_level; written at the end */
  QZ_SECTION_WHAT_IF = 18,         /* struct qz_what_if_answer; written at the end. From version 18 on */
  QZ_SECTION_RECENT_PATHS = 19,    /* struct qz_recent_path; written at intervals and at the end. From version 19 on */
  QZ_SECTION_RECENT_SEGMENTS = 20, /* struct qz_path_segment; written like the former */
  QZ_SECTION_INSTRUCTIONS = 21,    /* struct qz_instruction. From version 20 on */
  QZ_SECTION_SLICES = 22,          /* struct qz_slice; only with --timeline. From version 22 on */
  QZ_SECTION_UNWINDING = 23,       /* struct qz_unwinding. From version 23 on */
  QZ_SECTION_LINES = 24,           /* struct qz_shared_line. From version 26 on */
  QZ_SECTION_COUNTED = 25,         /* struct qz_counted. From version 28 on */
  QZ_SECTION_MESSAGES = 26,        /* struct qz_message_event; written at the end. From version 29 on */
  QZ_SECTION_CPU_LIMITS = 27,      /* struct qz_cpu_limits: one. From version 34 on */
  QZ_SECTION_COUNT = 28
};
#define QZ_EXTENTS_MAX 16
struct qz_extent {
  uint64_t offset; /* bytes from the start of the file, a multiple of 8 */
  uint64_t bytes;  /* (changes) the last extent of a section may grow */
};
struct qz_section {
  uint64_t capacity;      /* elements */
  uint64_t count;         /* (changes) elements in use */
  uint64_t stride;        /* bytes of an element */
  uint32_t extents_count; /* (changes) */
  uint32_t checksum;      /* in a finished file: CRC-32C of all bytes of the extents */
  struct qz_extent extents[QZ_EXTENTS_MAX];
};

struct qz_profile {
  uint64_t magic;
  uint32_t version;
  uint32_t head_bytes; /* offset of the first extent; bytes between this struct and it are 0 */
  uint32_t status;     /* (changes) enum qz_profile_status */
  uint32_t end_reason; /* (changes) enum qz_end_reason */
  int32_t exit_status; /* (changes) */
  uint32_t publisher;  /* enum qz_publisher */
  uint32_t pid;        /* of the program */
  uint32_t sampler_pid;
  uint32_t processors;          /* P */
  uint32_t cpus;                /* number of CPUs of the machine that the program may use */
  uint32_t program;             /* string: path of the executable */
  uint32_t arguments;           /* string: command line, shell-quoted */
  uint32_t host;                /* string: machine, kernel, CPU model */
  uint32_t version_text;        /* string: version of Quartz */
  uint64_t started_realtime_ns; /* CLOCK_REALTIME at the first snapshot */
  uint64_t first_ns;            /* CLOCK_MONOTONIC of the first snapshot */
  uint32_t attached;            /* 1: the program was already running when recording began */
  uint32_t rank; /* 1 + rank among the processes that a launcher (mpiexec) started; 0: none; since format 26 */

  /* (changes) progress; updated once per snapshot */
  uint64_t rounds_begun;   /* number of snapshots begun; equal to `snapshots` unless a snapshot is partly added */
  uint64_t snapshots;      /* number of snapshots added */
  uint64_t elapsed_ns;     /* time covered: the sum of all snapshots' weights = the sum over QZ_SECTION_BALANCE */
  uint64_t visits;         /* processor records copied */
  uint64_t torn_retries;   /* copies repeated because they were torn */
  uint64_t torn_accepted;  /* copies accepted although torn after the last retry */
  uint64_t skipped_ticks;  /* intervals in which no snapshot was possible */
  uint64_t invalid;        /* inconsistent records, which were ignored */
  uint64_t sampler_cpu_ns; /* CPU time of the sampling threads */
  uint64_t rate_mhz;       /* requested rate, millihertz */
  uint32_t sampler_cpu;    /* CPU that the sampler was pinned to; UINT32_MAX: none */
  uint32_t sampler_spins;  /* 1: it spins on a CPU of its own; 0: it sleeps between snapshots */
  uint32_t sampler_threads;
  uint32_t paths; /* (changes) QZ_PATHS_... */

  /* from the session */
  struct qz_cost hook, lock; /* as in struct qz_session */
  uint64_t hook_inside_ps, spawn_ps, wait_ps;
  uint64_t stack_overflows; /* (changes) pushes refused because the stack was at stack_limit */
  uint32_t stack_limit;
  uint32_t session_flags;
  uint64_t calls_lost, threads_dropped, objects_merged, strings_dropped; /* (changes) */
  uint64_t spawns, switches, steals, parks;                              /* (changes) totals over processors */
  /* what did not fit into this file */
  uint64_t tuples_merged;   /* (changes) observations added to a tuple with a coarser r because the table was full */
  uint64_t stacks_cut;      /* (changes) stacks truncated because the table was full */
  uint64_t entities_merged; /* (changes) threads counted with their group */
  /* kernel's statistics of the publishing kernel threads, read several times per second; 0 and 0: not available */
  uint64_t cpu_run_ns;     /* (changes) time that they ran on CPUs */
  uint64_t cpu_wait_ns;    /* (changes) time that they were runnable and waited for a CPU */
  uint64_t cpu_dispatches; /* (changes) number of times that they were given a CPU */
  /* samples of running threads that the kernel took (pthread layer) */
  uint64_t samples;   /* (changes) number of samples, also of those that the sampler left out */
  uint64_t sample_ns; /* time that one takes from its thread, measured in the sampler; 0: unknown */
  /* (changes) Samples of threads without hooks: the use of CPU time. [1]: while there were more runnable threads
   * than CPUs */
  struct qz_cpu_use {
    uint64_t samples, spinning, handing;
  } cpu_use[2]; /* all; those of threads that only waited; those in calls that wait or wake, made by a procedure that
                   also spins */
  uint64_t timer_dispatches; /* (changes) number of times that a thread got a CPU not directly from another thread of
                                the program, while samples were taken */
  uint64_t timer_ns; /* (changes) what the samples' timer costs at such a time, measured in the sampler; 0: unknown, or
                        negligible */
  uint64_t free_lock_ps; /* (changes) time to lock and unlock a free mutex, measured in the sampler; 0: not yet */
  uint64_t weight_us2;   /* (changes) sum of the squares of all snapshots' weights, in square microseconds */
  /* child processes and their descendants, as far as the program waited for their end while it was recorded */
  uint64_t children_run_ns; /* set at the end: time that they ran on CPUs */
  uint32_t children_apart;  /* 1: they have profiles of their own (--children) */
  uint32_t related_milli; /* set at the end: CPUs that other recorded processes of the launched program used on average
                             while this one was recorded, in thousandths of a CPU */
  /* The kernel's counts of the program's resource usage while it was recorded. */
  struct qz_usage usage; /* (changes) */
  uint16_t usage_known;  /* (changes) QZ_USAGE_... */
  uint16_t sockets;      /* (changes) QZ_SOCKETS_...; since format 31 */
  uint32_t start_us;     /* time that the program had spent preparing to publish when the sampler let it continue, in
                            microseconds; 0: unknown, or the program was already running. Since format 29 */

  /* the time path; all 0: none was recorded */
  uint64_t path_ns;           /* its length: elapsed_ns */
  uint64_t path_crumbs;       /* crumbs read, */
  uint64_t path_lost;         /* crumbs lost because rings were full, and links lost for lack of memory */
  uint64_t path_cut_ns;       /* time of the path for which its chain was lost */
  uint32_t path_to_exit;      /* 1: it leads to the end of the program; 0: to a thread that ran when recording ended */
  uint32_t processes_started; /* (changes) number of processes that the program has started, as far as kernel events
                                 showed them; 0: unknown. Since format 29 */

  /* work and span (docs/reference/path.md); span_ns 0: not recorded, or nothing measured */
  uint64_t work_ns, span_ns;
  uint64_t burdened_span_ns, typical_span_ns; /* 0: unknown, because the program did not end normally */
  uint64_t waited_ns; /* not counted: waits for CPUs of the package's processors; with QZ_SESSION_CPU_WAITS */
  uint64_t aside_ns;  /* not counted: the thread package's own work */
  uint64_t strands;
  uint64_t level_ns;  /* width of a level */
  uint64_t burden_ps; /* what a spawn adds to the burdened span */
  uint64_t span_lost; /* lost crumbs of the span */

  struct qz_section sections[QZ_SECTION_COUNT];
};

/* The last bytes of a finished file. Head, extents and this cover the file without gaps. */
struct qz_profile_end {
  uint64_t magic;
  uint64_t file_bytes;
  uint32_t head_checksum; /* CRC-32C of head_bytes bytes */
  uint32_t checksum;      /* CRC-32C of the fields above */
};

#endif
