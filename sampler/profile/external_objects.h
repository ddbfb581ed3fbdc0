/* Objects that have no name but the place that waits: futexes on which threads sleep, according to the kernel or to the
 * pthread layer (which reports only the address, and counts), loops that only wait, and descriptors at which threads of
 * the program wait for each other.
 *
 * Owns:    their entities (kinds QZ_KIND_FUTEX and QZ_KIND_LOOP). The key of one is QZ_KEY(QZ_KIND_FUTEX, index).
 * Writer and reader: the aggregating thread.
 * Must not: decide what a thread waits for (waits/external_waits.h), or grow with the number of addresses.
 */
#ifndef QZI_EXTERNAL_OBJECTS_H
#define QZI_EXTERNAL_OBJECTS_H

#include "interner.h"

/* How objects are distinguished; determines the meaning of `key` below. */
enum qzi_external_kind { QZI_BY_VARIABLE = 1, QZI_BY_LIBRARY, QZI_BY_PLACE, QZI_BY_DESCRIPTOR };

struct qzi_external {
  uint32_t kind;    /* enum qzi_external_kind */
  int loop;         /* 1: a loop that only waits */
  uint64_t key;     /* address of a static variable, module of a library, place, or the descriptor's inode or number */
  uint64_t address; /* of the variable; 0: it is not static */
  uint64_t site;    /* place where the program waits, or calls the library that does */
  uint64_t called;  /* entry of the library's procedure called there; 0: unknown */
  uint32_t module;  /* module of the site: index + 1 */
  int tries;        /* 1: a loop that tries to take a lock */
  const char *name; /* of a descriptor: what it is; */
  int descriptor;   /* and the descriptor at which a wait was first seen */
};

enum { QZI_UNCOUNTED = 1, QZI_UNCOUNTED_FOR_GOOD };
/* One object, and its counts in the current snapshot. */
struct qzi_external_object {
  struct qzi_external its;
  uint32_t entity;
  uint32_t waiters;    /* in the current snapshot */
  uint64_t sampled_ns; /* of waiting */
  uint8_t counted;     /* 1: the layer has counted waits there */
  uint8_t uncounted;   /* some of the layer's counts are of this object and others together; QZI_UNCOUNTED_FOR_GOOD: and
                          it is not known any more which */
  uint32_t resting;    /* waiting threads that are not examined in every snapshot (snapshot/resting_threads.h) */
  uint32_t stats;      /* index + 1 into QZ_SECTION_OBJECTS */
};

enum { QZI_MIXED = 1, QZI_MIXED_FOR_GOOD };
/* A record of kind QZ_KIND_FUTEX in the session. If several threads wait for the word, it is one object, with the name
 * of the place where a wait was first seen. If it is always the same thread, the word may be that thread's place to
 * wait for everything (Rust's park), so each place is an object. */
struct qzi_futex_record {
  uint32_t external; /* index of the object as which its last wait was seen; 0: none yet */
  uint32_t first;    /* the same of the first wait of this instance */
  uint32_t thread;   /* entity of the thread that waited; 0: none yet */
  uint32_t instance; /* `instances` of the record then */
  uint8_t several;   /* 1: several threads */
  uint8_t mixed;     /* its counts are of several objects: QZI_MIXED; _FOR_GOOD: of several words, too */
};

/* Index, from 1, of the object with the same kind and key; 0: there is none yet. */
uint32_t qzi_external_find(const struct qzi_interner *in, const struct qzi_external *its);
/* Adds it; returns its index, or 0 if there is no room. */
uint32_t qzi_external_add(struct qzi_interner *in, const struct qzi_external *its);
/* The object with that index, 1 .. in->externals_count. */
struct qzi_external_object *qzi_external_at(const struct qzi_interner *in, uint32_t index);
/* Index of the object of such a record: as which it was last seen; before that, by the variable or the layer's place.
 */
uint32_t qzi_external_of_futex(struct qzi_interner *in, uint32_t record);
/* Entity of the object with that index; 0: none. */
uint32_t qzi_external_entity(const struct qzi_interner *in, uint32_t index);
/* The object of an entity; NULL: it is not an external object. */
const struct qzi_external *qzi_external_of(const struct qzi_interner *in, uint32_t entity);
/* Counts a thread that waits for it in the snapshot being added. */
void qzi_external_wait(struct qzi_interner *in, uint32_t index);
void qzi_external_free(struct qzi_interner *in);

#endif
