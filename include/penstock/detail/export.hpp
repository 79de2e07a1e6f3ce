#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "Penstock needs C++20: compile with -std=c++20 or newer"
#endif

/// Marks a symbol of the public interface. Libraries are built with hidden visibility, so that a shared build exports
/// these and nothing else.
#if defined(__GNUC__) || defined(__clang__)
#define PENSTOCK_API __attribute__((visibility("default")))
#else
#define PENSTOCK_API
#endif
