/* The command line of quartz-sampler. */
#ifndef QZI_OPTIONS_H
#define QZI_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>

struct qzi_options {
  int attach;          /* 0: record, 1: attach */
  const char *output;  /* pattern of file_name.h; NULL: default */
  uint64_t rate_mhz;   /* 0: default */
  int cpu;             /* -1: chosen */
  unsigned threads;    /* 0: chosen */
  int children;
  uint64_t max_bytes;
  int quiet;
  double seconds;      /* attach: 0 = until the program ends */
  int front_fd;        /* a pipe or socket whose other end the front end holds; -1: none */
  int tell_fd;         /* gets the name of the profile, in a line; -1: nobody wants it */
  pid_t pid;           /* attach */
  char **program;      /* record: argv */
};

/* Fills *options. 0; -1: wrong usage, said on stderr; 1: --help or --version, done. */
int qzi_options_parse(struct qzi_options *options, int argc, char **argv);

#endif
