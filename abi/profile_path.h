/* The rows of those sections of a profile that result from the chains of the session: the time path, the span, and what
 * both would be with what-if queries (docs/reference/path.md).
 *
 * Owns:    their layout. The other rows are in profile_rows.h, the layout of the file is in profile.h.
 */
#ifndef QZ_ABI_PROFILE_PATH_H
#define QZ_ABI_PROFILE_PATH_H

#include <stdint.h>

/* The time path of the run (docs/reference/path.md): its time by activity. Sum of ns = path_ns of the head. */
struct qz_on_path {
  uint32_t stack;  /* node; 0: unknown */
  uint32_t thread; /* entity; 0: unknown */
  uint32_t object; /* in a wait (state ready, blocked): the entity that the thread waited for, or through which its wait
                      ended; else 0 */
  uint8_t state;   /* enum qz_state */
  uint8_t arrival; /* of a wait: enum qz_arrival (abi/chains.h); else 0 */
  uint8_t inferred; /* 1: this thread ran while the path's thread waited for an event that no layer reports */
  uint8_t reserved;
  uint64_t count; /* number of intervals */
  uint64_t ns;
};
/* The same in time order. If there are too many segments, neighbours are merged, under the one that took longer. */
struct qz_path_segment {
  uint64_t start_ns, ns;
  uint32_t stack, thread, object;
  uint8_t state, arrival, inferred;
  uint8_t came; /* enum qz_arrival: how the path came to this thread, through object `by` */
  uint32_t by;
  uint32_t joined; /* number of segments that it stands for */
};

/* The end of the time path as of when this was written: the chain of the thread that worked last. While the program
 * runs there are two of them, written alternately; the one with the greater number is newer, and does not change
 * while the other is written. At the end there is one. */
struct qz_recent_path {
  uint64_t number;       /* from 1; 0: it is being written */
  uint64_t start_ns, ns; /* the interval that it covers; the sum of its segments' ns = ns */
  uint64_t undecided_ns; /* length of its last part, which depends on which of the threads then working is considered */
  uint64_t cut_ns;       /* the part of it for which the chain was lost */
  uint64_t first, count; /* its segments: rows of QZ_SECTION_RECENT_SEGMENTS */
};

/* The span by activity. Sum of ns = span_ns of the head. */
struct qz_on_span {
  uint32_t stack, thread; /* node, entity; 0: too short to be observed */
  uint64_t count, ns;
};
/* Work and span of all threads that were spawned or created at one call site and have ended. */
struct qz_span_site {
  uint64_t site;   /* return address of the call; 0: all sites beyond the first QZ_SPAN_SITES - 1 */
  uint32_t start;  /* entity: start routine of the first thread; 0: no thread was spawned there */
  uint32_t caller; /* entity of the procedure that contains `site`; 0: unknown; set when symbolized */
  uint64_t count, work_ns, span_ns;
  uint64_t top_count, top_work_ns, top_span_ns; /* of threads with no ancestor that was spawned there */
  uint64_t merges, merged, lost, slack_ns;      /* of a site that waits for threads to end: see struct qz_site */
  uint64_t least_slack_ns;                      /* 0: no chain was shorter than the longest, or by less than 1 ns */
  uint32_t line; /* of the call, in the caller's file; 0: unknown, or in another file (inlined); since format 25 */
  uint32_t reserved;
};
/* Answer to a what-if query: work and span if some code took a part or a multiple of its time. */
struct qz_what_if_answer {
  uint32_t kind;   /* enum qz_what_if_kind (abi/chains.h) */
  uint32_t name;   /* string: the query as the user wrote it, without the factor */
  uint32_t entity; /* of the procedure; 0: unknown */
  uint32_t flags;  /* QZ_ANSWER_... */
  uint64_t factor; /* in units of 1 / QZ_WHAT_IF_ONE */
  uint64_t span_ns, work_ns;
  uint64_t site; /* QZ_WHAT_IF_PLACE: return address of a call site that was chosen because the user gave no query, */
  uint64_t since_ns; /* and the time of the choice: what threads did before counts unchanged */
};
#define QZ_ANSWER_SEEN   1u /* the code of the query did run; a lock had to be waited for */
#define QZ_ANSWER_MISSED 4u /* some of its calls could not be distinguished from other code */
#define QZ_ANSWER_FOUND  2u /* there is a procedure, or (lock) a variable, with that name */
/* Work by the length of the chain that leads to it: element k is for lengths from k * level_ns on. Sum = work_ns. */
struct qz_level {
  uint64_t ns;
};

#endif
