/* Numbers for what is seen: strings, entities, stacks.
 *
 * Owns:    the maps from names, addresses, session records and stacks to the profile's elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: charge time.
 *
 * Bounded: threads beyond QZI_GROUP_THREADS of one start routine and name, or QZI_MAX_THREADS in all, are counted
 * under one entity for their group (qz_profile.entities_merged); objects beyond QZI_MAX_OBJECTS likewise under one
 * for each place and name.
 */
#ifndef QZI_INTERNER_H
#define QZI_INTERNER_H

#include "abi/session_read.h"
#include "file.h"
#include "sampler/util/hash_index.h"

#define QZI_GROUP_THREADS 1024u
#define QZI_MAX_THREADS   16384u
#define QZI_MAX_OBJECTS   16384u

/* What is remembered of a thread record of the session. */
struct qzi_thread_memo {
  uint64_t serial;    /* of the thread that the rest is about; 0: none yet */
  uint64_t word;      /* packed word of the copy that `node` is for; QZI_NO_WORD: none */
  uint64_t visit_ns;  /* last visit, any state; 0: never */
  uint64_t overflows; /* last seen */
  uint64_t round;     /* last snapshot that saw it on a processor */
  uint32_t processor; /* which */
  uint32_t node;
  uint32_t entity;
  uint32_t stats;    /* index + 1 into QZ_SECTION_THREADS, 0: none */
  uint32_t name;     /* last seen, in the session */
  uint32_t reserved; /* one cache line */
};
#define QZI_NO_WORD QZ_WORD_FLUX

/* Where the path of a thread begins, if more is known of its creation than its record says. */
struct qzi_base {
  uint64_t serial;      /* of the thread */
  uint32_t node, depth; /* node 0: nothing is known */
};

struct qzi_range {
  uint64_t start, end;
};

struct qzi_interner {
  struct qzi_file *file;
  const struct qz_session_view *view;
  struct qzi_table texts;        /* strings by content */
  struct qzi_table procedures;   /* entities by address */
  struct qzi_table nodes;        /* stacks by parent and key */
  struct qzi_table prints;       /* stacks by fingerprint of all their keys */
  struct qzi_table groups;       /* indices + 1 into `group` by start routine and name */
  struct qzi_table inlined;      /* entities of inlined procedures by name, place and what they are inlined into */
  struct qzi_table places;       /* entities by kind, place and name, for objects beyond the limit */
  uint64_t *node_keys;           /* session key of each node's entity */
  uint64_t *node_prints;         /* fingerprint of the keys that led to the node first, 0: none */
  uint64_t seed[2];              /* of fingerprints, random: no program can make two stacks look the same */
  struct qz_symbols *symbols;    /* of the program's modules; made when first asked for (symbolize.h) */
  uint32_t symbols_modules;      /* that it knows */
  uint32_t *object_entities;     /* by object index, 0: none yet */
  struct qzi_thread_memo *memos; /* by thread index */
  struct qzi_base *bases;        /* by thread index; NULL: the session has no creations */
  struct qzi_group {
    uint64_t start;
    uint32_t name, threads, entity, stats;
  } * group;
  uint32_t group_count, group_room;
  struct qzi_external_object *externals; /* external_objects.h */
  struct qzi_table external_table;
  uint32_t externals_count;
  uint32_t threads, objects; /* with entities of their own */
  size_t node_keys_bytes, object_entities_bytes, memos_bytes, bases_bytes;
  uint32_t creator_depth;
  struct qzi_range *generated; /* where code was generated that is in no file, when the program's map was read last */
  size_t generated_count;
  uint32_t generated_entity; /* all of it; 0: none yet */
  struct qzi_range c_code;   /* of a statically linked program: the C library's (static_code.h) */
  uint32_t map_readings;     /* how often the program's map was read */
  uint8_t *gone;             /* by module: 1: it was not there any more when the map was read last */
  uint32_t gone_count;
  uint64_t unloads;           /* the session's count when the map was asked for last */
  uint32_t unknown_addresses; /* (changes) procedures made that lie in no known module */
};

int qzi_intern_open(struct qzi_interner *in, struct qzi_file *file, const struct qz_session_view *view);
void qzi_intern_close(struct qzi_interner *in);

/* String of the profile with that text; 0 where it is empty, or there is no room. */
uint32_t qzi_intern_text(struct qzi_interner *in, const char *text, size_t length);
/* The same for a whole string. */
uint32_t qzi_intern_string(struct qzi_interner *in, const char *string);
/* The same for a string of the session. */
uint32_t qzi_intern_name(struct qzi_interner *in, uint32_t session_offset);

/* The stack `parent` with one more entity, for a key of the session. A key that makes no sense is left out (the
 * result is `parent`, head->invalid counts it); where there is no room the stack is cut (head->stacks_cut). */
uint32_t qzi_intern_child_slow(struct qzi_interner *in, uint32_t parent, uint64_t key, uint32_t hash);
static inline uint32_t qzi_intern_child(struct qzi_interner *in, uint32_t parent, uint64_t key) {
  uint32_t hash = qzi_hash(key, parent);
  QZI_TABLE_EACH(&in->nodes, hash, node)
  if (in->file->stacks[node].parent == parent && in->node_keys[node] == key) return node;
  return qzi_intern_child_slow(in, parent, key, hash);
}

/* Entity of a procedure by its entry address (not 0); 0: no room. */
uint32_t qzi_intern_procedure(struct qzi_interner *in, uint64_t address);
/* Entity of a procedure that is inlined into another one (an entity); its file and line are those of its definition. 0:
 * no room. The session knows nothing of it: its key on a stack is QZI_KEY_INLINED | entity. */
#define QZI_KEY_INLINED (UINT64_C(1) << 62)
uint32_t qzi_intern_inlined(struct qzi_interner *in, uint32_t into, uint32_t name, uint32_t file, uint32_t line);
/* Entity of a loop in the code of a procedure or inlined procedure (an entity), by the place of its source, or, where
 * that is not known (file 0), by its first instruction. Its key on a stack is QZI_KEY_INLINED | entity. 0: no room. */
uint32_t qzi_intern_code_loop(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line, uint64_t address);
/* The same of a source line (line > 0) of its code, by file and line. */
uint32_t qzi_intern_code_line(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line);
/* Key on a stack of all code that is in no file of the program: which procedures it has nobody knows. */
#define QZI_KEY_GENERATED (UINT64_C(1) << 61)
/* Whether that place is in such code. */
int qzi_intern_is_generated(const struct qzi_interner *in, uint64_t address);
/* Entity of an object record, 0 where there is none (index 0, not in use, no room). */
uint32_t qzi_intern_object(struct qzi_interner *in, uint32_t index);
/* Entity of the thread that has this record now, made known to the memo; 0: record free or no room. */
uint32_t qzi_intern_thread_slow(struct qzi_interner *in, uint32_t index, uint64_t serial);
static inline uint32_t qzi_intern_thread(struct qzi_interner *in, uint32_t index, uint64_t serial) {
  struct qzi_thread_memo *memo = &in->memos[index];
  return memo->serial == serial && memo->entity ? memo->entity : qzi_intern_thread_slow(in, index, serial);
}
/* The path of that thread begins with that node. Where its start routine is on that path already, with what comes
 * before that: threads that create threads of their own kind, level by level or one after another, have one path. */
void qzi_intern_base(struct qzi_interner *in, uint32_t index, uint64_t serial, uint32_t node);
/* The first `depth` keys of that thread's record become those of its path, for which `keys` has room for
 * view->stack_limit. Returns their number. */
uint32_t qzi_intern_based_slow(const struct qzi_interner *in, uint32_t index, uint64_t *keys, uint32_t depth);
static inline uint32_t qzi_intern_based(const struct qzi_interner *in, uint32_t index, uint64_t serial, uint64_t *keys,
                                        uint32_t depth) {
  if (!in->bases || !in->bases[index].node || in->bases[index].serial != serial) return depth;
  return qzi_intern_based_slow(in, index, keys, depth);
}

/* Fills in prints[from .. depth-1]. Fingerprints distinguish stacks by 64 bits: the fingerprint of a stack is that of
 * its parent plus a term for the key on top and its depth, so that the prints of a stack that shares its beginning with
 * another need no new work there. */
static inline void qzi_prints(const struct qzi_interner *in, const uint64_t *keys, uint64_t *prints, uint32_t from,
                              uint32_t depth) {
  uint64_t seed = in->seed[0], factor = in->seed[1] + 2 * (uint64_t)from, print = from ? prints[from - 1] : 0;
  for (uint32_t k = from; k < depth; k++, factor += 2) {
    unsigned __int128 product = (unsigned __int128)(keys[k] ^ seed) * factor;
    prints[k] = print += (uint64_t)product ^ (uint64_t)(product >> 64);
  }
}
/* Node of the whole stack keys[0 .. depth-1], whose fingerprints are prints[0 .. depth-1]. */
uint32_t qzi_intern_stack_slow(struct qzi_interner *in, const uint64_t *keys, const uint64_t *prints, uint32_t depth);
static inline uint32_t qzi_intern_stack(struct qzi_interner *in, const uint64_t *keys, const uint64_t *prints,
                                        uint32_t depth) {
  if (!depth) return 0;
  uint64_t print = prints[depth - 1];
  QZI_TABLE_EACH(&in->prints, (uint32_t)(print >> 32), node)
  if (in->node_prints[node] == print) return node;
  return qzi_intern_stack_slow(in, keys, prints, depth);
}

/* Index + 1 of the module that holds the address, 0: none known. */
uint32_t qzi_intern_module(const struct qzi_interner *in, uint64_t address);

/* Memory that is taken only where it is touched, zeroed; NULL: none. */
void *qzi_lazy_memory(size_t bytes);
void qzi_lazy_free(void *memory, size_t bytes);

#endif
