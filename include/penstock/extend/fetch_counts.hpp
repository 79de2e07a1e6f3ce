// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// What was fetched over a network so far, as `Source::fetched` returns it. All members but `connections` and `counter`
/// only grow. A report uses the differences over its run.
struct FetchCounts {
  std::uint64_t bytes = 0;         ///< bytes that arrived
  std::uint64_t reads = 0;         ///< all reads, also from a cache
  std::uint64_t waited_reads = 0;  ///< reads that had to wait for bytes
  double waited_s = 0;             ///< seconds that reads waited, of all threads together
  double busy_s = 0;               ///< seconds that connections were in use, of all connections together
  double full_s = 0;               ///< seconds in which all connections were in use
  std::uint64_t retries = 0;       ///< requests that were repeated after a failure
  std::uint64_t not_kept = 0;      ///< fetched ranges that a cache could not keep: it was full, or its disk failed
  std::uint64_t connections = 0;   ///< the most connections that may be in use at a time; 0: nothing is fetched
  /// What counted, such as a client. Sources that return the same address share the counts. Null: shared with no other.
  const void* counter = nullptr;
};

}  // namespace penstock
