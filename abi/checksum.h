/* CRC-32C (Castagnoli), as of iSCSI and ext4: finds every change of up to 32 neighbouring bits, and all but one of 2^32
 * others.
 *
 * Owns:    nothing. Any thread; safe in handlers of signals.
 */
#ifndef QZ_ABI_CHECKSUM_H
#define QZ_ABI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The checksum of what `sum` stands for (0: nothing) followed by these bytes. */
uint32_t qz_checksum(uint32_t sum, const void *bytes, size_t count);
/* The same by tables, as on processors without an instruction for it. */
uint32_t qz_checksum_portable(uint32_t sum, const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
