/* The parser of verify: what it must accept, what it must reject with which messages, and that no input crashes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/verify/netlist.h"

static int failures;
static char path[] = "/tmp/verify-parser-XXXXXX";

static struct netlist *read_string(const char *text, size_t length, char *message, size_t message_bytes) {
  FILE *stream = fopen(path, "w");
  if (!stream || fwrite(text, 1, length, stream) != length || fclose(stream)) {
    perror(path);
    exit(1);
  }
  *message = '\0';
  return read_input(path, message, message_bytes);
}

/* Rejected, with a message that contains the file, the line and these words. */
static void refuse(const char *text, unsigned line, const char *words) {
  char message[1024], start[64];
  struct netlist *netlist = read_string(text, strlen(text), message, sizeof message);
  snprintf(start, sizeof start, "%s:%u: ", path, line);
  if (netlist || strncmp(message, start, strlen(start)) || !strstr(message, words) || strchr(message, '\n')) {
    fprintf(stderr, "expected line %u, '%s'; %s, message '%s', for:\n%s\n", line, words,
            netlist ? "was read" : "was refused", message, text);
    failures++;
  }
  netlist_free(netlist);
}

/* Accepted, with these values of the only output: bit i of values is the output when input k has bit k of i. */
static void accept(const char *text, size_t inputs, uint64_t values) {
  char message[1024];
  struct netlist *netlist = read_string(text, strlen(text), message, sizeof message);
  uint64_t words[64] = {0}, mask = (UINT64_C(1) << (1u << inputs)) - 1;
  if (!netlist || netlist->input_count != inputs || netlist->output_count != 1 || netlist->gate_count > 64) {
    fprintf(stderr, "was not read: '%s', for:\n%s\n", message, text);
    failures++;
  } else {
    for (size_t k = 0; k < inputs; k++)
      for (unsigned i = 0; i < 1u << inputs; i++) words[netlist->inputs[k]] |= (uint64_t)(i >> k & 1) << i;
    if (netlist_simulate(netlist, words) || (words[netlist->outputs[0]] & mask) != values) {
      fprintf(stderr, "output is %llx, not %llx, for:\n%s\n", (unsigned long long)(words[netlist->outputs[0]] & mask),
              (unsigned long long)values, text);
      failures++;
    }
  }
  netlist_free(netlist);
}

static void read_good_files(void) {
  accept("INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = and(a, b)\n", 2, 0x8);
  accept("# c\nINPUT(a) INPUT(b)\nOUTPUT(y) # d\ny=NAND(a,b)", 2, 0x7);
  accept("output ( y )\ninput\n(a)\r\nINPUT(b)\ny = Or(a,\n b)\n", 2, 0xe);
  accept("INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = nor(a, b)\n", 2, 0x1);
  accept("INPUT(a)\nINPUT(b)\nOUTPUT(y)\ny = xnor(a, b)\n", 2, 0x9);
  accept("INPUT(a)\nINPUT(b)\nINPUT(c)\nOUTPUT(y)\ny = xor(a, b, c)\n", 3, 0x96);
  accept("INPUT(a)\nINPUT(b)\nINPUT(c)\nOUTPUT(y)\ny = nand(a, b, c)\n", 3, 0x7f);
  accept("INPUT(a)\nOUTPUT(y)\ny = not(z)\nz = buff(a)\n", 1, 0x1);
  accept("INPUT(a)\nOUTPUT(y)\ny = and(a)\n", 1, 0x2);
  accept("INPUT(a)\nOUTPUT(y)\ny = xor(a, one)\none = vdd\n", 1, 0x1);
  accept("INPUT(a)\nOUTPUT(y)\ny = or(a, zero)\nzero = GND()\n", 1, 0x2);
  accept("INPUT(a)\nOUTPUT(a)\n", 1, 0x2);
  accept("INPUT(input)\nOUTPUT(output)\noutput = not(input)\n", 1, 0x1);
  accept("INPUT(a[0])\nOUTPUT(y.1$)\ny.1$ = buf(a[0])\n", 1, 0x2);
}

static void refuse_bad_files(void) {
  refuse("", 1, "no OUTPUT");
  refuse("INPUT(a)\n", 2, "no OUTPUT");
  refuse("INPUT(a)\nOUTPUT(y)\n", 2, "y is used here, but defined nowhere");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and(a, b)\n", 3, "b is used here, but defined nowhere");
  refuse("INPUT(a)\nOUTPUT(y)\ny = not(a)\ny = buf(a)\n", 4, "y is defined twice, first in line 3");
  refuse("INPUT(a)\nINPUT(a)\nOUTPUT(a)\n", 2, "a is defined twice, first in line 1");
  refuse("INPUT(a)\nOUTPUT(a)\nOUTPUT(a)\n", 3, "declared as output twice");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and(a, z)\nz = not(y)\n", 3, "depends on itself");
  refuse("INPUT(a)\nOUTPUT(y)\ny = not(y)\n", 3, "y depends on itself");
  refuse("INPUT(a)\nOUTPUT(y)\ny = dff(a)\n", 3, "sequential");
  refuse("INPUT(a)\nOUTPUT(y)\ny = mux(a, a)\n", 3, "unknown gate 'mux'");
  refuse("INPUT(a)\nOUTPUT(y)\n\ny = not(a, a)\n", 4, "not gate with 2 inputs");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and()\n", 3, "and gate with 0 inputs");
  refuse("INPUT(a)\nOUTPUT(y)\ny = vdd(a)\n", 3, "vdd gate with 1 inputs");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and(a a)\n", 3, "',' or ')' expected, not 'a'");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and(a,)\n", 3, "a signal's name expected, not ')'");
  refuse("INPUT(a)\nOUTPUT(y)\ny = and(a\n", 4, "the file ends where ',' or ')' is expected");
  refuse("INPUT(a)\nOUTPUT(y)\ny and(a)\n", 3, "'(' or '=' expected, not 'and'");
  refuse("INPUT a\n", 1, "'(' or '=' expected");
  refuse("INPUT()\n", 1, "a signal's name expected");
  refuse("SIGNAL(a)\n", 1, "not 'SIGNAL('");
  refuse("= and(a)\n", 1, "INPUT, OUTPUT or a signal's name expected, not '='");
  refuse("INPUT(a)\nOUTPUT(y)\ny = not a\n", 3, "'(' expected, not 'a'");
  refuse("INPUT(a)\n\x01\n", 2, "not text");
  char message[1024];
  if (read_input("/nonexistent/circuit", message, sizeof message) || !strstr(message, "/nonexistent/circuit: ")) {
    fprintf(stderr, "a missing file: '%s'\n", message);
    failures++;
  }
}

/* Chains much longer than a thread's stack is deep, and names longer than any message. */
static void read_large_files(void) {
  enum { LENGTH = 200000 };
  char *text = malloc(LENGTH * 32), message[1024];
  size_t used = (size_t)sprintf(text, "INPUT(n0)\nOUTPUT(n%d)\n", LENGTH);
  for (int i = LENGTH; i > 0; i--) used += (size_t)sprintf(text + used, "n%d = not(n%d)\n", i, i - 1);
  struct netlist *netlist = read_string(text, used, message, sizeof message);
  if (!netlist || netlist->gate_count != LENGTH + 1 || netlist->order[0] != netlist->inputs[0]) {
    fprintf(stderr, "a chain of %d gates: '%s'\n", LENGTH, message);
    failures++;
  }
  netlist_free(netlist);
  memset(text, 'x', LENGTH);
  text[LENGTH] = '\0';
  refuse(text, 1, "the file ends");
  text[10] = '(';
  refuse(text, 1, "not 'xxxxxxxxxx('");
  memcpy(text, "INPUT(", 6);
  text[10] = 'x';
  strcpy(text + LENGTH - 1, ")");
  refuse(text, 1, "no OUTPUT");
  free(text);
}

/* Every prefix, and many files with one byte changed: accepted, or rejected with a message. */
static void damage_files(void) {
  static const char text[] = "# c\nINPUT(a)\nINPUT(b)\nOUTPUT(y)\nz = xor(a, b)\ny = nand(z, a, b)\nq = vdd\n";
  char damaged[sizeof text], message[1024];
  unsigned random = 1;
  for (size_t i = 0; i < 4 * sizeof text + 3000; i++) {
    memcpy(damaged, text, sizeof text);
    size_t length = i < sizeof text ? i : sizeof text - 1;
    if (i >= sizeof text) {
      random = random * 1103515245u + 12345u;
      damaged[(random >> 8) % length] = (char)(random >> 24);
    }
    struct netlist *netlist = read_string(damaged, length, message, sizeof message);
    if (!netlist && strncmp(message, path, strlen(path))) {
      fprintf(stderr, "refused with '%s':\n%.*s\n", message, (int)length, damaged);
      failures++;
    }
    netlist_free(netlist);
  }
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0) {
    perror(path);
    return 1;
  }
  close(file);
  read_good_files();
  refuse_bad_files();
  read_large_files();
  damage_files();
  unlink(path);
  return failures != 0;
}
