/* Assertions that session and profile are laid out as they say, in C and C++. */
#ifndef QZ_ABI_LAYOUT_H
#define QZ_ABI_LAYOUT_H

#define QZ_ALIGN(bytes) __attribute__((aligned(bytes)))
#ifdef __cplusplus
#define QZ_LAYOUT static_assert
#else
#define QZ_LAYOUT _Static_assert
#endif

#endif
