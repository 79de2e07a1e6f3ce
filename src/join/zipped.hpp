#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/join.hpp>

namespace penstock::detail {

/// Sources whose fields stand side by side.
struct SideBySide {
  std::string kind;            ///< "zip"
  std::vector<ZipPart> parts;  ///< at least one
  std::uint64_t size = 0;
  /// By part: which record of it stands at each position; empty where it is that of the same number.
  std::vector<std::vector<std::uint64_t>> indices;
  std::vector<std::string> notes = {};
};
/// @throws Error(invalid_argument) where two fields have one name.
std::shared_ptr<const SourceModel> side_by_side(SideBySide joined);

}  // namespace penstock::detail
