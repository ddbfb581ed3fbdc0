/* The rows of a profile's sections that the chains of the session make: the time path, the span, and what both would be
 * if something took a part or a multiple of its time (docs/reference/path.md).
 *
 * Owns:    their layout; the others are in profile_rows.h, the file that holds them in profile.h.
 */
#ifndef QZ_ABI_PROFILE_PATH_H
#define QZ_ABI_PROFILE_PATH_H

#include <stdint.h>

/* The time path of the run (docs/reference/path.md): its time by what was done. Sum of ns = path_ns of the head. */
struct qz_on_path {
  uint32_t stack;  /* node; 0: nobody knows */
  uint32_t thread; /* entity; 0: likewise */
  uint32_t
    object;      /* entity that the thread waited for, or was let go by, while it waits (state ready, blocked); or 0 */
  uint8_t state; /* enum qz_state */
  uint8_t arrival;  /* of a wait: enum qz_arrival (abi/chains.h); else 0 */
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
 * program runs there are two, written alternately; the one with the greater number is newer, and stays as it is while
 * the other is written. At the end there is one. */
struct qz_recent_path {
  uint64_t number;       /* from 1; 0: it is being written */
  uint64_t start_ns, ns; /* what it covers; the sum of its segments' ns = ns */
  uint64_t undecided_ns; /* its last part, which the threads then at work did not all have in common */
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
/* What work and span would be if something took only a part of its time, or a multiple of it. */
struct qz_what_if_answer {
  uint32_t kind;   /* enum qz_what_if_kind (abi/chains.h) */
  uint32_t name;   /* string: as the user wrote it, without the factor */
  uint32_t entity; /* of the procedure; 0: not known */
  uint32_t flags;  /* QZ_ANSWER_... */
  uint64_t factor; /* in 1 / QZ_WHAT_IF_ONE */
  uint64_t span_ns, work_ns;
  uint64_t site;     /* QZ_WHAT_IF_PLACE: return address; nobody asked, it was chosen, */
  uint64_t since_ns; /* then: what threads did before counts as it was */
};
#define QZ_ANSWER_SEEN   1u /* what the question is about did run; a lock had to be waited for */
#define QZ_ANSWER_MISSED 4u /* some of its calls could not be separated from the rest */
#define QZ_ANSWER_FOUND  2u /* a procedure, or (lock) a variable, has the name */
/* Work by the length of the chain to it: the k-th element is of lengths from k * level_ns. Sum = work_ns. */
struct qz_level {
  uint64_t ns;
};

#endif
