/* The beginning of a thread's path: the keys of its record, preceded by what is known about its creation. */
#include "test/support/fake_session.h"
#include "sampler/profile/interned_stacks.h"
#include <unistd.h>

enum { MAIN = 0x1000, BODY = 0x2000, PHASE = 0x3000, SOLVE = 0x4000, MOST = 8 };

struct example {
  const char *name;
  uint64_t created_at[MOST]; /* the path that leads to the creation */
  uint64_t record[MOST];     /* of the thread, which starts with BODY */
  uint32_t base;             /* that many of these are its creator's */
  uint64_t serial;           /* that of the thread is 5 */
  uint64_t path[MOST];
};

static const struct example examples[] = {
  {"callers come in", {MAIN, PHASE, SOLVE}, {MAIN, BODY}, 1, 5, {MAIN, PHASE, SOLVE, BODY}},
  {"what it does itself stays", {MAIN, PHASE}, {MAIN, BODY, SOLVE}, 1, 5, {MAIN, PHASE, BODY, SOLVE}},
  {"its own kind has created it", {MAIN, PHASE, BODY, SOLVE}, {MAIN, BODY}, 1, 5, {MAIN, PHASE, BODY}},
  {"... directly: its record names both once", {MAIN, PHASE, BODY}, {MAIN, BODY}, 2, 5, {MAIN, PHASE, BODY}},
  {"the record is another thread's now", {MAIN, PHASE}, {MAIN, BODY}, 1, 6, {MAIN, BODY}},
  {"deeper than a record",
   {MAIN, PHASE, SOLVE, PHASE, SOLVE, PHASE},
   {MAIN, BODY, SOLVE, PHASE},
   1,
   5,
   {MAIN, BODY, SOLVE, PHASE}},
};

static uint32_t count(const uint64_t *keys) {
  uint32_t n = 0;
  while (n < MOST && keys[n]) n++;
  return n;
}

static void check(const struct example *its) {
  static struct qzi_file file;
  struct qz_session_view view;
  struct qzi_interner in;
  const char *clause = NULL;
  char why[256], path[] = "/tmp/quartz-bases-XXXXXX";
  uint64_t keys[MOST], prints[MOST];
  struct fake fake = fake_make(1, 4, 4, MOST);
  fake.head->creation_table = (struct qz_table){fake.bytes - QZ_MARKS, sizeof(struct qz_creation), 1, 0};
  close(mkstemp(path));
  fake_create(&fake, 2, 5, NULL, BODY, -1);
  fake_thread(&fake, 2)->base = its->base;
  CHECK(!qz_session_open(&view, fake.fd, &clause));
  CHECK(!qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  CHECK(!qzi_intern_open(&in, &file, &view));
  uint32_t depth = count(its->created_at);
  memcpy(keys, its->created_at, sizeof keys);
  qzi_prints(&in, keys, prints, 0, depth);
  qzi_intern_base(&in, 2, 5, qzi_intern_stack(&in, keys, prints, depth));
  memcpy(keys, its->record, sizeof keys);
  depth = qzi_intern_based(&in, 2, its->serial, keys, count(its->record));
  printf("%s: %u keys\n", its->name, depth);
  CHECK(depth == count(its->path) && !memcmp(keys, its->path, depth * sizeof *keys));
  qzi_intern_close(&in);
  qzi_file_close(&file);
  qz_session_close(&view);
  fake_free(&fake);
  unlink(path);
}

int main(void) {
  for (unsigned k = 0; k < sizeof examples / sizeof *examples; k++) check(&examples[k]);
  return 0;
}
