/* The factors of multiplicative hashing: 2^64 and 2^32 divided by the golden ratio, odd. Use the upper bits of the
 * product. For C and assembly; all hashes of Quartz use them (test/repo/one-definition.test.ts). */
#ifndef QZ_ABI_HASH_H
#define QZ_ABI_HASH_H

#define QZ_HASH_FACTOR    0x9e3779b97f4a7c15
#define QZ_HASH_FACTOR_32 0x9e3779b1

#endif
