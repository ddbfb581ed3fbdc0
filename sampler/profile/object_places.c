/* Places of objects that a library creates for the program. See object_places.h. */
#include "object_places.h"

#include "modules.h"
#include "sampler/util/array.h"

struct qzi_object_place *qzi_object_place(struct qzi_interner *in, uint32_t entity) {
  QZI_TABLE_EACH(&in->object_place_table, qzi_hash(entity, 7), at)
  if (in->object_places[at - 1].entity == entity) return &in->object_places[at - 1];
  return NULL;
}

struct qzi_object_place *qzi_object_place_add(struct qzi_interner *in, uint32_t entity) {
  uint32_t count = in->object_places_count;
  if (qzi_grow((void **)&in->object_places, &in->object_places_room, count + 1, sizeof *in->object_places)) return NULL;
  if (qzi_table_add(&in->object_place_table, qzi_hash(entity, 7), count + 1)) return NULL;
  struct qzi_object_place *place = &in->object_places[in->object_places_count++];
  *place = (struct qzi_object_place){.entity = entity, .library = in->file->entities[entity].address};
  return place;
}

void qzi_object_place_set(struct qzi_interner *in, uint32_t entity, uint64_t site) {
  struct qz_entity *its = &in->file->entities[entity];
  its->address = site;
  its->module = qzi_intern_module(in, site);
}

void qzi_object_places_free(struct qzi_interner *in) {
  free(in->object_places);
  qzi_table_free(&in->object_place_table);
}

/* A procedure of a library, and the only place in the program from which its objects of that kind were used; 0:
 * several. */
struct pair {
  uint64_t library, own;
  uint32_t kind;
};
#define PAIRS_MOST 256u /* other places in libraries stay as they are */

static struct pair *pair_of(struct pair *pairs, uint32_t count, const struct qz_entity *its, uint64_t library) {
  for (uint32_t k = 0; k < count; k++)
    if (pairs[k].library == library && pairs[k].kind == its->kind) return &pairs[k];
  return NULL;
}

void qzi_object_places_settle(struct qzi_interner *in, uint64_t (*entry)(struct qzi_interner *in, uint64_t site)) {
  struct pair pairs[PAIRS_MOST], *pair;
  uint32_t count = 0, entities = (uint32_t)qzi_file_count(in->file, QZ_SECTION_ENTITIES);
  for (uint32_t k = 0; k < in->object_places_count; k++) {
    const struct qzi_object_place *place = &in->object_places[k];
    struct qz_entity *its = &in->file->entities[place->entity];
    if (its->kind == QZ_KIND_JOIN) continue;
    if (its->address && entry(in, its->address))
      for (uint32_t c = 0; c < place->count; c++)
        if (!entry(in, place->callers[c])) {
          qzi_object_place_set(in, place->entity, place->callers[c]);
          break;
        }
    uint64_t library = its->address && its->address != place->library ? entry(in, place->library) : 0;
    if (!library) continue;
    if ((pair = pair_of(pairs, count, its, library)))
      pair->own = pair->own == its->address ? pair->own : 0;
    else if (count < PAIRS_MOST)
      pairs[count++] = (struct pair){library, its->address, its->kind};
  }
  for (uint32_t k = 1; k < entities && count; k++) {
    const struct qz_entity *its = &in->file->entities[k];
    if (its->kind >= QZ_KIND_COUNT || !its->address) continue;
    if ((pair = pair_of(pairs, count, its, entry(in, its->address))) && pair->own)
      qzi_object_place_set(in, k, pair->own);
  }
}
