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

/// Returns a key without the ending of a file's name, as documented at `PairBy::stem`. Returns a key that is not text
/// unchanged.
std::string_view stem_of(std::string_view key) noexcept;
/// Returns the part after the last '/'.
std::string_view last_part(std::string_view key) noexcept;
/// Returns a key in quotes, for an error's cause; only the beginning of a long one.
std::string quoted_key(std::string_view key);
/// Returns a record's key. @throws what the source throws, as an error of `stage`, with source and index.
std::string key_of(const SourceModel& source, std::uint64_t index, std::string_view stage);

/// Two records at one position whose keys don't match.
struct KeyMismatch {
  std::uint64_t index;
  std::string first, second;
};
/// Compares the keys of two sources of the same size, position by position. Keeps no key. Returns the first mismatch;
/// none if all match.
std::optional<KeyMismatch> compare_keys(const SourceModel& first, const SourceModel& second, PairBy by,
                                        std::string_view stage);

/// Which records belong together.
struct KeyMatches {
  /// Source indices by part; empty if a part's records are taken in their own order.
  std::vector<std::vector<std::uint64_t>> indices;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> left_out;             ///< number of records of each part without a partner
  std::vector<std::vector<std::string>> examples;  ///< keys of a few of them
};
/// Matches records by key, in the order of the first source.
/// @throws Error(invalid_argument) if two records of one source have the same key.
KeyMatches match_keys(const std::vector<const SourceModel*>& sources, PairBy by, std::string_view stage);

}  // namespace penstock::detail
