#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/join.hpp>

namespace penstock::detail {

/// A key without the ending of a file's name, as `PairBy::stem` says; as it is where it is not text.
std::string_view stem_of(std::string_view key) noexcept;
/// What stands after the last '/'.
std::string_view last_part(std::string_view key) noexcept;
/// For an error's cause: in quotes, of a long one the beginning.
std::string quoted_key(std::string_view key);
/// A record's key. @throws what the source throws, as of `stage`, with source and index.
std::string key_of(const SourceModel& source, std::uint64_t index, std::string_view stage);

/// Two records of one position whose keys don't agree.
struct KeyMismatch {
  std::uint64_t index;
  std::string first, second;
};
/// Compares the keys of sources of one size, position by position; keeps none.
std::optional<KeyMismatch> compare_keys(const SourceModel& first, const SourceModel& second, PairBy by,
                                        std::string_view stage);

/// Which records belong together.
struct KeyMatches {
  /// Source indices by part; empty where its records are taken as they stand.
  std::vector<std::vector<std::uint64_t>> indices;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> left_out;             ///< records of each part without a partner
  std::vector<std::vector<std::string>> examples;  ///< keys of a few of them
};
/// In the order of the first source. @throws Error(invalid_argument) for two records of one source with the same key.
KeyMatches match_keys(const std::vector<const SourceModel*>& sources, PairBy by, std::string_view stage);

}  // namespace penstock::detail
