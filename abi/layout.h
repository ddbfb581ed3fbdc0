/* Assertions, for C and C++, that session and profile have the documented layout. */
#ifndef QZ_ABI_LAYOUT_H
#define QZ_ABI_LAYOUT_H

#define QZ_ALIGN(bytes) __attribute__((aligned(bytes)))
#ifdef __cplusplus
#define QZ_LAYOUT static_assert
#else
#define QZ_LAYOUT _Static_assert
#endif

#endif
