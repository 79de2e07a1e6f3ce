// SPDX-License-Identifier: Apache-2.0
// Rows that tell their number at both ends and cost next to nothing to make, and a stage after `batch` that is two
// copies away from its batch: what an early reader, or an early writer, is seen by.
#pragma once

#include <cstdint>
#include <cstring>

#include <penstock/extend/batch_view.hpp>

#include "core/help.hpp"

namespace help {

/// Row i of "x" begins and ends with i, 8 bytes each.
struct Stamped {
  std::uint64_t count = 0;
  std::int64_t row_bytes = 0;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {row_bytes}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const auto row = out.emplace<std::uint8_t, 1>("x", {row_bytes});
    std::memcpy(row.data(), &i, sizeof i);
    std::memcpy(row.data() + row_bytes - sizeof i, &i, sizeof i);
  }
};

/// Rows that do not tell that they are the ones from `first` on.
inline std::uint64_t wrong_rows(const std::byte* rows, std::size_t row_bytes, std::uint64_t count,
                                std::uint64_t first) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i, rows += row_bytes) {
    const std::uint64_t expected = first + i;
    wrong += std::memcmp(rows, &expected, sizeof expected) != 0 ||
             std::memcmp(rows + row_bytes - sizeof expected, &expected, sizeof expected) != 0;
  }
  return wrong;
}

/// A stage that copies every row, by `Copy{}(to, from, bytes, stream)`.
template <class Copy>
struct CopiesRows {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"x"}; }
  std::string name() const { return "copies_rows"; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    Copy{}(out["x"].data, in["x"].data, in["x"].bytes(), stream);
  }
};

}  // namespace help
