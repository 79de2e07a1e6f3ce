#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/memory.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_memory_resource`.
struct MemoryResourceOptions {
  std::size_t largest =
      std::size_t{1} << 20;      ///< bytes of the largest block; about 10 times as much is held at once, by each thread
  std::size_t max_align = 4096;  ///< the largest alignment asked for, a power of two
  std::size_t too_much = std::size_t{1} << 60;  ///< bytes that it can't have
  unsigned threads = 4;                         ///< threads that allocate at once
};

/// Holds a resource to what `MemoryResource` promises: blocks are aligned as asked, apart from each other, and keep
/// what is written to them until they are given back (where the host can write: not for `MemoryKind::device`), zero
/// bytes included; any thread may call it; what it can't give is Error(out_of_memory) that says how much was asked for,
/// and small requests still work after that. Everything is given back. Threads are started; nothing is thrown.
PENSTOCK_API Report check_memory_resource(MemoryResource& resource, const MemoryResourceOptions& options = {});

}  // namespace penstock::testing
