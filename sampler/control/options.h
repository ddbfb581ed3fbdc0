/* The command line of quartz-sampler. */
#ifndef QZI_OPTIONS_H
#define QZI_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>
#include "sampler/recording/request.h"

struct qzi_options {
  struct qzi_recording_request recording; /* .attached: the command is attach, not record */
  const char *output;                     /* pattern of file_name.h; NULL: default */
  double rotate_seconds;                  /* a file holds so much; 0: all is in one */
  unsigned keep;                          /* then: files */
  double seconds;                         /* attach: 0 = until the program ends */
  int front_fd;                           /* a pipe or socket whose other end the front end holds; -1: none */
  int message_fd;                         /* gets the name of the profile, in a line; -1: nobody wants it */
  int account_fd;                         /* record: gets what the program took (account.h); -1: nobody wants it */
  int plain;                              /* record: the program runs without being recorded */
  int tree;                               /* record: one file of all processes, in place of a profile */
  pid_t pid;                              /* attach */
  char **program;                         /* record: argv */
};

/* Fills *options. 0; -1: wrong usage, said on stderr; 1: --help or --version, done. */
int qzi_options_parse(struct qzi_options *options, int argc, char **argv);

#endif
