/* verify: are two combinational circuits the same function? Options; see verify.h for the rest. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

static const char usage[] =
  "usage: verify [options] FIRST.bench SECOND.bench\n"
  "\n"
  "  verify c499.bench c1355.bench\n"
  "  verify --stage tuned --table adder1.bench adder2.bench\n"
  "\n"
  "  --stage STAGE   initial (default): writes a trace log, reads the circuits in turn\n"
  "                  nolog: no trace log\n"
  "                  parallel-input: the same, reads both circuits at once\n"
  "                  tuned: the same, with faster decision diagrams\n"
  "  --log FILE      write the trace log of shared data structures to FILE, in any stage\n"
  "                  (initial writes verify.trace if no file is given)\n"
  "  --workers N     threads that prove pairs of outputs (default: one for each processor)\n"
  "  --limit N       decision diagram nodes for each attempt at a pair (default 1000000)\n"
  "  --match BY      match inputs and outputs by name, position, or auto (default: name if they agree)\n"
  "  --table         print every pair of outputs\n"
  "  --quiet         print the verdict alone\n"
  "  --times         print the elapsed time of each phase on standard error\n"
  "\n"
  "exit status: 0 equal, 1 different, 2 wrong usage or input, 3 undecided\n";

__attribute__((noreturn)) static void wrong_usage(const char *what, const char *value) {
  fprintf(stderr, "verify: %s %s; see verify --help\n", what, value);
  exit(EXIT_WRONG_INPUT);
}

static int choice(const char *option, const char *value, const char *const names[], int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(value, names[i]) == 0) return i;
  wrong_usage(option, value);
}

static unsigned long number(const char *option, const char *value, unsigned long most) {
  char *end;
  errno = 0;
  unsigned long parsed = strtoul(value, &end, 10);
  if (errno || *value < '0' || *value > '9' || *end || parsed < 1 || parsed > most) wrong_usage(option, value);
  return parsed;
}

int main(int argc, char **argv) {
  static const char *const stages[STAGES] = {"initial", "nolog", "parallel-input", "tuned"};
  static const char *const matches[] = {"auto", "name", "position"};
  static const struct option options[] = {
    {"stage", required_argument, NULL, 's'},   {"log", required_argument, NULL, 'l'},
    {"workers", required_argument, NULL, 'w'}, {"limit", required_argument, NULL, 'n'},
    {"match", required_argument, NULL, 'm'},   {"table", no_argument, NULL, 't'},
    {"quiet", no_argument, NULL, 'q'},         {"times", no_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
  };
  struct request request = {.stage = STAGE_INITIAL, .match = MATCH_AUTO, .limit = 1000000};
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) switch (option) {
    case 's': request.stage = (enum stage)choice("unknown stage", optarg, stages, STAGES); break;
    case 'l': request.log = optarg; break;
    case 'w': request.workers = (unsigned)number("--workers takes a number from 1 to 4096, not", optarg, 4096); break;
    case 'n': request.limit = number("--limit takes a number from 1 to 500000000, not", optarg, 500000000); break;
    case 'm': request.match = (enum match_by)choice("unknown way to match", optarg, matches, 3); break;
    case 't': request.table = 1; break;
    case 'q': request.quiet = 1; break;
    case 'e': request.times = 1; break;
    case 'h': fputs(usage, stdout); return 0;
    default: fputs("verify: see verify --help\n", stderr); return EXIT_WRONG_INPUT;
    }
  if (argc - optind != 2) wrong_usage("two circuits expected,", argc - optind < 2 ? "not fewer" : "not more");
  request.files[0] = argv[optind];
  request.files[1] = argv[optind + 1];
  if (!request.workers) request.workers = qz_processors();
  if (request.stage == STAGE_INITIAL && !request.log) request.log = "verify.trace";
  return verify(&request);
}
