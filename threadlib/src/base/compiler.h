/* Compiler dependences of the package: attributes, branch hints, and detection of sanitizers. */
#ifndef QZI_COMPILER_H
#define QZI_COMPILER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QZI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define QZI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define QZI_LINE        __attribute__((aligned(64)))
#define QZI_HIDDEN      __attribute__((visibility("hidden")))
#define QZI_CALLER()    ((uint64_t)(uintptr_t)__builtin_return_address(0))

#if defined(__SANITIZE_THREAD__)
#define QZI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QZI_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define QZI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QZI_ASAN 1
#endif
#endif

#endif
