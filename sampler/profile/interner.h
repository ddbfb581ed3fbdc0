/* Numbers for strings and entities; interned_stacks.h: for objects, threads and stacks.
 *
 * Owns:    the maps from names, addresses, session records and stacks to the profile's elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: charge time. Bounded: threads beyond QZI_GROUP_THREADS of one start routine and name, or QZI_MAX_THREADS in
 * all, are counted under one entity for their group (qz_profile.entities_merged); objects beyond QZI_MAX_OBJECTS under
 * one for each place and name.
 */
#ifndef QZI_INTERNER_H
#define QZI_INTERNER_H

#include "abi/session_read.h"
#include "file.h"
#include "sampler/util/hash_index.h"

#define QZI_GROUP_THREADS 1024u
#define QZI_MAX_THREADS   16384u
#define QZI_MAX_OBJECTS   16384u

/* What is remembered about a thread record of the session. */
struct qzi_thread_memo {
  uint64_t serial;    /* of the thread that the other members are about; 0: none yet */
  uint64_t word;      /* packed word of the copy of the stack from which `node` was made; QZI_NO_WORD: none */
  uint64_t visit_ns;  /* ns: last visit, in any state; 0: never */
  uint64_t overflows; /* value at the last visit */
  uint64_t round;     /* number of the last snapshot in which it was on a processor */
  uint32_t processor; /* on which one */
  uint32_t node;
  uint32_t entity;
  uint32_t stats;    /* index + 1 into QZ_SECTION_THREADS, 0: none */
  uint32_t name;     /* offset in the session at the last visit */
  uint32_t reserved; /* pads the structure to one cache line */
};
#define QZI_NO_WORD QZ_WORD_FLUX

/* The beginning of a thread's path, if more is known about its creation than its record contains. */
struct qzi_base {
  uint64_t serial;      /* of the thread */
  uint32_t node, depth; /* node 0: unknown */
};

struct qzi_range {
  uint64_t start, end;
};

struct qzi_interner {
  struct qzi_file *file;
  const struct qz_session_view *view;
  struct qzi_table texts;      /* finds strings by content */
  struct qzi_table procedures; /* finds entities by address */
  struct qzi_table nodes;      /* finds stacks by parent and key */
  struct qzi_table prints;     /* finds stacks by the fingerprint of all their keys */
  struct qzi_table groups;     /* finds indices + 1 into `group` by start routine and name */
  struct qzi_table inlined;    /* finds entities of inlined procedures by name, place and enclosing scope */
  struct qzi_table places;     /* finds entities by kind, place and name, for objects beyond the limit */
  uint64_t *node_keys;         /* session key of each node's last entry */
  uint64_t *node_prints;       /* fingerprint of the keys for which the node was made; 0: none */
  uint64_t seed[2]; /* random seed of fingerprints, so that no program can construct two stacks that look the same */
  struct qz_symbols *symbols;             /* of the program's modules; opened at the first use (symbolize.h) */
  uint32_t symbols_modules;               /* number of modules that `symbols` knows */
  uint32_t *object_entities;              /* by index of the object; 0: none yet */
  struct qzi_futex_record *futex_records; /* by index of the object; of kind QZ_KIND_FUTEX (external_objects.h) */
  struct qzi_thread_memo *memos;          /* by index of the thread */
  struct qzi_base *bases;                 /* by index of the thread; NULL: the session records no creations */
  struct qzi_group {
    uint64_t start;
    uint32_t name, threads, entity, stats;
  } * group;
  uint32_t group_count, group_room;
  struct qzi_external_object *externals; /* external_objects.h */
  struct qzi_table external_table;
  uint32_t externals_count;
  struct qzi_object_place *object_places; /* object_places.h */
  struct qzi_table object_place_table;
  uint32_t object_places_count, object_places_room;
  uint32_t threads, objects; /* number of those with their own entities */
  size_t node_keys_bytes, object_entities_bytes, futex_bytes, memos_bytes, bases_bytes;
  uint32_t creator_depth;
  struct qzi_range *generated; /* addresses of generated code, which is in no file, at the last reading of the map */
  size_t generated_count;
  uint32_t generated_entity;  /* entity for all of it that has no name; 0: none yet */
  struct qzi_generated *code; /* of its places (generated.h); NULL: none are kept */
  struct qzi_range c_code;    /* the C library's code in a statically linked program (static_code.h) */
  uint32_t map_readings;      /* number of readings of the program's map */
  uint8_t *gone;              /* by module: 1: it was absent at the last reading of the map */
  uint32_t gone_count;
  uint64_t unloads; /* the session's count of unloaded libraries when the last reading of the map was requested */
  uint32_t unknown_addresses; /* (changes) number of procedures added that are in no known module */
};

/* Adds the text to the profile's strings; returns its offset, or 0 if it is empty or there is no room. */
uint32_t qzi_intern_text(struct qzi_interner *in, const char *text, size_t length);
/* The same for a NUL-terminated string. */
uint32_t qzi_intern_string(struct qzi_interner *in, const char *string);
/* The same for a string of the session. */
uint32_t qzi_intern_name(struct qzi_interner *in, uint32_t session_offset);

/* Entity of the procedure with that entry address (not 0); 0: no room. */
uint32_t qzi_intern_procedure(struct qzi_interner *in, uint64_t address);
/* Entity of a procedure inlined into another one (an entity); file and line are those of its definition. 0: no room.
 * The session does not contain such procedures: the key on a stack is QZI_KEY_INLINED | entity. */
#define QZI_KEY_INLINED (UINT64_C(1) << 62)
uint32_t qzi_intern_inlined(struct qzi_interner *in, uint32_t into, uint32_t name, uint32_t file, uint32_t line);
/* Entity of a loop in the code of a procedure or inlined procedure (an entity), identified by its source position, or,
 * if that is unknown (file 0), by its first instruction. Its key on a stack is QZI_KEY_INLINED | entity. 0: no room. */
uint32_t qzi_intern_code_loop(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line, uint64_t address);
/* The same for a source line (line > 0), identified by file and line. */
uint32_t qzi_intern_code_line(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line);
/* Keys on a stack for code that is in no file of the program: plus the number of a place in it (generated.h), or 0. */
#define QZI_KEY_GENERATED (UINT64_C(1) << 61)
static inline int qzi_key_is_generated(uint64_t key) { return key >> 32 == QZI_KEY_GENERATED >> 32; }
/* Whether the address is in such code. */
int qzi_intern_is_generated(const struct qzi_interner *in, uint64_t address);
/* Where the object is, or was: its variable remains when it is gone. 0: unknown. */
uint64_t qzi_object_address(const struct qz_object *object);
/* Adds an entity; 0: no room. */
uint32_t qzi_intern_entity(struct qzi_interner *in, uint32_t kind, uint64_t address, uint32_t name, uint32_t record);

/* Index + 1 of the module that contains the address; 0: none known. */
uint32_t qzi_intern_module(const struct qzi_interner *in, uint64_t address);

#endif
