/* The choice of one sample of each N, at random: a part of the samples that is like all of them, whatever rhythm the
 * program has.
 *
 * Owns:    struct qzi_sample_choice. Writer and reader: who reads the samples.
 */
#ifndef QZI_SAMPLE_CHOICE_H
#define QZI_SAMPLE_CHOICE_H

#include <stdint.h>
#include "abi/hash.h"

/* All zero: every sample is chosen. */
struct qzi_sample_choice {
  uint32_t one_of; /* 0 is the same as 1 */
  uint32_t at;     /* samples of the present N that have come, */
  uint32_t chosen; /* and which one of them is chosen */
  uint64_t random; /* state of the generator (splitmix64) */
  uint32_t left_out;
};

static inline uint32_t qzi_sample_choice_stands(const struct qzi_sample_choice *choice) {
  return choice->one_of ? choice->one_of : 1;
}

/* Of the N that are under way when N changes, each one would have been chosen as likely as it stands for others, so
 * that nothing is counted too much or too little on average. */
static inline void qzi_sample_choice_set(struct qzi_sample_choice *choice, uint32_t one_of) {
  if (one_of == choice->one_of) return;
  choice->one_of = one_of;
  choice->at = 0;
}

/* A sample has come. Returns 1 if it is to be used. */
static inline int qzi_sample_choice_takes(struct qzi_sample_choice *choice) {
  if (choice->one_of < 2) return 1;
  if (!choice->at) {
    uint64_t bits = choice->random += QZ_HASH_FACTOR;
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    choice->chosen = (uint32_t)(((bits ^ bits >> 31) >> 32) * choice->one_of >> 32);
  }
  int takes = choice->at == choice->chosen;
  choice->at = (choice->at + 1) % choice->one_of;
  choice->left_out += !takes;
  return takes;
}

#endif
