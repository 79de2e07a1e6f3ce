// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/memory.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_memory_resource`.
struct MemoryResourceOptions {
  /// Bytes of the largest block of memory that is requested. Each thread holds about 10 times as much.
  std::size_t largest = std::size_t{1} << 20;
  /// The largest alignment that is requested, a power of two.
  std::size_t max_align = 4096;
  /// Bytes of a request that must fail.
  std::size_t too_much = std::size_t{1} << 60;
  /// Number of threads that allocate at the same time.
  unsigned threads = 4;
};

/// Checks that a resource keeps the promises of `MemoryResource`, on any thread:
///
/// - requests, also of zero bytes, return blocks that have the requested alignment and do not overlap;
/// - blocks keep their content until they are freed (not checked for `MemoryKind::device`, where the host can't write);
/// - a request that the resource can't serve throws Error(out_of_memory), which says how many bytes were requested;
/// - small requests still work after a request that failed.
///
/// Frees all blocks. Starts threads. Throws nothing.
PENSTOCK_API Report check_memory_resource(MemoryResource& resource, const MemoryResourceOptions& options = {});

}  // namespace penstock::testing
