/* verify-generate: writes arithmetic circuits as .bench files, for verify to compare. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

enum { MOST_WIDTH = 4096, MOST_BLOCKS = 100000 };

static const char usage[] =
  "usage: verify-generate [options] BLOCK...\n"
  "\n"
  "  verify-generate adder:ripple:64 > a.bench\n"
  "  verify-generate adder:kogge-stone:64 --mutate 1 > b.bench\n"
  "  verify-generate adder:select:32*20 multiplier:wallace:8 --output c.bench\n"
  "\n"
  "A BLOCK is KIND:DESIGN:WIDTH, or KIND:DESIGN:WIDTH*COUNT for several. All blocks of a command lie side by side in\n"
  "one circuit. Circuits of the same kinds and widths in the same order are equal, whatever their designs.\n"
  "\n"
  "  adder       ripple, lookahead, select, kogge-stone\n"
  "  multiplier  array, wallace, booth\n"
  "\n"
  "  --mutate SEED   change one gate so that some output is different\n"
  "  --nand          build everything of NAND gates and inverters\n"
  "  --output FILE   instead of standard output\n"
  "\n"
  "exit status: 0, or 2 wrong usage or output that cannot be written\n";

static const struct {
  const char *kind, *name;
  adder *add;
  multiplier *multiply;
} designs[] = {
  {"adder", "ripple", add_ripple, NULL},         {"adder", "lookahead", add_lookahead, NULL},
  {"adder", "select", add_select, NULL},         {"adder", "kogge-stone", add_kogge_stone, NULL},
  {"multiplier", "array", NULL, multiply_array}, {"multiplier", "wallace", NULL, multiply_wallace},
  {"multiplier", "booth", NULL, multiply_booth},
};

__attribute__((noreturn)) static void wrong_usage(const char *what, const char *value) {
  fprintf(stderr, "verify-generate: %s %s; see verify-generate --help\n", what, value);
  exit(2);
}

/* A number at text, at most most; what follows it is left in *end. 0: none there. */
static uint32_t number(const char *text, uint32_t most, const char **end) {
  uint64_t value = 0;
  *end = text;
  while (**end >= '0' && **end <= '9' && value <= most) value = value * 10 + (uint64_t)(*(*end)++ - '0');
  return value <= most ? (uint32_t)value : 0;
}

static void add_block(struct circuit *circuit, size_t design, uint32_t width) {
  signal_t *a = circuit_memory(width, sizeof *a), *b = circuit_memory(width, sizeof *b);
  signal_t *result = circuit_memory(2 * (size_t)width + 1, sizeof *result);
  circuit->made = 0;
  for (uint32_t i = 0; i < width; i++) a[i] = circuit_input(circuit, "a", i);
  for (uint32_t i = 0; i < width; i++) b[i] = circuit_input(circuit, "b", i);
  if (designs[design].add) {
    designs[design].add(circuit, width, a, b, circuit_input(circuit, "carry", 0), result);
    for (uint32_t i = 0; i <= width; i++) circuit_output(circuit, "s", i, result[i]);
  } else {
    designs[design].multiply(circuit, width, a, b, result);
    for (uint32_t i = 0; i < 2 * width; i++) circuit_output(circuit, "p", i, result[i]);
  }
  free(a);
  free(b);
  free(result);
}

/* KIND:DESIGN:WIDTH[*COUNT]. Returns the number of the next block. */
static uint32_t add_blocks(struct circuit *circuit, const char *text, uint32_t block) {
  for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
    char start[64];
    int length = snprintf(start, sizeof start, "%s:%s:", designs[i].kind, designs[i].name);
    if (strncmp(text, start, (size_t)length)) continue;
    const char *end;
    uint32_t width = number(text + length, MOST_WIDTH, &end), count = 1;
    if (width && *end == '*') count = number(end + 1, MOST_BLOCKS, &end);
    if (!width || !count || *end) wrong_usage("widths go to 4096, counts to 100000; not", text);
    for (uint32_t k = 0; k < count; k++) {
      char prefix[32];
      snprintf(prefix, sizeof prefix, "u%u_", (unsigned)(block + k));
      circuit->prefix = prefix;
      add_block(circuit, i, width);
    }
    return block + count;
  }
  wrong_usage("unknown block", text);
}

int main(int argc, char **argv) {
  static const struct option options[] = {
    {"mutate", required_argument, NULL, 'm'},
    {"nand", no_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
  };
  const char *output = NULL, *seed = NULL, *end;
  int nand = 0;
  for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) switch (option) {
    case 'm': seed = optarg; break;
    case 'n': nand = 1; break;
    case 'o': output = optarg; break;
    case 'h': fputs(usage, stdout); return 0;
    default: fputs("verify-generate: see verify-generate --help\n", stderr); return 2;
    }
  if (optind == argc) wrong_usage("a block expected,", "not nothing");
  struct circuit circuit = {.prefix = ""};
  uint32_t block = 0;
  for (int i = optind; i < argc; i++) block = add_blocks(&circuit, argv[i], block);
  if (nand) circuit_to_nand(&circuit);
  if (seed) {
    uint32_t value = number(seed, UINT32_MAX - 1, &end);
    if (*end || end == seed) wrong_usage("--mutate takes a number, not", seed);
    if (circuit_mutate(&circuit, value)) wrong_usage("no change made a difference with --mutate", seed);
  }
  FILE *stream = output ? fopen(output, "w") : stdout;
  if (!stream || circuit_write(&circuit, stream) || (output && fclose(stream))) {
    fprintf(stderr, "verify-generate: %s cannot be written: %s\n", output ? output : "standard output",
            strerror(errno));
    return 2;
  }
  netlist_clear(&circuit.netlist);
  return 0;
}
