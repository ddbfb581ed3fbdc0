/* Parsing of the command line. See options.h. */
#include "options.h"

#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampler/control/option_table.inc"
#include "sampler/profile/file.h"
#include "sampler/profile/file_name.h"
#include "sampler/profile/what_if.h"
#include "sampler/recording/cpu_placement.h"
#include "sampler/linux/affinity.h"

static const char usage_text[] =
  "quartz-sampler record -- ./prog input     run ./prog, write prog.quartz\n"
  "quartz-sampler record -o run1.quartz -- ./prog input\n"
  "quartz-sampler attach --seconds 10 4711    record a running program for ten seconds\n"
  "\n"
  "usage: quartz-sampler record [options] -- PROGRAM [ARGUMENT...]\n"
  "       quartz-sampler attach [options] [--seconds S] PID\n"
  "\n" OPTION_HELP "      --help, --version\n"
  "\n"
  "exit status: the program's own (128 + n for signal n); 2 wrong usage; 125 Quartz failed; 126 the program cannot\n"
  "be executed; 127 it was not found. attach: 0, or 125.\n";

/* The type of an option's value; ts-frontend/src/cli/option-table.ts has the same types. */
enum value_kind { VALUE_SWITCH, VALUE_PATTERN, VALUE_WHOLE, VALUE_NUMBER, VALUE_SIZE, VALUE_DESCRIPTOR, VALUE_WHAT_IF };

#define ROW_ID(id, ...) id,
enum option_id { OPTION_TABLE(ROW_ID) OPTIONS };

struct option_fact {
  const char *name;
  char letter; /* 0 if there is none */
  enum value_kind kind;
  double least, most;
  int attach; /* 1: accepted by attach only */
  const char *wants;
};
#define ROW_FACT(id, ...) [id] = {__VA_ARGS__},
static const struct option_fact facts[OPTIONS] = {OPTION_TABLE(ROW_FACT)};
#define ROW_LEAST(id, name, letter, kind, least, ...) LEAST_##id = (int64_t)(least),
enum { OPTION_TABLE(ROW_LEAST) };
_Static_assert(LEAST_OPTION_MAX_SIZE == QZI_FILE_MIN_BYTES, "--max-size promises what a profile's file needs");

static int complain(const char *what, const char *value) {
  fprintf(stderr, "quartz: %s%s%s; see --help\n", what, value ? " " : "", value ? value : "");
  return -1;
}

static int unwanted(const struct option_fact *fact, const char *value) {
  fprintf(stderr, "quartz: --%s needs %s, not %s; see --help\n", fact->name, fact->wants, *value ? value : "\"\"");
  return -1;
}

/* The number that the text stands for, NaN if it is not a number. Does not check bounds. */
static double number(const char *text, enum value_kind kind) {
  const char *letters = kind == VALUE_WHOLE || kind == VALUE_DESCRIPTOR ? "0123456789" : "0123456789.eE+-";
  size_t length = strspn(text, letters);
  if (!length || *text == '-') return NAN;
  char *end;
  double value = strtod(text, &end);
  if (end != text + length) return NAN;
  if (kind == VALUE_SIZE && *end) {
    static const char suffixes[] = "KMG";
    const char *at = strchr(suffixes, toupper((unsigned char)*end));
    if (!at) return NAN;
    for (const char *k = suffixes; k <= at; k++) value *= 1024;
    end++;
  }
  return *end ? NAN : value;
}

/* Checks a value against the table. Returns 0, with *amount if it is a number; -1 after printing the error on
 * stderr. */
static int check(const struct option_fact *fact, const char *value, double *amount) {
  char unknown[2] = "";
  switch (fact->kind) {
  case VALUE_SWITCH:
  case VALUE_WHAT_IF: return 0;
  case VALUE_PATTERN: return !*value || qzi_name_check(value, unknown) ? unwanted(fact, value) : 0;
  case VALUE_DESCRIPTOR:
    *amount = number(value, fact->kind);
    if (!(*amount <= INT32_MAX) || fcntl((int)*amount, F_SETFD, FD_CLOEXEC)) return unwanted(fact, value);
    return 0;
  case VALUE_WHOLE:
  case VALUE_NUMBER:
  case VALUE_SIZE:
    *amount = number(value, fact->kind);
    return *amount >= fact->least && *amount <= fact->most ? 0 : unwanted(fact, value);
  }
  return -1;
}

static int ask(struct qzi_options *options, const char *value) {
  struct qz_what_if *question = options->recording.what_if, *end = question + QZ_WHAT_IFS;
  while (question < end && question->kind != QZ_WHAT_IF_NONE) question++;
  if (question == end) return complain("--what-if may be given twice, not also with", value);
  options->recording.span = 1;
  return qzi_what_if_parse(question, value) ? unwanted(&facts[OPTION_WHAT_IF], value) : 0;
}

static int take(struct qzi_options *options, enum option_id id, const char *value) {
  double amount = 0;
  if ((id == OPTION_ACCOUNT || id == OPTION_PLAIN || id == OPTION_TREE) && options->recording.attached)
    return complain("only record has the option", facts[id].name);
  if (facts[id].attach && !options->recording.attached) return complain("only attach has the option", facts[id].name);
  if (check(&facts[id], value, &amount)) return -1;
  switch (id) {
  case OPTION_OUTPUT: options->output = value; break;
  case OPTION_RATE: options->recording.rate_mhz = (uint64_t)(amount * 1000 + 0.5); break;
  case OPTION_CPU:
    if (!qzi_affinity_may((int)amount))
      return complain("--cpu needs a CPU that this process may use (taskset -cp $$ lists them), not", value);
    options->recording.cpu = (int)amount;
    break;
  case OPTION_THREADS: options->recording.threads = (unsigned)amount; break;
  case OPTION_MAX_SIZE: options->recording.max_bytes = (uint64_t)amount; break;
  case OPTION_SPAN: options->recording.span = 1; break;
  case OPTION_NO_SIGNALS: options->recording.no_signals = 1; break;
  case OPTION_TIMELINE: options->recording.timeline = 1; break;
  case OPTION_WHAT_IF: return ask(options, value);
  case OPTION_CHILDREN: options->recording.children = QZI_CHILDREN_ALL; break;
  case OPTION_NO_FOLLOW:
    if (options->recording.children == QZI_CHILDREN_FOLLOW) options->recording.children = QZI_CHILDREN_NONE;
    break;
  case OPTION_ROTATE: options->rotate_seconds = amount; break;
  case OPTION_KEEP: options->keep = (unsigned)amount; break;
  case OPTION_SECONDS: options->seconds = amount; break;
  case OPTION_QUIET: options->recording.quiet = 1; break;
  case OPTION_FRONT: options->front_fd = (int)amount; break;
  case OPTION_TELL: options->message_fd = (int)amount; break;
  case OPTION_ACCOUNT: options->account_fd = (int)amount; break;
  case OPTION_PLAIN: options->plain = 1; break;
  case OPTION_TREE: options->tree = 1; break;
  case OPTIONS: return -1;
  }
  return 0;
}

/* Return values of getopt_long: FIRST plus the option's index in the table. */
enum { FIRST = 256, HELP = FIRST + OPTIONS, VERSION };

static int given(struct qzi_options *options, int letter, char **argv) {
  if (letter == '?') return complain("unknown option", argv[optind - 1]);
  if (letter == ':') return complain("a value is missing after", argv[optind - 1]);
  for (int id = 0; id < OPTIONS; id++)
    if (letter == FIRST + id || (letter && letter == facts[id].letter))
      return take(options, (enum option_id)id, optarg ? optarg : "");
  return complain("unknown option", argv[optind - 1]);
}

/* With --tree and --children the tree and the profiles have one name, apart from the extension: the one of profiles. */
static const char *name_of_profiles(const char *output) {
  static const char of_trees[] = ".quartztree";
  size_t length = output ? strlen(output) : 0, extension = sizeof of_trees - 1;
  if (length < extension || strcmp(output + length - extension, of_trees)) return output;
  char *name = strndup(output, length - strlen("tree"));
  return name ? name : output;
}

int qzi_options_parse(struct qzi_options *options, int argc, char **argv) {
  struct option names[OPTIONS + 3] = {0};
  char letters[2 * OPTIONS + 4] = "+:h", *end_of_letters = letters + 3;
  for (int id = 0; id < OPTIONS; id++) {
    const struct option_fact *fact = &facts[id];
    int valued = fact->kind != VALUE_SWITCH;
    names[id] = (struct option){fact->name, valued ? required_argument : no_argument, NULL, FIRST + id};
    if (fact->letter) *end_of_letters++ = fact->letter;
    if (fact->letter && valued) *end_of_letters++ = ':';
  }
  names[OPTIONS] = (struct option){"help", no_argument, NULL, HELP};
  names[OPTIONS + 1] = (struct option){"version", no_argument, NULL, VERSION};
  *options = (struct qzi_options){.recording = {.cpu = -1, .max_bytes = QZI_FILE_DEFAULT_BYTES},
                                  .keep = 24,
                                  .front_fd = -1,
                                  .message_fd = -1,
                                  .account_fd = -1};
  if (argc < 2) return complain("there is no command: record or attach", NULL);
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    fputs(usage_text, stdout);
    return 1;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("quartz-sampler " QUARTZ_VERSION);
    return 1;
  }
  if (!strcmp(argv[1], "attach"))
    options->recording.attached = 1;
  else if (strcmp(argv[1], "record"))
    return complain("unknown command", argv[1]);
  else
    options->recording.children = QZI_CHILDREN_FOLLOW;
  argc--;
  argv++;
  opterr = 0;
  optind = 1;
  int letter;
  while ((letter = getopt_long(argc, argv, letters, names, NULL)) >= 0) {
    if (letter == 'h' || letter == HELP) {
      fputs(usage_text, stdout);
      return 1;
    }
    if (letter == VERSION) {
      puts("quartz-sampler " QUARTZ_VERSION);
      return 1;
    }
    if (given(options, letter, argv)) return -1;
  }
  options->output = qzi_name_in_directory(options->output);
  if (!options->recording.attached) {
    if (optind >= argc) return complain("no program to record", NULL);
    options->program = argv + optind;
    if (options->tree && options->recording.children == QZI_CHILDREN_ALL)
      options->output = name_of_profiles(options->output);
    /* whether the program is a wrapper is only known at its end */
    if (options->rotate_seconds > 0 && options->recording.children == QZI_CHILDREN_FOLLOW)
      options->recording.children = QZI_CHILDREN_NONE;
    return 0;
  }
  if (optind + 1 != argc) return complain("attach needs one process id", NULL);
  char *end;
  long pid = strtol(argv[optind], &end, 10);
  if (*end || end == argv[optind] || pid <= 0 || pid > INT32_MAX) return complain("not a process id:", argv[optind]);
  options->pid = (pid_t)pid;
  return 0;
}
