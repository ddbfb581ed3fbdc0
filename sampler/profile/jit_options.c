/* See jit_options.h. */
#include "jit_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/file_path.h"

/* The first versions that can write the map, and that have variables of this name. */
#define JAVA_FIRST   17
#define DOTNET_FIRST 6

/* HotSpot's version, from the file `release` that each JDK has; 0: unknown. */
static int java_version(const char *libjvm) {
  char path[4200], line[256];
  const char *end = NULL;
  int version = 0;
  for (const char *at = libjvm; (at = strstr(at, "/lib/")); at++) end = at; /* /usr/lib/jvm/NAME/lib/server */
  if (!end || snprintf(path, sizeof path, "%.*s/release", (int)(end - libjvm), libjvm) >= (int)sizeof path) return 0;
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "JAVA_VERSION=\"", 14)) version = atoi(line + 14);
  if (file) fclose(file);
  return version;
}

static const char *option_of_java(const char *path, const struct qz_profile *head, char text[100]) {
  int version = java_version(path);
  if (version && version < JAVA_FIRST) return "use Java 17 or later: this version can't write their names";
  if (!head->attached) return "start it as java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
  snprintf(text, 100, "run jcmd %u Compiler.perfmap before the recording ends", (unsigned)head->pid);
  return text;
}

/* .NET's version is the name of its directory: Microsoft.NETCore.App/8.0.4. */
static const char *option_of_dotnet(const char *path) {
  const char *file = qz_file_of_path(path), *at = file > path ? file - 1 : file;
  while (at > path && at[-1] != '/') at--;
  int version = atoi(at);
  return version && version < DOTNET_FIRST ? "set COMPlus_PerfMapEnabled=1" : "set DOTNET_PerfMapEnabled=1";
}

/* What makes the run-time system of that module write its names; NULL: it is none. */
static const char *option_of(const char *path, const struct qz_profile *head, char text[100]) {
  static const struct {
    const char *file, *option;
  } known[] = {
    {"libnode.so", "start it as node --perf-basic-prof"},
    {"node", "start it as node --perf-basic-prof"},
    {"nodejs", "start it as node --perf-basic-prof"},
    {"deno", "start it as deno run --v8-flags=--perf-basic-prof"},
    {"beam.smp", "start it as erl +JPperf true"},
    {"mono-sgen", "start it as mono --jitmap"},
    {"mono", "start it as mono --jitmap"},
  };
  const char *file = qz_file_of_path(path);
  if (!strcmp(file, "libjvm.so")) return option_of_java(path, head, text);
  if (!strcmp(file, "libcoreclr.so")) return option_of_dotnet(path);
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    size_t length = strlen(known[k].file);
    int versioned = !strncmp(file, known[k].file, length) && file[length] == '.' && strstr(file, ".so");
    if (!strcmp(file, known[k].file) || versioned) return known[k].option;
  }
  return NULL;
}

void qzi_jit_clause(const struct qzi_file *file, pid_t pid, int named, char clause[QZI_JIT_CLAUSE]) {
  static const char what[] = "generated while the program runs (JIT)";
  char text[100];
  const char *option = NULL;
  if (named) {
    snprintf(clause, QZI_JIT_CLAUSE, "%s, and not in /tmp/perf-%ld.map", what, (long)pid);
    return;
  }
  uint64_t modules = qzi_file_count(file, QZ_SECTION_MODULES);
  for (uint64_t k = 0; k < modules && !option; k++)
    option = option_of(file->strings + file->modules[k].path, file->head, text);
  if (option)
    snprintf(clause, QZI_JIT_CLAUSE, "%s; to see its procedures, %s", what, option);
  else
    snprintf(clause, QZI_JIT_CLAUSE, "%s, and there is no /tmp/perf-%ld.map with its names", what, (long)pid);
}
