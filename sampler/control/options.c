/* Parsing of the command line. See options.h. */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampler/profile/file.h"
#include "sampler/profile/file_name.h"
#include "sampler/recording/cpu_placement.h"
#include "sampler/linux/affinity.h"

static const char help[] =
  "quartz-sampler record -- ./prog input     run ./prog, write prog.quartz\n"
  "quartz-sampler record -o run1.quartz -- ./prog input\n"
  "quartz-sampler attach --seconds 10 4711    record a running program for ten seconds\n"
  "\n"
  "usage: quartz-sampler record [options] -- PROGRAM [ARGUMENT...]\n"
  "       quartz-sampler attach [options] [--seconds S] PID\n"
  "\n"
  "  -o, --output FILE   profile to write (default %n.quartz in the current directory); in it %n stands for the\n"
  "                      program's name, %r its rank (MPI, Slurm; else 0), %h host, %p process, %j job (else 0), %% "
  "for %.\n"
  "                      A rank is put before the extension where FILE has neither %r nor %p\n"
  "      --rate HZ       snapshots a second (default 10000 on a CPU of its own, else 1000)\n"
  "      --cpu N         CPU of the sampling thread (default: one that the program leaves free)\n"
  "      --threads N     sampling threads (default: 1, more for more than 64 processors where CPUs are free)\n"
  "      --children      record child processes too, each to FILE with -PID inserted (without -o: to a file named "
  "after\n"
  "                      the child's program), or its rank\n"
  "      --max-size N    largest size of a profile in bytes, suffixes K, M, G (default 1G)\n"
  "      --seconds S     attach: end after that time\n"
  "      --front FD      end when the other end of the pipe FD is closed, and end the program (attach: leave it)\n"
  "      --tell FD       write the profile's name to FD when it is made\n"
  "  -q, --quiet         no line about rate and cost at the end\n"
  "      --help, --version\n"
  "\n"
  "exit status: the program's own (128 + n for signal n); 2 wrong usage; 125 Quartz failed; 126 the program can't\n"
  "be executed; 127 it was not found. attach: 0, or 125.\n";

static int complain(const char *what, const char *value) {
  fprintf(stderr, "quartz: %s%s%s; see --help\n", what, value ? " " : "", value ? value : "");
  return -1;
}

/* A positive number, with a suffix if allowed. 0: not one. */
static double number(const char *text, int suffixes) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  if (end == text || errno || !isfinite(value) || value <= 0) return 0;
  if (suffixes && *end) {
    static const char letters[] = "KMG";
    const char *at = strchr(letters, *end >= 'a' ? *end - 'a' + 'A' : *end);
    if (!at) return 0;
    for (const char *k = letters; k <= at; k++) value *= 1024;
    end++;
  }
  return *end ? 0 : value;
}

static int take(struct qzi_options *options, int letter, const char *value) {
  double amount = 0;
  switch (letter) {
  case 'o': {
    char letter_of[2] = "";
    if (!*value) return complain("--output wants a file name", NULL);
    if (qzi_name_check(value, letter_of))
      return complain("--output: after % one of n, r, h, p, j or another % is known, not", letter_of);
    options->output = value;
    return 0;
  }
  case 'r':
    amount = number(value, 0);
    if (amount < 0.001 || amount > 1e6) return complain("--rate wants a number from 0.001 to 1000000, not", value);
    options->recording.rate_mhz = (uint64_t)(amount * 1000 + 0.5);
    return 0;
  case 'c': {
    char *end;
    long cpu = strtol(value, &end, 10);
    if (end == value || *end || cpu < 0 || cpu > 65535) return complain("--cpu wants the number of a CPU, not", value);
    if (!qzi_affinity_may((int)cpu))
      return complain("--cpu wants a CPU that this process may use (taskset -cp $$ lists them), not", value);
    options->recording.cpu = (int)cpu;
    return 0;
  }
  case 't':
    amount = number(value, 0);
    if (amount < 1 || amount > 64 || amount != floor(amount)) return complain("--threads wants 1 to 64, not", value);
    options->recording.threads = (unsigned)amount;
    return 0;
  case 'm':
    amount = number(value, 1);
    if (amount < (double)QZI_FILE_MIN_BYTES || amount > 1e13)
      return complain("--max-size wants a size of at least 1M, not", value);
    options->recording.max_bytes = (uint64_t)amount;
    return 0;
  case 's':
    amount = number(value, 0);
    if (amount <= 0 || amount > 1e9) return complain("--seconds wants a positive number, not", value);
    options->seconds = amount;
    return 0;
  case 'f':
  case 'T': {
    char *end;
    long fd = strtol(value, &end, 10);
    if (end == value || *end || fd < 0 || fd > INT32_MAX || fcntl((int)fd, F_SETFD, FD_CLOEXEC))
      return complain(letter == 'f' ? "--front wants the number of an open file descriptor, not"
                                    : "--tell wants the number of an open file descriptor, not",
                      value);
    *(letter == 'f' ? &options->front_fd : &options->tell_fd) = (int)fd;
    return 0;
  }
  case 'k': options->recording.children = 1; return 0;
  case 'q': options->recording.quiet = 1; return 0;
  default: return complain("wrong option", NULL);
  }
}

int qzi_options_parse(struct qzi_options *options, int argc, char **argv) {
  static const struct option names[] = {{"output", required_argument, NULL, 'o'},
                                        {"rate", required_argument, NULL, 'r'},
                                        {"cpu", required_argument, NULL, 'c'},
                                        {"threads", required_argument, NULL, 't'},
                                        {"children", no_argument, NULL, 'k'},
                                        {"max-size", required_argument, NULL, 'm'},
                                        {"seconds", required_argument, NULL, 's'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"front", required_argument, NULL, 'f'},
                                        {"tell", required_argument, NULL, 'T'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};
  *options =
    (struct qzi_options){.recording = {.cpu = -1, .max_bytes = QZI_FILE_DEFAULT_BYTES}, .front_fd = -1, .tell_fd = -1};
  if (argc < 2) return complain("there is no command: record or attach", NULL);
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    fputs(help, stdout);
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
  argc--;
  argv++;
  opterr = 0;
  optind = 1;
  int letter;
  while ((letter = getopt_long(argc, argv, "+:o:qh", names, NULL)) >= 0) {
    if (letter == 'h') {
      fputs(help, stdout);
      return 1;
    }
    if (letter == 'v') {
      puts("quartz-sampler " QUARTZ_VERSION);
      return 1;
    }
    if (letter == '?') return complain("unknown option", argv[optind - 1]);
    if (letter == ':') return complain("a value is missing after", argv[optind - 1]);
    if (take(options, letter, optarg)) return -1;
  }
  if (options->seconds > 0 && !options->recording.attached) return complain("--seconds is for attach", NULL);
  if (!options->recording.attached) {
    if (optind >= argc) return complain("no program to record", NULL);
    options->program = argv + optind;
    return 0;
  }
  if (optind + 1 != argc) return complain("attach wants one process id", NULL);
  char *end;
  long pid = strtol(argv[optind], &end, 10);
  if (*end || end == argv[optind] || pid <= 0 || pid > INT32_MAX) return complain("not a process id:", argv[optind]);
  options->pid = (pid_t)pid;
  return 0;
}
