/* A pipeline that looks for words in lines, in the spirit of Prime and CKY of Oyama, Taura, Yonezawa, "Online
 * computation of critical paths for multithreaded languages": one thread makes lines, several match, one gathers what
 * was found. It is not obvious which of them the run waits for.
 *
 *   matching list|array     what was found is kept in a sorted list, or in an array that is sorted in the end
 */
#include <quartz/quartz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES    180000
#define LENGTH   240
#define MATCHERS 2

struct line {
  uint64_t number, found; /* where the word is, + 1 */
  char text[LENGTH];
};
struct found {
  uint64_t key;
  struct found *next;
};
static qz_channel lines, matches;
static int in_list;
static struct found *list, all[LINES];
static uint64_t gathered;

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

__attribute__((noinline)) static struct line *make_line(uint64_t number) {
  struct line *line = malloc(sizeof *line);
  if (!line) abort();
  line->number = number;
  uint64_t x = number + 1;
  for (int k = 0; k < LENGTH; k += 8) {
    x = mixed(x + 0x9e3779b9);
    for (int n = 0; n < 8; n++) line->text[k + n] = (char)('a' + (x >> 8 * n & 3));
  }
  return line;
}
/* The first place at which the word is, with up to two letters that differ. */
__attribute__((noinline)) static void match(struct line *line) {
  static const char word[] = "abcadbaccb";
  line->found = 0;
  for (int k = 0; k + (int)sizeof word - 1 <= LENGTH && !line->found; k++) {
    int differ = 0;
    for (int n = 0; word[n]; n++) differ += line->text[k + n] != word[n];
    if (differ <= 2) line->found = (uint64_t)k + 1;
  }
}
/* Sorted by a key that has nothing to do with the order in which they come. */
__attribute__((noinline)) static void gather(const struct line *line) {
  struct found *one = &all[gathered++];
  one->key = mixed(line->number * 1000 + line->found);
  if (!in_list) return;
  struct found **at = &list;
  while (*at && (*at)->key < one->key) at = &(*at)->next;
  one->next = *at;
  *at = one;
}

static void *make_lines(void *unused) {
  for (uint64_t k = 0; k < LINES; k++) {
    struct line *line = make_line(k);
    qz_channel_send(&lines, &line);
  }
  struct line *none = NULL;
  for (int k = 0; k < MATCHERS; k++) qz_channel_send(&lines, &none);
  return unused;
}
static void *match_lines(void *unused) {
  for (;;) {
    struct line *line;
    qz_channel_receive(&lines, &line);
    if (line) match(line);
    if (!line || line->found)
      qz_channel_send(&matches, &line);
    else
      free(line);
    if (!line) return unused;
  }
}
static int order(const void *a, const void *b) {
  uint64_t x = ((const struct found *)a)->key, y = ((const struct found *)b)->key;
  return (x > y) - (x < y);
}
static void *gather_matches(void *unused) {
  for (int ended = 0; ended < MATCHERS;) {
    struct line *line;
    qz_channel_receive(&matches, &line);
    if (!line) {
      ended++;
      continue;
    }
    gather(line);
    free(line);
  }
  if (!in_list) qsort(all, gathered, sizeof *all, order);
  return unused;
}

int main(int count, char **words) {
  if (count != 2 || (strcmp(words[1], "list") && strcmp(words[1], "array"))) {
    fprintf(stderr, "usage: matching list|array\n");
    return 2;
  }
  in_list = !strcmp(words[1], "list");
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  qz_channel_init(&lines, "lines", sizeof(struct line *), 64);
  qz_channel_init(&matches, "matches", sizeof(struct line *), 64);
  qz_thread_t maker, matchers[MATCHERS], gatherer;
  if (qz_create(&maker, "maker", make_lines, NULL) || qz_create(&gatherer, "gatherer", gather_matches, NULL)) return 1;
  for (int k = 0; k < MATCHERS; k++)
    if (qz_create(&matchers[k], "matcher", match_lines, NULL)) return 1;
  qz_join(maker, NULL);
  for (int k = 0; k < MATCHERS; k++) qz_join(matchers[k], NULL);
  qz_join(gatherer, NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  uint64_t sum = 0, place = 0;
  if (in_list)
    for (const struct found *one = list; one; one = one->next) sum += one->key * ++place;
  else
    for (uint64_t k = 0; k < gathered; k++) sum += all[k].key * ++place;
  printf("%llu of %d lines match, %016llx, in %.1f ms\n", (unsigned long long)gathered, LINES, (unsigned long long)sum,
         (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
  return 0;
}
