/* The trace log: a line for each shared data structure as it is created, flushed at once so that the log is complete
 * up to the moment when a program fails. Written by the thread that creates cones; NULL means off.
 */
#ifndef VERIFY_TRACE_H
#define VERIFY_TRACE_H

#include <stdio.h>

#include "graph.h"
#include "netlist.h"

struct trace;

struct trace *trace_open(const char *file); /* NULL: errno says why */
int trace_close(struct trace *trace);       /* 0, or the number of the first error in writing */
void trace_gate(struct trace *trace, const struct netlist *netlist, uint32_t gate, literal made);
void trace_cone(struct trace *trace, const struct netlist *netlist, uint32_t output, literal root, uint32_t level);

#endif
