/* CRC-32C (Castagnoli), as used by iSCSI and ext4: detects every change within 32 adjacent bits, and all but one of
 * 2^32 other changes.
 *
 * Owns:    nothing. For any thread; async-signal-safe.
 */
#ifndef QZ_ABI_CHECKSUM_H
#define QZ_ABI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the checksum of the data whose checksum is `sum` (0: no data), followed by these bytes. */
uint32_t qz_checksum(uint32_t sum, const void *bytes, size_t count);
/* The same by a table, as on CPUs without the instruction. */
uint32_t qz_checksum_portable(uint32_t sum, const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
