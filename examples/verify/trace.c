/* See trace.h. */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>

struct trace {
  FILE *stream;
  unsigned long records;
  int error;
};

struct trace *trace_open(const char *file) {
  struct trace *trace = calloc(1, sizeof *trace);
  if (!trace) return NULL;
  trace->stream = fopen(file, "w");
  if (!trace->stream) {
    free(trace);
    return NULL;
  }
  return trace;
}

int trace_close(struct trace *trace) {
  if (!trace) return 0;
  int error = trace->error;
  if (fclose(trace->stream) && !error) error = errno;
  free(trace);
  return error;
}

static void end_record(struct trace *trace) {
  if (fflush(trace->stream) && !trace->error) trace->error = errno;
}

void trace_gate(struct trace *trace, const struct netlist *netlist, uint32_t gate, literal made) {
  const struct gate *created = &netlist->gates[gate];
  fprintf(trace->stream, "%lu %s: %s = %s", ++trace->records, netlist->file, created->name,
          gate_type_name(created->type));
  for (uint32_t i = 0; i < created->fanin_count; i++)
    fprintf(trace->stream, "%c%s", i ? ',' : '(', netlist->gates[netlist->fanins[created->fanin_begin + i]].name);
  fprintf(trace->stream, ") is %snode %u\n", made & 1 ? "not " : "", (unsigned)made / 2);
  end_record(trace);
}

void trace_cone(struct trace *trace, const struct netlist *netlist, uint32_t output, literal root, uint32_t level) {
  fprintf(trace->stream, "%lu %s: cone of %s has root %snode %u, level %u\n", ++trace->records, netlist->file,
          netlist->gates[output].name, root & 1 ? "not " : "", (unsigned)root / 2, (unsigned)level);
  end_record(trace);
}
