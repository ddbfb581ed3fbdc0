/* A task, or what stands for a thread of a team, or for a group of tasks: see task.h, and job.h.
 *
 * Owns:    struct qzl_task. Writer, reader: task.c, job.c and task_pool.c.
 */
#ifndef QZL_TASK_DATA_H
#define QZL_TASK_DATA_H

#include "ended.h"

struct qzl_team;

#define QZL_DEPENDS 16u /* further ones of a task are not known */
struct qzl_task {
  struct qzl_task *parent; /* NULL: a thread of the team, or a group */
  struct qzl_task *group;  /* that the tasks which it makes belong to, and at its end it itself; NULL: none */
  struct qzl_team *team;
  uint64_t start, site;
  uint64_t word, ticks; /* from where, and since when, it could be executed */
  uint64_t number;      /* no other task had it; of a parent, for `depends` of its children */
  uint64_t context;     /* of a job, or a group of them: named by who waits for it (job.h) */
  uintptr_t words[8];   /* of a job: interpose/tbb.c */
  uint32_t epoch;       /* of the recording in which it was made: another one does not know of it */
  uint32_t depend_count;
  uint32_t writes; /* bit k: depends[k] is written */
  bool included;   /* whoever makes it goes on after it */
  bool final;      /* so are its children */
  bool has_span, counts;
  uint32_t unknown_groups;     /* begun by it, without a record */
  _Atomic uint32_t references; /* itself until it ends, and its children; of a group of jobs: who uses it */
  _Atomic uint32_t active;     /* of a group of jobs: those that are being executed */
  struct qzl_task *was;        /* in which its thread was before it, */
  uint64_t was_idle;
  struct qzi_span span;   /* until it begins (from here on a new task is not cleared); */
  struct qzi_span before; /* while it is executed: of what its thread did before */
  struct qzl_task *next;  /* that is free, or stands for another thread of the same team */
  _Atomic uint32_t lock;  /* of those below */
  bool is_over;
  struct qzl_ended ended;        /* its children; a group's: all that belong to it */
  uint64_t depends[QZL_DEPENDS]; /* addresses */
};

#endif
