// SPDX-License-Identifier: Apache-2.0
// Functions for map_batches whose every result tells which rows, draws and places they saw.
#pragma once

#include <set>

#include "core/reorder/reordered_help.hpp"

namespace help {

/// Adds to each valid row's "x" a draw for the row, one for the batch, and the sum of "y" over valid rows. Fills the
/// added field "place".
struct Mix {
  void operator()(ps::HostBatch& batch) const {
    std::int64_t sum = 0;
    const auto y = batch.view<std::int64_t, 1>("y");
    for (std::int64_t r = 0; r < y.extent(0); ++r)
      if (batch.valid(static_cast<std::uint64_t>(r))) sum += y(r);
    const std::uint32_t of_batch = batch.rng()() + static_cast<std::uint32_t>(sum);
    const auto x = batch.view<std::uint32_t, 2>("x");
    const auto place = batch.view<std::uint64_t, 2>("place");
    for (std::int64_t r = 0; r < y.extent(0); ++r) {
      if (!batch.valid(static_cast<std::uint64_t>(r))) continue;
      const std::uint32_t add = of_batch + batch.rng(static_cast<std::uint64_t>(r))();
      for (std::int64_t i = 0; i < x.extent(1); ++i) x(r, i) += add;
      const ps::Place at = batch.place(static_cast<std::uint64_t>(r));
      for (std::int64_t i = 0; i < 4; ++i) {
        if (place(r, i) != 0) throw ps::Error(ps::Errc::invalid_argument, "added rows are not zeros");
      }
      place(r, 0) = at.epoch + 1;
      place(r, 1) = at.position + 1;
      place(r, 2) = at.child + 1;
      place(r, 3) = batch.number() + 1;
    }
  }
};

inline ps::Stage mix_rows(ps::MapBatchesOptions::On on, const std::string& name = "mix") {
  return ps::map_batches(Mix{}, {.name = name, .on = on, .adds = {{"place", ps::DType::u64, {4}}}});
}

}  // namespace help
