/* Objects that the program never reported: futexes on which the kernel says that threads sleep, and loops that only
 * wait.
 *
 * Owns:    their entities (kinds QZ_KIND_FUTEX and QZ_KIND_LOOP). A key QZ_KEY(QZ_KIND_FUTEX, index) means one of them.
 * Writer and reader: the aggregating thread.
 * Must not: decide what a thread waits for (waits/external_waits.h), or grow with the number of addresses.
 */
#ifndef QZI_EXTERNAL_OBJECTS_H
#define QZI_EXTERNAL_OBJECTS_H

#include "interner.h"

/* By what an object is distinguished; with that, `key` below. */
enum qzi_external_kind { QZI_BY_VARIABLE = 1, QZI_BY_LIBRARY, QZI_BY_PLACE };

struct qzi_external {
  uint32_t kind;    /* enum qzi_external_kind */
  int loop;         /* 1: a loop that only waits */
  uint64_t key;     /* address of a static variable, module of a library, or place */
  uint64_t address; /* of the variable; 0: not a static one */
  uint64_t site;    /* where the program waits, or calls the library that does */
  uint64_t called;  /* entry of the library's procedure that is called there; 0: unknown */
  uint32_t module;  /* index + 1 of site */
  int tries;        /* 1: a loop that tries a lock */
};

/* One object and what is counted of it in the snapshot under way. */
struct qzi_external_object {
  struct qzi_external its;
  uint32_t entity;
  uint32_t waiters; /* in the snapshot under way */
  uint32_t resting; /* threads that wait for it and are not looked at each time (snapshot/resting_threads.h) */
  uint32_t stats;   /* index + 1 into QZ_SECTION_OBJECTS */
};

/* Index of the object that is distinguished as `its` says, from 1; 0: there is none yet. */
uint32_t qzi_external_find(const struct qzi_interner *in, const struct qzi_external *its);
/* Makes it; 0: no room. */
uint32_t qzi_external_add(struct qzi_interner *in, const struct qzi_external *its);
/* Object `index`, 1 .. in->externals_count. */
struct qzi_external_object *qzi_external_at(const struct qzi_interner *in, uint32_t index);
/* Entity of one; 0: none. */
uint32_t qzi_external_entity(const struct qzi_interner *in, uint32_t index);
/* What an entity stands for; NULL: it is no such object. */
const struct qzi_external *qzi_external_of(const struct qzi_interner *in, uint32_t entity);
/* A thread waits for it in the snapshot that is being added. */
void qzi_external_wait(struct qzi_interner *in, uint32_t index);
void qzi_external_free(struct qzi_interner *in);

#endif
