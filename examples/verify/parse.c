/* Reads .bench files (ISCAS-85, with the usual extensions):
 *
 *   # comment, to the end of the line
 *   INPUT(name)   OUTPUT(name)
 *   name = GATE(name, name ...)    and nand or nor (1 or more), xor xnor (1 or more), not buf buff (1); any case
 *   name = vdd | gnd               constants, also VCC, and VDD() with empty parentheses
 *
 * A statement may spread over lines. Owns nothing; makes struct netlist.
 */
#include "netlist.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum token { TOKEN_END, TOKEN_NAME, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COMMA, TOKEN_EQUALS };

struct parser {
  struct netlist *netlist;
  const char *at, *end;
  uint32_t line; /* of the current token */
  uint32_t next_line;
  enum token token;
  const char *text; /* of the current name */
  size_t length;
  char *message;
  size_t message_bytes;
  jmp_buf failed;
};

__attribute__((noreturn, format(printf, 3, 4))) static void fail(struct parser *parser, uint32_t line,
                                                                 const char *format, ...) {
  int used = snprintf(parser->message, parser->message_bytes, "%s:%u: ", parser->netlist->file, (unsigned)line);
  va_list arguments;
  va_start(arguments, format);
  if (used >= 0 && (size_t)used < parser->message_bytes)
    vsnprintf(parser->message + used, parser->message_bytes - (size_t)used, format, arguments);
  va_end(arguments);
  longjmp(parser->failed, 1);
}

/* Names are shown in messages, but never more of them than a line can hold. */
static int shown(size_t length) { return length < 60 ? (int)length : 60; }

static int is_name(char c) {
  return (unsigned char)c > ' ' && c != '(' && c != ')' && c != ',' && c != '=' && c != '#' && c != 127;
}

static void next_token(struct parser *parser) {
  for (;;) {
    while (parser->at < parser->end && isspace((unsigned char)*parser->at)) {
      if (*parser->at == '\n') parser->next_line++;
      parser->at++;
    }
    if (parser->at == parser->end || *parser->at != '#') break;
    while (parser->at < parser->end && *parser->at != '\n') parser->at++;
  }
  parser->line = parser->next_line;
  parser->token = TOKEN_END;
  if (parser->at == parser->end) return;
  parser->text = parser->at;
  switch (*parser->at) {
  case '(': parser->token = TOKEN_OPEN; break;
  case ')': parser->token = TOKEN_CLOSE; break;
  case ',': parser->token = TOKEN_COMMA; break;
  case '=': parser->token = TOKEN_EQUALS; break;
  default:
    if (!is_name(*parser->at))
      fail(parser, parser->line, "a byte with value %d is not text", (unsigned char)*parser->at);
    while (parser->at < parser->end && is_name(*parser->at)) parser->at++;
    parser->token = TOKEN_NAME;
    parser->length = (size_t)(parser->at - parser->text);
    return;
  }
  parser->at++;
  parser->length = 1;
}

static void expect(struct parser *parser, enum token token, const char *what) {
  if (parser->token == TOKEN_END) fail(parser, parser->line, "the file ends where %s is expected", what);
  if (parser->token != token)
    fail(parser, parser->line, "%s expected, not '%.*s'", what, shown(parser->length), parser->text);
}

static uint32_t intern(struct parser *parser) {
  uint32_t gate = netlist_intern(parser->netlist, parser->text, parser->length, parser->line);
  if (gate == UINT32_MAX) fail(parser, parser->line, "not enough memory");
  return gate;
}

static uint32_t define(struct parser *parser, uint32_t gate, enum gate_type type, uint32_t line) {
  struct gate *defined = &parser->netlist->gates[gate];
  if (defined->type != GATE_UNDEFINED)
    fail(parser, line, "%.60s is defined twice, first in line %u", defined->name, (unsigned)defined->line);
  defined->type = (uint8_t)type;
  defined->line = line;
  return gate;
}

/* INPUT(name) or OUTPUT(name); the word has been read. */
static void parse_port(struct parser *parser, const char *word, size_t length) {
  struct netlist *netlist = parser->netlist;
  int is_input = length == 5 && strncasecmp(word, "INPUT", 5) == 0;
  if (!is_input && !(length == 6 && strncasecmp(word, "OUTPUT", 6) == 0))
    fail(parser, parser->line, "INPUT, OUTPUT or 'name = gate(...)' expected, not '%.*s('", shown(length), word);
  next_token(parser);
  expect(parser, TOKEN_NAME, "a signal's name");
  uint32_t gate = intern(parser), line = parser->line;
  int status;
  if (is_input) {
    define(parser, gate, GATE_INPUT, line);
    status = netlist_append(&netlist->inputs, &netlist->input_count, &netlist->input_capacity, gate);
  } else {
    if (netlist->gates[gate].is_output)
      fail(parser, line, "%.60s is declared as output twice", netlist->gates[gate].name);
    netlist->gates[gate].is_output = 1;
    status = netlist_append(&netlist->outputs, &netlist->output_count, &netlist->output_capacity, gate);
  }
  if (status) fail(parser, line, "not enough memory");
  next_token(parser);
  expect(parser, TOKEN_CLOSE, "')'");
  next_token(parser);
}

static enum gate_type parse_type(struct parser *parser) {
  static const struct {
    const char *name;
    enum gate_type type;
  } types[] = {
    {"and", GATE_AND},   {"nand", GATE_NAND}, {"or", GATE_OR},    {"nor", GATE_NOR},    {"xor", GATE_XOR},
    {"xnor", GATE_XNOR}, {"not", GATE_NOT},   {"inv", GATE_NOT},  {"buf", GATE_BUFFER}, {"buff", GATE_BUFFER},
    {"vdd", GATE_ONE},   {"vcc", GATE_ONE},   {"gnd", GATE_ZERO},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == parser->length && strncasecmp(types[i].name, parser->text, parser->length) == 0)
      return types[i].type;
  if (parser->length == 3 && strncasecmp(parser->text, "dff", 3) == 0)
    fail(parser, parser->line, "DFF is sequential; only combinational circuits can be compared");
  fail(parser, parser->line, "unknown gate '%.*s'", shown(parser->length), parser->text);
}

/* name = gate(name, ...); the name and the '=' have been read. */
static void parse_gate(struct parser *parser, uint32_t gate, uint32_t line) {
  struct netlist *netlist = parser->netlist;
  next_token(parser);
  expect(parser, TOKEN_NAME, "a gate");
  enum gate_type type = parse_type(parser);
  define(parser, gate, type, line);
  uint32_t begin = (uint32_t)netlist->fanin_count;
  next_token(parser);
  if (parser->token == TOKEN_OPEN) {
    next_token(parser);
    while (parser->token != TOKEN_CLOSE) {
      expect(parser, TOKEN_NAME, "a signal's name");
      if (netlist_append(&netlist->fanins, &netlist->fanin_count, &netlist->fanin_capacity, intern(parser)))
        fail(parser, parser->line, "not enough memory");
      next_token(parser);
      if (parser->token == TOKEN_COMMA) {
        next_token(parser);
        expect(parser, TOKEN_NAME, "a signal's name");
      } else
        expect(parser, TOKEN_CLOSE, "',' or ')'");
    }
    next_token(parser);
  } else if (type != GATE_ZERO && type != GATE_ONE)
    expect(parser, TOKEN_OPEN, "'('");
  uint32_t count = (uint32_t)netlist->fanin_count - begin;
  if (type == GATE_ZERO || type == GATE_ONE ? count != 0 : type <= GATE_NOT ? count != 1 : count == 0)
    fail(parser, line, "%s gate with %u inputs", gate_type_name(type), (unsigned)count);
  netlist->gates[gate].fanin_begin = begin;
  netlist->gates[gate].fanin_count = count;
}

static void parse(struct parser *parser) {
  struct netlist *netlist = parser->netlist;
  next_token(parser);
  while (parser->token != TOKEN_END) {
    expect(parser, TOKEN_NAME, "INPUT, OUTPUT or a signal's name");
    const char *word = parser->text;
    size_t length = parser->length;
    uint32_t line = parser->line;
    next_token(parser);
    if (parser->token == TOKEN_OPEN) {
      parse_port(parser, word, length);
      continue;
    }
    expect(parser, TOKEN_EQUALS, "'(' or '='");
    uint32_t gate = netlist_intern(netlist, word, length, line);
    if (gate == UINT32_MAX) fail(parser, line, "not enough memory");
    parse_gate(parser, gate, line);
  }
  if (netlist->output_count == 0) fail(parser, parser->line, "the circuit has no OUTPUT");
  for (size_t i = 0; i < netlist->gate_count; i++)
    if (netlist->gates[i].type == GATE_UNDEFINED)
      fail(parser, netlist->gates[i].line, "%.60s is used here, but defined nowhere", netlist->gates[i].name);
}

/* The whole file as text, or NULL with a message. */
static char *read_text(const char *file, size_t *bytes, char *message, size_t message_bytes) {
  FILE *stream = fopen(file, "r");
  size_t capacity = 1 << 16;
  char *text = stream ? malloc(capacity) : NULL;
  *bytes = 0;
  while (text) {
    *bytes += fread(text + *bytes, 1, capacity - *bytes, stream);
    if (*bytes < capacity) break;
    char *larger = realloc(text, capacity * 2);
    if (!larger) free(text);
    text = larger;
    capacity *= 2;
  }
  if (!text || ferror(stream)) {
    snprintf(message, message_bytes, "%s: cannot be read: %s", file, strerror(errno));
    free(text);
    text = NULL;
  }
  if (stream) fclose(stream);
  return text;
}

struct netlist *read_input(const char *file, char *message, size_t message_bytes) {
  struct parser parser = {.line = 1, .next_line = 1, .message = message, .message_bytes = message_bytes};
  size_t bytes;
  char *text = read_text(file, &bytes, message, message_bytes);
  if (!text) return NULL;
  struct netlist *netlist = calloc(1, sizeof *netlist);
  if (!netlist) {
    snprintf(message, message_bytes, "%s: not enough memory", file);
    free(text);
    return NULL;
  }
  netlist->file = file;
  parser.netlist = netlist;
  parser.at = text;
  parser.end = text + bytes;
  if (setjmp(parser.failed) == 0) {
    parse(&parser);
    if (netlist_sort(netlist, message, message_bytes) == 0) {
      free(text);
      return netlist;
    }
  }
  free(text);
  netlist_free(netlist);
  return NULL;
}
