/* See frame_rules.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#include "frame_rules.h"

#include <stdlib.h>
#include <string.h>
#include "frame_state.h"
#include "sampler/util/array.h"
#include "x86_decode.h"

#define STATES_MOST 4096u
#define EXITS       1024u /* jumps out of the procedure that are remembered */
#define RETRIES     2u    /* limit of instructions followed again in another state, on average for each byte of code */

/* A place from which the code is still to be followed. */
struct lead {
  uint32_t at, state;
  uint8_t guessed, weak, again; /* weak: after a call, which may never return; again: overwrite the states found
                                   there before */
};
struct leads {
  struct lead *all;
  uint32_t count, room;
};

/* For each byte: the instruction that begins there. */
struct visit {
  uint16_t state; /* index + 1; 0: no instruction begins here, or it was not reached */
  uint8_t length;
  uint8_t guessed : 1, weak : 1;
};

struct qzi_frame_analysis {
  uint64_t start;
  size_t length, furthest; /* furthest: the largest offset reached by a jump */
  unsigned char *code;
  struct visit *visits;
  struct qzi_frame_state *states;
  uint32_t state_count, state_room;
  struct leads strong, weak;
  size_t sweep;       /* offset up to which the code was searched for instructions that no jump leads to */
  uint32_t anywhere;  /* state (index + 1) at the last jump through a register or memory, with a frame if there is one
                         with a frame; 0: none */
  uint32_t canonical; /* state (index + 1) at the call with the smallest address */
  size_t canonical_at;
  uint32_t followed, odd;
  struct exit {
    uint64_t to;
    uint32_t state;
    uint8_t guessed;
  } * exits; /* to another procedure (tail call), or to a separate part of this one */
  uint32_t exit_count, exit_room;
  uint8_t sized, tail_calls, framed, ended;
  struct qzi_frame_rule *rules;
  uint32_t rule_count, rule_room;
};

#ifdef QZI_DECODES

static int push_lead(struct leads *leads, struct lead lead) {
  if (qzi_grow((void **)&leads->all, &leads->room, leads->count + 1, sizeof *leads->all)) return -1;
  leads->all[leads->count++] = lead;
  return 0;
}

/* Index + 1 of the state; 0: no memory, or too many states. */
static uint32_t intern(struct qzi_frame_analysis *analysis, const struct qzi_frame_state *state) {
  for (uint32_t k = analysis->state_count; k-- > 0;)
    if (!memcmp(&analysis->states[k], state, sizeof *state)) return k + 1;
  if (analysis->state_count == STATES_MOST ||
      qzi_grow((void **)&analysis->states, &analysis->state_room, analysis->state_count + 1, sizeof *analysis->states))
    return 0;
  analysis->states[analysis->state_count++] = *state;
  return analysis->state_count;
}

/* ---- following ---- */

static int follow(struct qzi_frame_analysis *analysis, uint64_t at, uint32_t state, const struct lead *from, int weak) {
  struct lead lead = {(uint32_t)at, state, from->guessed, (uint8_t)weak, from->again};
  if (at > analysis->furthest) analysis->furthest = (size_t)at;
  return push_lead(weak ? &analysis->weak : &analysis->strong, lead);
}

/* Follows a jump to a known place, or notes the state at a jump to an unknown one. */
static int jump(struct qzi_frame_analysis *analysis, const struct instruction *its, const struct lead *from,
                uint32_t state) {
  const struct qzi_frame_state *now = &analysis->states[state - 1];
  int at_entry = qzi_frame_state_depth(now) == 8;
  if (its->goes == QZI_GOES_ANYWHERE) {
    /* Without a frame it may be a tail call, which leads to nothing here. */
    if (!at_entry || !analysis->framed) analysis->anywhere = state;
    analysis->framed |= (uint8_t)!at_entry;
    analysis->tail_calls |= (uint8_t)at_entry;
  }
  if (!qzi_has_target(its->goes)) return 0;
  uint64_t to = (uint64_t)from->at + its->length + (uint64_t)its->number;
  if (to < analysis->length) return follow(analysis, to, state, from, 0);
  if (at_entry && its->goes == QZI_GOES_TO) analysis->tail_calls = 1;
  if (analysis->exit_count == EXITS) return 0;
  if (qzi_grow((void **)&analysis->exits, &analysis->exit_room, analysis->exit_count + 1, sizeof *analysis->exits))
    return -1;
  analysis->exits[analysis->exit_count++] = (struct exit){analysis->start + to, state, from->guessed};
  return 0;
}

static void note(struct qzi_frame_analysis *analysis, const struct instruction *its, const struct lead *from,
                 uint32_t state) {
  if (its->goes == QZI_GOES_CALL && (!analysis->canonical || from->at < analysis->canonical_at)) {
    analysis->canonical = state;
    analysis->canonical_at = from->at;
  }
  if (its->goes == QZI_GOES_BACK && qzi_frame_state_depth(&analysis->states[state - 1]) != 8) analysis->odd++;
}

/* Follows the instruction at lead->at, in the state lead->state. Returns 0, or -1 if there is no memory. */
static int look_at(struct qzi_frame_analysis *analysis, struct lead *lead) {
  struct visit *visit = &analysis->visits[lead->at];
  /* A state reached by a jump is certain; the state after a call may be wrong, if the call never returns. */
  if (visit->state) {
    if (visit->state == lead->state || lead->guessed || (!lead->again && (!visit->weak || lead->weak)) ||
        analysis->followed > RETRIES * analysis->length)
      return 0;
    lead->again = 1;
  }
  struct instruction its;
  if (!qzi_decode(analysis->code + lead->at, analysis->length - lead->at, &its)) return 0;
  *visit = (struct visit){(uint16_t)lead->state, (uint8_t)its.length, lead->guessed, lead->weak};
  analysis->followed++;
  note(analysis, &its, lead, lead->state);
  if (jump(analysis, &its, lead, lead->state)) return -1;
  if (!qzi_goes_on(its.goes)) return 0;
  uint64_t next = (uint64_t)lead->at + its.length;
  if (next >= analysis->length) return 0;
  struct qzi_frame_state state = analysis->states[lead->state - 1];
  qzi_frame_state_after(&state, &its);
  uint32_t after = intern(analysis, &state);
  return after ? follow(analysis, next, after, lead, its.goes == QZI_GOES_CALL) : 0;
}

/* ---- what no jump leads to ---- */

static int is_padding(const struct qzi_frame_analysis *analysis, size_t at, struct instruction *its) {
  unsigned char first = analysis->code[at];
  if (!qzi_decode(analysis->code + at, analysis->length - at, its)) {
    its->length = 1;
    return 1;
  }
  return first == 0xcc || first == 0x90 || its->op == 0x11f || (first == 0x66 && (its->op & 0xff) == 0x90);
}

/* Searches for the next instruction that was not reached. Returns 1 if it added a lead; 0 if there is nothing more; -1
 * if there is no memory. */
static int sweep(struct qzi_frame_analysis *analysis, uint32_t *left) {
  size_t end = analysis->sized ? analysis->length : analysis->furthest;
  while (analysis->sweep < end && *left) {
    const struct visit *visit = &analysis->visits[analysis->sweep];
    struct instruction its;
    if (visit->state) {
      analysis->sweep += visit->length;
      continue;
    }
    --*left;
    if (is_padding(analysis, analysis->sweep, &its)) {
      analysis->sweep += its.length;
      continue;
    }
    uint32_t state = analysis->anywhere ? analysis->anywhere : analysis->canonical;
    if (!state) return 0;
    struct lead lead = {(uint32_t)analysis->sweep, state, 1, 1, 0};
    return push_lead(&analysis->weak, lead) ? -1 : 1;
  }
  return 0;
}

/* ---- rules ---- */

static int make_rules(struct qzi_frame_analysis *analysis) {
  struct qzi_frame_rule before = {.base = QZI_BASE_NONE};
  size_t next = 0;
  for (size_t at = 0; at < analysis->length; at++) {
    const struct visit *visit = &analysis->visits[at];
    struct qzi_frame_rule rule = {.offset = (uint32_t)at};
    if (visit->state) {
      qzi_frame_state_rule(&analysis->states[visit->state - 1], &rule);
      rule.guessed = visit->guessed;
      next = at + visit->length;
    } else if (at < next) {
      continue; /* in the middle of an instruction */
    }
    before.offset = rule.offset;
    if (analysis->rule_count && !memcmp(&before, &rule, sizeof rule)) continue;
    if (qzi_grow((void **)&analysis->rules, &analysis->rule_room, analysis->rule_count + 1, sizeof *analysis->rules))
      return -1;
    analysis->rules[analysis->rule_count++] = before = rule;
  }
  return 0;
}

static int end(struct qzi_frame_analysis *analysis) {
  int failed = make_rules(analysis);
  free(analysis->visits);
  free(analysis->code);
  free(analysis->strong.all);
  free(analysis->weak.all);
  analysis->visits = NULL;
  analysis->code = NULL;
  analysis->strong.all = analysis->weak.all = NULL;
  analysis->ended = 1;
  return failed ? -1 : 1;
}

int qzi_frame_analysis_step(struct qzi_frame_analysis *analysis, uint32_t instructions) {
  if (analysis->ended) return 1;
  while (instructions) {
    struct leads *leads = analysis->strong.count ? &analysis->strong : &analysis->weak;
    if (leads->count) {
      struct lead lead = leads->all[--leads->count];
      if (look_at(analysis, &lead)) return -1;
      instructions--;
      continue;
    }
    int more = sweep(analysis, &instructions);
    if (more < 0) return -1;
    if (!more && instructions) return end(analysis);
  }
  return 0;
}

/* Adds the first leads: the procedure's entry, or for a separate part the places to which its parent jumps. Returns 0,
 * or -1 if there is no memory. */
static int begin(struct qzi_frame_analysis *analysis, const struct qzi_frame_analysis *parent) {
  struct qzi_frame_state state;
  uint32_t entered = 0;
  for (uint32_t k = 0; parent && k < parent->exit_count; k++) {
    const struct exit *its = &parent->exits[k];
    uint64_t at = its->to - analysis->start;
    if (at >= analysis->length) continue;
    uint32_t from = intern(analysis, &parent->states[its->state - 1]);
    struct lead lead = {(uint32_t)at, from, its->guessed, its->guessed, 0};
    if (!from || push_lead(its->guessed ? &analysis->weak : &analysis->strong, lead)) return -1;
    entered++;
  }
  if (entered) return 0;
  qzi_frame_state_begin(&state);
  struct lead lead = {0, intern(analysis, &state), 0, 0, 0};
  return lead.state ? push_lead(&analysis->strong, lead) : -1;
}

struct qzi_frame_analysis *qzi_frame_analysis_open(const unsigned char *code, size_t length, uint64_t start, int sized,
                                                   const struct qzi_frame_analysis *parent) {
  struct qzi_frame_analysis *analysis = length && length <= QZI_FRAME_CODE_MOST ? calloc(1, sizeof *analysis) : NULL;
  if (!analysis) return NULL;
  analysis->start = start;
  analysis->length = length;
  analysis->sized = sized != 0;
  analysis->code = malloc(length);
  analysis->visits = calloc(length, sizeof *analysis->visits);
  if (!analysis->code || !analysis->visits || begin(analysis, parent)) {
    qzi_frame_analysis_close(analysis);
    return NULL;
  }
  memcpy(analysis->code, code, length);
  return analysis;
}

#else

struct qzi_frame_analysis *qzi_frame_analysis_open(const unsigned char *code, size_t length, uint64_t start, int sized,
                                                   const struct qzi_frame_analysis *parent) {
  return NULL;
}
int qzi_frame_analysis_step(struct qzi_frame_analysis *analysis, uint32_t instructions) { return -1; }

#endif

void qzi_frame_analysis_close(struct qzi_frame_analysis *analysis) {
  if (!analysis) return;
  free(analysis->code);
  free(analysis->visits);
  free(analysis->states);
  free(analysis->strong.all);
  free(analysis->weak.all);
  free(analysis->exits);
  free(analysis->rules);
  free(analysis);
}

const struct qzi_frame_rule *qzi_frame_rule_at(const struct qzi_frame_analysis *analysis, uint64_t address) {
  uint32_t low = 0, high = analysis->rule_count;
  if (address < analysis->start || address - analysis->start >= analysis->length) return NULL;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (analysis->rules[middle].offset <= address - analysis->start)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &analysis->rules[low - 1] : NULL;
}

int qzi_frame_tail_calls(const struct qzi_frame_analysis *analysis) { return analysis->tail_calls; }
uint32_t qzi_frame_odd_returns(const struct qzi_frame_analysis *analysis) { return analysis->odd; }
