/* Unbalanced pipeline (paper, section 3.2.1; Table 2, Sequent 1 and 4): four stages with bounded channels between them,
 * of 2, 3, 10 and 4 ms an item. `optimize` never waits; the others wait for it, and the last is the second bottleneck.
 * In each period of 10 ms: b = 4 for 2 ms, 3 for 1 ms, 2 for 1 ms, 1 for 6 ms.
 *
 * expect P 4
 * expect root: npt 1
 * expect order npt: procedure optimize > procedure generate > procedure scan
 * expect procedure optimize: npt > 0.6, parallelism < 1.7, T 1
 * expect procedure scan: T 0.2
 * expect procedure parse: T 0.3
 * expect procedure generate: T 0.4
 * expect calls optimizing -> optimize 80
 * expect calls optimizing -> parsed 81
 * expect calls optimizing -> optimized 80
 * expect finding 1: pipeline optimize
 */
#include <quartz/quartz.h>
#include "work.h"

#define ITEMS 80
static qz_channel scanned, parsed, optimized;

PROCEDURE void scan(void) { work_sleep(2 * MS); }
PROCEDURE void parse(void) { work_sleep(3 * MS); }
PROCEDURE void optimize(void) { work_sleep(10 * MS); }
PROCEDURE void generate(void) { work_sleep(4 * MS); }

PROCEDURE void *scanning(void *unused) {
  for (int item = 0; item < ITEMS; item++) {
    scan();
    MUST(qz_channel_send(&scanned, &item));
  }
  MUST(qz_channel_close(&scanned));
  return unused;
}

PROCEDURE void *parsing(void *unused) {
  for (int item; qz_channel_receive(&scanned, &item) == 0;) {
    parse();
    MUST(qz_channel_send(&parsed, &item));
  }
  MUST(qz_channel_close(&parsed));
  return unused;
}

PROCEDURE void *optimizing(void *unused) {
  for (int item; qz_channel_receive(&parsed, &item) == 0;) {
    optimize();
    MUST(qz_channel_send(&optimized, &item));
  }
  MUST(qz_channel_close(&optimized));
  return unused;
}

PROCEDURE void *generating(void *unused) {
  for (int item; qz_channel_receive(&optimized, &item) == 0;) generate();
  return unused;
}

int main(void) {
  MUST(qz_channel_init(&scanned, "scanned", sizeof(int), 2));
  MUST(qz_channel_init(&parsed, "parsed", sizeof(int), 2));
  MUST(qz_channel_init(&optimized, "optimized", sizeof(int), 2));
  qz_thread_t thread[4];
  MUST(qz_create(&thread[0], "scanner", scanning, NULL));
  MUST(qz_create(&thread[1], "parser", parsing, NULL));
  MUST(qz_create(&thread[2], "optimizer", optimizing, NULL));
  MUST(qz_create(&thread[3], "generator", generating, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
