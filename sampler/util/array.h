/* Arrays that grow.
 *
 * Must not: be used for what other threads read: growing moves the elements.
 */
#ifndef QZI_ARRAY_H
#define QZI_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/* Makes room for `wanted` elements of so many bytes, twice the room each time. 0, or -1: out of memory, the array is as
 * it was. */
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
