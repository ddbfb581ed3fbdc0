/* Passes the costs that one process has measured (calibrate.c) to the next one on the same machine: a program that a
 * recorded process executes or starts need not measure again, which takes most of a millisecond.
 *
 * Owns:    nothing: qzi_session has the numbers.
 * Writer:  the thread that makes the session.
 * Reader:  the same thread, and code that starts programs (the pthread layer, exec.c).
 * Must not: use the numbers of another publisher or another version, whose operations have other costs.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/channel.h"
#include "private.h"
#include "publisher.h"

#define FORM "%u.%u:%llx:%llx:%llx:%llx:%llx:%llx:%llx:%llx:%llx:%llx:%llx"
#define ALL  13

size_t qzi_calibration_text(char *text, size_t bytes) {
  const struct qzi_session *s = &qzi_session;
  if (!s->calibrated || !s->lock.most_ps) return 0; /* measuring failed on this machine: the next process tries again */
  int length =
    snprintf(text, bytes, FORM, QZ_SESSION_VERSION, qzi_publishers_kind, (unsigned long long)qzi_pub_ticks_scale(),
             (unsigned long long)s->hook[0].least_ps, (unsigned long long)s->hook[0].most_ps,
             (unsigned long long)s->hook[1].least_ps, (unsigned long long)s->hook[1].most_ps,
             (unsigned long long)s->hook_inside_ps[0], (unsigned long long)s->hook_inside_ps[1],
             (unsigned long long)s->lock.least_ps, (unsigned long long)s->lock.most_ps, (unsigned long long)s->spawn_ps,
             (unsigned long long)s->wait_ps);
  return length > 0 && (size_t)length < bytes ? (size_t)length : 0;
}

bool qzi_calibration_take(void) {
  struct qzi_session *s = &qzi_session;
  const char *text = secure_getenv(QZ_CALIBRATION_ENV);
  unsigned version, kind;
  unsigned long long of[ALL - 2];
  if (!text || s->calibrated ||
      sscanf(text, FORM, &version, &kind, &of[0], &of[1], &of[2], &of[3], &of[4], &of[5], &of[6], &of[7], &of[8],
             &of[9], &of[10]) != ALL ||
      version != QZ_SESSION_VERSION || kind != qzi_publishers_kind)
    return false;
  if (of[0]) __atomic_store_n(&qzi_pub_tick_scale, of[0], __ATOMIC_RELAXED);
  s->hook[0] = (struct qz_cost){of[1], of[2]};
  s->hook[1] = (struct qz_cost){of[3], of[4]};
  s->hook_inside_ps[0] = of[5];
  s->hook_inside_ps[1] = of[6];
  s->lock = (struct qz_cost){of[7], of[8]};
  s->spawn_ps = of[9];
  s->wait_ps = of[10];
  return s->calibrated = true;
}
