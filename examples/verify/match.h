/* Which input of one circuit is which of the other, and likewise for outputs. */
#ifndef VERIFY_MATCH_H
#define VERIFY_MATCH_H

#include "netlist.h"

enum match_by { MATCH_AUTO, MATCH_NAME, MATCH_POSITION };

struct matching {
  uint32_t *inputs;  /* for each input of the second circuit: its position among the inputs of the first */
  uint32_t *outputs; /* for each output of the first circuit: its position among the outputs of the second */
  int by_name;
};

/* By name where both have the same names, else (MATCH_AUTO) by position. 0, or -1 with a message. */
int match_circuits(struct matching *matching, const struct netlist *first, const struct netlist *second,
                   enum match_by by, char *message, size_t message_bytes);
void match_free(struct matching *matching);

#endif
