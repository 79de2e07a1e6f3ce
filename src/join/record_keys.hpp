// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/join.hpp>

namespace penstock::detail {

/// Returns a key without the ending of its file name, as documented at `PairBy::stem`. Returns the whole key if it is
/// not text.
std::string_view stem_of(std::string_view key) noexcept;
/// Returns what follows the last '/' of a key. Returns the whole key if it has no '/'.
std::string_view last_part(std::string_view key) noexcept;
/// Returns a key in quotes, for the cause of an error. Cuts long keys.
std::string quoted_key(std::string_view key);
/// Returns a record's key. @throws what the source throws, as an error of `stage`, with the source's name and the
/// index.
std::string key_of(const SourceModel& source, std::uint64_t index, std::string_view stage);

/// Two records at one position whose keys don't match.
struct KeyMismatch {
  std::uint64_t index;
  std::string first, second;
};
/// Compares the keys of two sources of the same size, position by position. Returns two keys that don't match, or
/// nothing if all keys match. Needs no memory per record.
std::optional<KeyMismatch> compare_keys(const SourceModel& first, const SourceModel& second, PairBy by,
                                        std::string_view stage);

/// Which records belong together.
struct KeyMatches {
  /// For each part, the indices of its matched records; empty if all records of the part match in their own order.
  std::vector<std::vector<std::uint64_t>> indices;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> left_out;             ///< for each part, the number of records without a partner
  std::vector<std::vector<std::string>> examples;  ///< for each part, the keys of a few records without a partner
};
/// Matches records by key, in the order of the first source.
/// @throws Error(invalid_argument) if `by` finds no difference between the keys of two records of one source.
KeyMatches match_keys(const std::vector<const SourceModel*>& sources, PairBy by, std::string_view stage);

}  // namespace penstock::detail
