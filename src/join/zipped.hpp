// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/join.hpp>

namespace penstock::detail {

/// Sources whose records are joined side by side: a joined record has the fields of all parts.
struct SideBySide {
  std::string kind;            ///< the stage's name: "zip" or "pair"
  std::vector<ZipPart> parts;  ///< at least one
  std::uint64_t size = 0;
  /// For each part, a list with the index of the part's record for each record of the join. The list is empty if each
  /// index is the record's index in the join.
  std::vector<std::vector<std::uint64_t>> indices;
  std::vector<std::string> notes = {};
};
/// Returns the joined source. @throws Error(invalid_argument) if two fields have the same name.
std::shared_ptr<const SourceModel> side_by_side(SideBySide joined);

}  // namespace penstock::detail
