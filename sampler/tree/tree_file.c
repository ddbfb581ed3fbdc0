/* Writes a tree. See tree_file.h. */
#include "tree_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "abi/checksum.h"

static void text(FILE *out, const char *name, const char *value) {
  fprintf(out, "\"%s\":\"", name);
  for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
    if (*at == '"' || *at == '\\') fputc('\\', out);
    fputc(*at < 32 || *at > 126 ? '?' : *at, out);
  }
  fputc('"', out);
}

static void number(FILE *out, const char *name, uint64_t value) { fprintf(out, ",\"%s\":%" PRIu64, name, value); }

static void numbers(FILE *out, const char *name, const uint64_t *values, unsigned count) {
  while (count > 1 && !values[count - 1]) count--;
  fprintf(out, ",\"%s\":[", name);
  for (unsigned k = 0; k < count; k++) fprintf(out, "%s%" PRIu64, k ? "," : "", values[k]);
  fputc(']', out);
}

static void write_kinds(FILE *out, const struct qzi_tree *tree) {
  fputs(",\n\"kinds\":[", out);
  for (unsigned k = 0; k < tree->kind_count; k++) {
    const struct qzi_tree_kind *kind = &tree->kinds[k];
    fputs(k ? ",\n{" : "\n{", out);
    text(out, "name", kind->name);
    fprintf(out, ",\"forked\":%s", kind->forked ? "true" : "false");
    number(out, "processes", kind->processes);
    number(out, "became", kind->became);
    number(out, "runNs", kind->run_ns);
    number(out, "becameNs", kind->became_ns);
    number(out, "aloneNs", kind->alone_ns);
    number(out, "ended", kind->ended);
    number(out, "leastNs", kind->least_ns);
    number(out, "mostNs", kind->most_ns);
    number(out, "shortCount", kind->short_count);
    number(out, "shortNs", kind->short_ns);
    numbers(out, "byBusy", kind->by_busy, QZI_TREE_BUSY + 1);
    numbers(out, "path", tree->path.ns[k], QZI_TREE_STATES);
    fputc('}', out);
  }
  fputc(']', out);
}

static void write_processes(FILE *out, const struct qzi_tree *tree) {
  fputs(",\n\"processes\":[", out);
  for (unsigned k = 0; k < tree->kept_count; k++) {
    const struct qzi_tree_process *process = &tree->kept[k];
    fprintf(out, "%s{\"pid\":%u,\"parent\":%u,\"kind\":%u", k ? ",\n" : "\n", process->pid, process->parent,
            process->kind);
    number(out, "beginNs", process->begin_ns - tree->begin_ns);
    number(out, "endNs", process->end_ns - tree->begin_ns);
    number(out, "runNs", process->run_ns);
    number(out, "aloneNs", process->alone_ns);
    number(out, "nptNs", (uint64_t)(process->npt_ns + 0.5));
    fputc('}', out);
  }
  fputs("],\n\"families\":[", out);
  for (unsigned k = 0; k < tree->family_count; k++) {
    const struct qzi_tree_family *family = &tree->families[k];
    fprintf(out, "%s{\"pid\":%u,\"kind\":%u,\"childKind\":%u,\"most\":%u", k ? ",\n" : "\n", family->pid, family->kind,
            family->child_kind, family->most);
    number(out, "children", family->children);
    numbers(out, "besideNs", family->ns, QZI_TREE_BESIDE + 1);
    fputc('}', out);
  }
  fputc(']', out);
}

static const char *const waits[QZI_WAITS] = {"unknown", "children", "pipe-read", "pipe-write", "socket",
                                             "lock",    "shared",   "threads",   "semaphore",  "file-lock",
                                             "events",  "sleep",    "device",    "flush",      "other"};

static void write_rest(FILE *out, const struct qzi_tree *tree) {
  unsigned written = 0;
  fputs(",\n\"waits\":[", out);
  for (unsigned k = 0; k < tree->wait_count; k++) {
    const struct qzi_tree_wait_row *row = &tree->waits[k];
    if (!row->ns) continue;
    fprintf(out, "%s{\"kind\":%u,\"wait\":\"%s\",\"holder\":", written++ ? ",\n" : "\n", row->kind, waits[row->wait]);
    fprintf(out, row->holder == UINT32_MAX ? "null" : "%u", row->holder);
    fprintf(out, ",\"holderPid\":%u", row->holder_pid);
    number(out, "ns", row->ns);
    number(out, "idleNs", row->idle_ns);
    fputc('}', out);
  }
  fputs("],\n\"gaps\":[", out);
  written = 0;
  for (unsigned k = 0; k < tree->kind_count; k++)
    for (unsigned wait = 0; wait < QZI_WAITS; wait++)
      if (tree->gaps[k][wait].ns)
        fprintf(out, "%s{\"kind\":%u,\"wait\":\"%s\",\"ns\":%" PRIu64 "}", written++ ? ",\n" : "\n", k, waits[wait],
                tree->gaps[k][wait].ns);
  fputs("],\n\"spans\":[", out);
  for (unsigned k = 0; k < tree->span_count; k++) {
    const struct qzi_tree_span *span = &tree->spans[k];
    fprintf(out, "%s[%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 "]", k ? "," : "\n", span->ns, span->run_ns, span->top_pid,
            span->top_kind, span->top_ns);
  }
  fputs("]}\n", out);
}

static void write_body(FILE *out, const struct qzi_tree *tree, const struct qzi_tree_about *about) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  fputc('{', out);
  text(out, "program", about->program);
  fputc(',', out);
  text(out, "arguments", about->arguments);
  fputc(',', out);
  text(out, "quartz", QUARTZ_VERSION);
  number(out, "endedAtNs", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
  fprintf(out, ",\"status\":%d,\"rootPid\":%u", about->status, tree->root);
  number(out, "cpus", tree->cpus);
  number(out, "elapsedNs", tree->now_ns - tree->begin_ns);
  number(out, "starvedNs", tree->starved_ns);
  number(out, "heldBackNs", tree->held_back_ns);
  number(out, "userNs", about->user_ns);
  number(out, "systemNs", about->system_ns);
  number(out, "processCount", tree->numbers);
  number(out, "aliveMost", tree->alive_most);
  number(out, "switches", tree->switches);
  number(out, "lost", about->lost);
  number(out, "odd", tree->odd);
  number(out, "observerNs", about->observer_ns);
  numbers(out, "byBusy", tree->by_busy, QZI_TREE_BUSY + 1);
  write_kinds(out, tree);
  write_processes(out, tree);
  write_rest(out, tree);
}

int qzi_tree_write(const struct qzi_tree *tree, const struct qzi_tree_about *about, const char *path) {
  char *bytes = NULL, work[4200];
  size_t count = 0;
  FILE *memory = open_memstream(&bytes, &count);
  if (!memory) return -1;
  write_body(memory, tree, about);
  if (fclose(memory)) {
    free(bytes);
    errno = ENOMEM;
    return -1;
  }
  snprintf(work, sizeof work, "%s.%ld.new", path, (long)getpid());
  FILE *out = fopen(work, "we");
  int failed = !out;
  if (out) {
    fprintf(out, "quartz-tree 1 %zu %08x\n", count, qz_checksum(0, bytes, count));
    failed = fwrite(bytes, 1, count, out) != count;
    failed |= fclose(out) != 0;
    failed = failed || rename(work, path);
    int error = errno;
    if (failed) unlink(work);
    errno = error;
  }
  free(bytes);
  return failed ? -1 : 0;
}
