/* The factor of multiplicative hashing: 2^64, and 2^32, divided by the golden ratio, odd. Of a product the upper bits
 * are those to use. For C and assembly; all hashes of Quartz use it (test/repo/one-definition.test.ts). */
#ifndef QZ_ABI_HASH_H
#define QZ_ABI_HASH_H

#define QZ_HASH_FACTOR    0x9e3779b97f4a7c15
#define QZ_HASH_FACTOR_32 0x9e3779b1

#endif
