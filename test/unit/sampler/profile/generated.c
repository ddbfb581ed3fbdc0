/* Generated code of this process: its places on stacks, and the map with its names. */
#include "sampler/profile/generated.h"
#include "sampler/profile/jit_options.h"
#include "test/support/self_profile.h"
#include "sampler/profile/interned_stacks.h"

#include <sys/stat.h>
#include <sys/time.h>

#define CODE UINT64_C(0x7f5000000000)

static char path[64];

static void write_map(const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}
static uint32_t node_at(struct qzi_interner *in, uint32_t parent, uint64_t pc) {
  return qzi_intern_child(in, parent, qzi_generated_key(in, pc));
}
static const struct qz_entity *entity_of(struct self_profile *self, uint32_t node) {
  return &self->file.entities[self->file.stacks[node].entity];
}
static int is_called(struct self_profile *self, uint32_t node, const char *name) {
  return !strcmp(self->file.strings + entity_of(self, node)->name, name);
}

int main(void) {
  struct self_profile self;
  self_profile_open(&self);
  struct qzi_interner *in = &self.interner;
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  unlink(path);

  /* Without places everything is the same procedure, also before there are names. */
  CHECK(qzi_generated_key(in, CODE) == QZI_KEY_GENERATED && !qzi_generated_frame(in, QZI_KEY_GENERATED));
  qzi_generated_open(in, getpid());
  uint32_t first = node_at(in, 0, CODE + 8), same = node_at(in, 0, CODE + 60), second = node_at(in, 0, CODE + 100);
  uint32_t other = node_at(in, first, CODE + 0x1000), nowhere = node_at(in, 0, CODE + 0x9000);
  uint32_t hostile = qzi_intern_child(in, 0, QZI_KEY_GENERATED | 0xffffff);
  CHECK(first == same && first != second && self.file.stacks[first].entity == self.file.stacks[second].entity);
  CHECK(is_called(&self, first, "generated code") && is_called(&self, hostile, "generated code"));
  uint32_t *frame = qzi_generated_frame(in, in->node_keys[first]);
  CHECK(frame && !*frame && qzi_generated_frame(in, in->node_keys[second]) != frame);

  /* Without a map all code remains nameless. A map that is a link, or older than the process, is not read. */
  qzi_generated_name(in);
  CHECK(is_called(&self, first, "generated code") && entity_of(&self, first)->missing == QZ_MISSING_NAME);
  write_map("7f5000000000 80 from before\n");
  struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  CHECK(!utimes(path, old));
  qzi_generated_name(in);
  CHECK(is_called(&self, first, "generated code"));
  char elsewhere[80];
  snprintf(elsewhere, sizeof elsewhere, "%s.elsewhere", path);
  CHECK(!rename(path, elsewhere) && !symlink(elsewhere, path) && !utimes(elsewhere, NULL));
  qzi_generated_name(in);
  CHECK(is_called(&self, first, "generated code"));
  CHECK(!unlink(path) && !unlink(elsewhere));
  CHECK(!mkfifo(path, 0600)); /* opening it must not wait */
  qzi_generated_name(in);
  CHECK(is_called(&self, first, "generated code") && !unlink(path));

  /* Of several lines for an address the last one counts; lines that are invalid, too long or unfinished do not count.
   */
  FILE *file = fopen(path, "w");
  CHECK(file);
  fputs("rubbish\n7f5000000000 9000 all of it\n\n7f5000000000 80 long Sum.of(int)\n", file);
  for (int k = 0; k < 200000; k++) fputc('y', file);
  fputs("\n7f5000001000 10 JS:*work file:///srv/a.js:3:4\n7f5000009000 10", file);
  fclose(file);
  qzi_generated_name(in);
  CHECK(is_called(&self, first, "Sum.of") && is_called(&self, second, "Sum.of"));
  CHECK(self.file.stacks[first].entity == self.file.stacks[second].entity && first != second);
  CHECK(is_called(&self, other, "work") && entity_of(&self, other)->line == 3);
  CHECK(!strcmp(self.file.strings + entity_of(&self, other)->file, "/srv/a.js"));
  CHECK(is_called(&self, nowhere, "generated code") && entity_of(&self, other)->missing == QZ_MISSING_NOTHING);
  /* New stacks with such places have names at once. */
  CHECK(is_called(&self, node_at(in, other, CODE + 20), "Sum.of"));
  CHECK(!unlink(path));

  /* Which run-time system would provide names, by what the program maps. */
  static const struct {
    const char *module, *says;
  } known[] = {
    {"/srv/jdk-no-release/lib/server/libjvm.so", "DumpPerfMapAtExit"},
    {"/usr/lib/x86_64-linux-gnu/libnode.so.108", "node --perf-basic-prof"},
    {"/opt/dotnet/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so", " DOTNET_PerfMapEnabled=1"},
    {"/opt/dotnet/shared/Microsoft.NETCore.App/3.1.32/libcoreclr.so", " COMPlus_PerfMapEnabled=1"},
    {"/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "+JPperf true"},
    {"/usr/bin/nodes", "there is no /tmp/perf-7.map"},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    char clause[QZI_JIT_CLAUSE];
    uint64_t modules = qzi_file_count(&self.file, QZ_SECTION_MODULES);
    self.file.modules[modules - 1].path = qzi_intern_string(in, known[k].module);
    qzi_jit_clause(&self.file, 7, 0, clause);
    CHECK(strstr(clause, known[k].says));
    qzi_jit_clause(&self.file, 7, 1, clause);
    CHECK(strstr(clause, "not in /tmp/perf-7.map"));
  }
  self_profile_close(&self);
  return 0;
}
