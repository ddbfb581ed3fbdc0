/* Arrays that grow.
 *
 * Must not: be used for arrays that other threads read, because growing moves the elements.
 */
#ifndef QZI_ARRAY_H
#define QZI_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/* Makes room for `wanted` elements of `bytes` bytes, doubling the room each time. Returns 0, or -1 if there is no
 * memory; then the array is unchanged. */
static inline int qzi_grow(void **items, uint32_t *room, uint32_t wanted, size_t bytes) {
  if (wanted <= *room) return 0;
  uint32_t more = *room ? *room * 2 : 64;
  while (more < wanted) more *= 2;
  void *grown = realloc(*items, more * bytes);
  if (!grown) return -1;
  *items = grown;
  *room = more;
  return 0;
}

#endif
