/* Names of profiles: patterns, and which files a recording may replace. */
#include "sampler/profile/file_name.h"
#include "test/support/check.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *pattern, *program;
  int pid, launched;
  const char *name;
} names[] = {
  {NULL, "prog", 8, 7, "prog-8.quartz"}, /* another process of the recording */
  {"%p.quartz", "prog", 8, 7, "8.quartz"},
  {"100%%.quartz", "prog", 7, 7, "100%.quartz"},
  {"a.b/out", "prog", 8, 7, "a.b/out-8"},
};

static void put(const char *path, const char *text) {
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

/* Whether the pattern stands for that one. */
static bool stands_for(const char *pattern, const char *expected) {
  const char *is = qzi_name_in_directory(pattern);
  bool same = !strcmp(is, expected);
  if (is != pattern) free((void *)(uintptr_t)is);
  return same;
}

int main(void) {
  char letter = 0, name[64];
  CHECK(!qzi_name_check("%n-%r-%h-%p-%j%%.quartz", &letter));
  CHECK(qzi_name_check("%n%x", &letter) == -1 && letter == 'x');
  CHECK(qzi_name_wants_pid("%p.quartz") && !qzi_name_wants_pid("%n.quartz") && !qzi_name_wants_pid("%%p"));

  int failed = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    int error = qzi_name_make(name, sizeof name, names[k].pattern, names[k].program, names[k].pid, names[k].launched);
    if (!error && !strcmp(name, names[k].name)) continue;
    printf("%s of %s: %s\n", names[k].pattern ? names[k].pattern : "(none)", names[k].program, error ? "-1" : name);
    failed = 1;
  }
  CHECK(qzi_name_make(name, 5, NULL, "program", 1, 1) == -1); /* too long */

  char directory[] = "/tmp/quartz-names-XXXXXX";
  CHECK(mkdtemp(directory) && !chdir(directory));
  put("taken.quartz", "another's");
  char *to = strdup("taken.quartz");
  put("work", "mine");
  CHECK(!qzi_name_take(&to, "work", &(struct qzi_replaceable){0}, -1) && !strcmp(to, "taken-2.quartz"));
  put("work", "mine");
  CHECK(!qzi_name_take(&to, "work", &(struct qzi_replaceable){.any = 1}, -1) && !strcmp(to, "taken-2.quartz"));
  CHECK(qzi_name_take(&to, "work", &(struct qzi_replaceable){.any = 1}, -1) == -1); /* it is gone */
  /* Two at once: the one that began last may not replace the other's file, though that was written before. */
  put("work", "the other's");
  CHECK(!utimensat(AT_FDCWD, "work", (struct timespec[]){{.tv_sec = 1000}, {.tv_sec = 1000}}, 0));
  struct qzi_replaceable since = qzi_replaceable_now("both.quartz");
  char *others = strdup("both.quartz"), *mine = strdup("both.quartz");
  CHECK(!qzi_name_take(&others, "work", &(struct qzi_replaceable){0}, -1) && !strcmp(others, "both.quartz"));
  put("work", "mine");
  CHECK(!qzi_name_take(&mine, "work", &since, -1) && !strcmp(mine, "both-2.quartz"));
  CHECK(!unlink(others) && !unlink(mine));
  free(others);
  free(mine);

  CHECK(!qzi_name_aside(name, sizeof name, "taken.quartz", 42) && !strcmp(name, "taken-42.quartz"));
  free(to);
  static const char *const left[] = {"taken-2.quartz", "taken-42.quartz"};
  for (size_t k = 0; k < sizeof left / sizeof *left; k++) CHECK(!unlink(left[k]));
  CHECK(stands_for("new/", "new/%n.quartz") && stands_for("new", "new"));
  CHECK(!qzi_name_in_directory(NULL));
  qzi_name_make_directory("new/a.quartz");
  CHECK(stands_for("new", "new/%n.quartz"));
  qzi_name_make_directory("far/away/a.quartz"); /* two are missing: more likely a mistake */
  CHECK(access("far", F_OK) && !rmdir("new"));
  CHECK(!chdir("/") && !rmdir(directory));
  return failed;
}
