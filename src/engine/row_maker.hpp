// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <penstock/error.hpp>

#include "chain/chain.hpp"
#include "pipeline/batch_positions.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// Makes samples in their rows. Any runner and the consumer may use it.
class RowMaker {
 public:
  RowMaker(const Chain& chain, BatchRing& ring) : chain_(chain), ring_(ring), positions_(chain.data()) {}

  /// Makes a row of the batch: the row's sample, or padding if the batch has no sample for the row. Does nothing if the
  /// batch does not have the row.
  void make(ChainRun& run, BatchBuffer& buffer, std::uint64_t row, std::uint64_t ticket) const noexcept {
    if (row < buffer.valid) {
      try {
        fill_row(run, buffer, row, ticket);
      } catch (...) {  // no memory even for the error
        ring_.clear_row(buffer, row);
        buffer.broken.store(true, std::memory_order_relaxed);
      }
    } else if (row < buffer.rows) {
      ring_.clear_row(buffer, row);
    }
  }

 private:
  void fill_row(ChainRun& run, BatchBuffer& buffer, std::uint64_t row, std::uint64_t ticket) const;
  void note_varying(const ChainRun& run, BatchBuffer& buffer, std::uint64_t row) const noexcept;

  const Chain& chain_;
  BatchRing& ring_;
  const BatchPositions positions_;
};

}  // namespace penstock::detail::runtime
