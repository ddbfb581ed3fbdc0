/* The course of a comparison: read, match, make cones, prove, print. See verify.h. */
#include "verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cone.h"

enum { MESSAGE_BYTES = 1024 };

struct reading {
  const char *file;
  struct netlist *netlist;
  char message[MESSAGE_BYTES];
};

/* Ends a phase that began at *since, and begins the next one. */
static void print_time(const struct request *request, const char *phase, struct timespec *since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (request->times && phase)
    fprintf(stderr, "%-6s %9.3f ms\n", phase,
            (double)(now.tv_sec - since->tv_sec) * 1e3 + (double)(now.tv_nsec - since->tv_nsec) / 1e6);
  *since = now;
}

static void *read_circuit(void *argument) {
  struct reading *reading = argument;
  reading->netlist = read_input(reading->file, reading->message, sizeof reading->message);
  return NULL;
}

static void read_in_turn(struct reading readings[2]) {
  for (int i = 0; i < 2; i++) read_circuit(&readings[i]);
}

static void read_in_parallel(struct reading readings[2]) {
  qz_thread_t thread;
  int error = qz_create(&thread, "reader", read_circuit, &readings[1]);
  read_circuit(&readings[0]);
  if (error)
    read_circuit(&readings[1]);
  else
    qz_join(thread, NULL);
}

static int complain(const char *message) {
  fprintf(stderr, "verify: %s\n", message);
  return EXIT_WRONG_INPUT;
}

/* Cones of both circuits, one after the other. 0, or an exit status. */
static int make_cones(const struct request *request, struct graph *graph, const struct netlist *const circuits[2],
                      const struct matching *matching, struct cones *cones[2]) {
  char message[MESSAGE_BYTES];
  struct trace *trace = NULL;
  if (request->log && !(trace = trace_open(request->log))) {
    snprintf(message, sizeof message, "%s: cannot be written: %s", request->log, strerror(errno));
    return complain(message);
  }
  uint32_t *numbers = malloc((circuits[0]->input_count + 1) * sizeof *numbers);
  if (numbers) {
    for (size_t i = 0; i < circuits[0]->input_count; i++) numbers[i] = (uint32_t)i;
    cones[0] = create_cones(graph, circuits[0], numbers, trace);
    if (cones[0]) cones[1] = create_cones(graph, circuits[1], matching->inputs, trace);
  }
  free(numbers);
  int error = trace_close(trace);
  if (!cones[1]) return complain("not enough memory");
  if (error) {
    snprintf(message, sizeof message, "%s: cannot be written: %s", request->log, strerror(error));
    return complain(message);
  }
  return 0;
}

static int prove_all(const struct request *request, const struct graph *graph, const struct netlist *const circuits[2],
                     const struct matching *matching, struct cones *const cones[2]) {
  struct work work = {.graph = graph,
                      .inputs = circuits[0]->input_count,
                      .limit = request->limit,
                      .engine = request->stage >= STAGE_TUNED ? &bdd_tuned : &bdd_plain};
  work.pair_count = circuits[0]->output_count;
  work.pairs = calloc(work.pair_count, sizeof *work.pairs);
  if (!work.pairs) return complain("not enough memory");
  for (size_t i = 0; i < work.pair_count; i++) {
    struct pair *pair = &work.pairs[i];
    pair->name = circuits[0]->gates[circuits[0]->outputs[i]].name;
    pair->left_output = (uint32_t)i;
    pair->right_output = matching->outputs[i];
    pair->left = cones[0]->roots[i];
    pair->right = cones[1]->roots[pair->right_output];
  }
  int error = work_start(&work, request->workers);
  if (!error) error = work_finish(&work);
  int status;
  if (error) {
    char message[MESSAGE_BYTES];
    snprintf(message, sizeof message, "workers cannot run: %s", strerror(error));
    status = complain(message);
  } else
    status = print_results(request, circuits, matching, &work);
  work_free(&work);
  return status;
}

int verify(const struct request *request) {
  struct timespec since;
  print_time(request, NULL, &since);
  struct reading readings[2] = {{.file = request->files[0]}, {.file = request->files[1]}};
  if (request->stage >= STAGE_PARALLEL_INPUT)
    read_in_parallel(readings);
  else
    read_in_turn(readings);
  print_time(request, "read", &since);
  const struct netlist *const circuits[2] = {readings[0].netlist, readings[1].netlist};
  struct matching matching = {NULL, NULL, 0};
  struct cones *cones[2] = {NULL, NULL};
  struct graph *graph = NULL;
  char message[MESSAGE_BYTES];
  int status = 0;
  for (int i = 0; i < 2 && !status; i++)
    if (!circuits[i]) status = complain(readings[i].message);
  if (!status && match_circuits(&matching, circuits[0], circuits[1], request->match, message, sizeof message))
    status = complain(message);
  if (!status && !(graph = graph_create(circuits[0]->input_count))) status = complain("not enough memory");
  if (!status) status = make_cones(request, graph, circuits, &matching, cones);
  print_time(request, "cones", &since);
  if (!status) status = prove_all(request, graph, circuits, &matching, cones);
  print_time(request, "prove", &since);
  for (int i = 0; i < 2; i++) {
    cones_free(cones[i]);
    netlist_free(readings[i].netlist);
  }
  graph_free(graph);
  match_free(&matching);
  return status;
}
