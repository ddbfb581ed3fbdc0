/* The sampler's command line, by a table: what is accepted with which meaning, and what is refused with which words. */
#include "sampler/control/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test/support/check.h"

/* Parses `line`, whose words are separated by single blanks; `said` receives what is printed on stderr. */
static int parsed(struct qzi_options *options, const char *line, char *said, size_t size) {
  static char words[256];
  static char *argv[32];
  int argc = 1;
  argv[0] = "quartz-sampler";
  snprintf(words, sizeof words, "%s", line);
  for (char *rest = words, *word; (word = strsep(&rest, " "));) argv[argc++] = word;
  argv[argc] = NULL;
  FILE *file = tmpfile();
  int err = dup(STDERR_FILENO);
  CHECK(file && err >= 0);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  optind = 0; /* glibc: begin again */
  getopt(1, argv, "+");
  int result = qzi_options_parse(options, argc, argv);
  fflush(stderr);
  dup2(err, STDERR_FILENO);
  close(err);
  rewind(file);
  said[fread(said, 1, size - 1, file)] = 0;
  fclose(file);
  return result;
}

static const struct {
  const char *line, *said; /* a part of the line on stderr */
} refused[] = {
  {"", "unknown command"},
  {"list", "unknown command list"},
  {"record", "no program to record"},
  {"record --", "no program to record"},
  {"record --frob -- true", "unknown option --frob"},
  {"record -x -- true", "unknown option -x"},
  {"record --rate", "a value is missing after --rate"},
  {"record --rate 0 -- true", "--rate needs a number from 0.001 to 1000000, not 0;"},
  {"record --rate 1000001 -- true", "--rate needs"},
  {"record --rate -5 -- true", "--rate needs"},
  {"record --rate 5x -- true", "--rate needs"},
  {"record --rate inf -- true", "--rate needs"},
  {"record --rate 0x10 -- true", "--rate needs"},
  {"record --rate= -- true", "--rate needs a number from 0.001 to 1000000, not \"\";"},
  {"record --cpu -1 -- true", "--cpu needs a whole number from 0 to 65535, not -1;"},
  {"record --cpu 1.5 -- true", "--cpu needs"},
  {"record --cpu 65535 -- true", "--cpu needs a CPU that this process may use"},
  {"record --threads 0 -- true", "--threads needs a whole number from 1 to 64, not 0;"},
  {"record --threads 65 -- true", "--threads needs"},
  {"record --max-size 1023K -- true", "--max-size needs a size of at least 1M, not 1023K;"},
  {"record --max-size 1MB -- true", "--max-size needs"},
  {"record --max-size M -- true", "--max-size needs"},
  {"record --max-size 1e14 -- true", "--max-size needs"},
  {"record -o  -- true", "--output needs a file name"},
  {"record -o a%x -- true", "--output needs a file name, in which each % is followed by"},
  {"record -o a% -- true", "--output needs a file name"},
  {"record --front 999999 -- true", "--front needs the number of an open file descriptor, not 999999;"},
  {"record --seconds 5 -- true", "only attach has the option seconds;"},
  {"attach", "attach needs one process id"},
  {"attach 1 2", "attach needs one process id"},
  {"attach x", "not a process id: x"},
  {"attach 0", "not a process id: 0"},
  {"attach 2147483648", "not a process id"},
  {"attach --seconds 0 1", "--seconds needs a number above 0"},
  {"attach --plain 1", "only record has the option plain;"},
  {"attach --account 2 1", "only record has the option account;"},
  {"record --account 999999 -- true", "--account needs the number of an open file descriptor, not 999999;"},
};

static void test_refused(void) {
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    struct qzi_options options;
    char said[512];
    CHECK(parsed(&options, refused[k].line, said, sizeof said) == -1);
    if (!strstr(said, refused[k].said) || strchr(said, '\n') != said + strlen(said) - 1) {
      fprintf(stderr, "%s: said %s", refused[k].line, said);
      abort();
    }
  }
}

static struct qzi_options of(const char *line) {
  struct qzi_options options;
  char said[512];
  int result = parsed(&options, line, said, sizeof said);
  if (result) fprintf(stderr, "%s: %s", line, said);
  CHECK(result == 0);
  CHECK(*said == 0);
  return options;
}

static void test_accepted(void) {
  struct qzi_options none = of("record true");
  CHECK(!none.recording.attached && !none.recording.quiet && !none.output);
  CHECK(none.recording.children == QZI_CHILDREN_FOLLOW && of("attach 1").recording.children == QZI_CHILDREN_NONE);
  CHECK(!none.recording.rate_mhz && none.recording.cpu == -1 && !none.recording.threads);
  CHECK(none.recording.max_bytes == UINT64_C(1) << 30);
  CHECK(none.front_fd == -1 && none.message_fd == -1 && none.account_fd == -1 && !none.plain);
  CHECK(of("record --rate 0.001 true").recording.rate_mhz == 1);
  CHECK(of("record --rate=1e6 true").recording.rate_mhz == 1000000000);
  CHECK(of("record --rate 2.5 true").recording.rate_mhz == 2500);
  CHECK(of("record --threads 1 true").recording.threads == 1);
  CHECK(of("record --threads 64 true").recording.threads == 64);
  CHECK(of("record --max-size 1M true").recording.max_bytes == 1 << 20);
  CHECK(of("record --max-size 1.5m true").recording.max_bytes == 3 << 19);
  CHECK(of("record --max-size 2G true").recording.max_bytes == UINT64_C(2) << 30);
  CHECK(of("record --max-size 1048576 true").recording.max_bytes == 1 << 20);
  CHECK(of("record --children true").recording.children == QZI_CHILDREN_ALL);
  CHECK(of("record --no-follow true").recording.children == QZI_CHILDREN_NONE);
  CHECK(of("record --no-follow --children true").recording.children == QZI_CHILDREN_ALL);
  CHECK(of("record --children --no-follow true").recording.children == QZI_CHILDREN_ALL);
  CHECK(of("record -q true").recording.quiet && of("record --quiet true").recording.quiet);
  CHECK(!strcmp(of("record -o%n-%r%h%p%j%% true").output, "%n-%r%h%p%j%%"));
  CHECK(!strcmp(of("record --output -- -- true").output, "--"));
  CHECK(of("record --tell 2 --front 1 true").message_fd == 2);
  CHECK(of("record --account 2 true").account_fd == 2 && of("record --plain true").plain);
  /* the program's arguments are not checked */
  struct qzi_options own = of("record -q -- true --rate x");
  CHECK(!strcmp(own.program[0], "true") && !strcmp(own.program[1], "--rate") && !strcmp(own.program[2], "x"));
  own = of("record true --frob");
  CHECK(!strcmp(own.program[1], "--frob") && !own.program[2]);
  struct qzi_options attached = of("attach --seconds .5 4711");
  CHECK(attached.recording.attached && attached.pid == 4711 && attached.seconds == .5);
  CHECK(of("attach 1").seconds == 0);
}

int main(void) {
  test_refused();
  test_accepted();
  return 0;
}
