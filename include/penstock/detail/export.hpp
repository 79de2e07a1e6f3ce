// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "Penstock needs C++20: compile with -std=c++20 or newer"
#endif

#include <cstddef>  // defines the macros of the standard library that are tested here

// A program crashes if its containers or strings differ in size from the library's.
#if defined(_GLIBCXX_DEBUG) && !defined(PENSTOCK_WITH_GLIBCXX_DEBUG)
#error "Penstock was built without _GLIBCXX_DEBUG: leave it out, or add it to Penstock's CMAKE_CXX_FLAGS"
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0 && !defined(PENSTOCK_WITH_OLD_STRINGS)
#error "Penstock was built without _GLIBCXX_USE_CXX11_ABI=0: leave it out, or add it to Penstock's CMAKE_CXX_FLAGS"
#endif

/// Marks a symbol of the public interface. The library is built with hidden visibility, so a shared build exports only
/// these symbols.
#if defined(__GNUC__) || defined(__clang__)
#define PENSTOCK_API __attribute__((visibility("default")))
#else
#define PENSTOCK_API
#endif

/// Marks a name that a later minor version won't have. `instead`: a text that says what to use instead.
#define PENSTOCK_DEPRECATED(instead) [[deprecated(instead)]]
