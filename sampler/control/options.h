/* The command line of quartz-sampler. */
#ifndef QZI_OPTIONS_H
#define QZI_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>
#include "sampler/recording/request.h"

struct qzi_options {
  struct qzi_recording_request recording; /* .attached: the command is attach, not record */
  const char *output;                     /* a pattern (file_name.h); NULL: default */
  double rotate_seconds;                  /* elapsed time per file; 0: a single file */
  unsigned keep;                          /* number of files, if files rotate */
  double seconds;                         /* attach: 0 = until the program ends */
  int front_fd;                           /* a pipe or socket whose other end the front end holds; -1 if none */
  int message_fd;                         /* receives the name of the profile as a line; -1 if none */
  int account_fd;                         /* record: receives the times of the run (account.h); -1 if none */
  int plain;                              /* record: run the program without recording it */
  int tree;                               /* record: one file for all processes, without profiles or beside them */
  pid_t pid;                              /* attach */
  char **program;                         /* record: argv */
};

/* Parses the command line into *options. Returns 0; -1 on wrong usage, after printing the error; 1 after --help or
 * --version. */
int qzi_options_parse(struct qzi_options *options, int argc, char **argv);

#endif
