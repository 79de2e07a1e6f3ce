// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::webdataset {

/// A member's name, split.
struct MemberName {
  std::string_view key;   ///< up to the first dot of the base name, without a leading "./"
  std::string extension;  ///< the part after that dot, with A-Z as a-z
};
/// Returns key and extension of a member's name; nothing if WebDataset gives it no key.
std::optional<MemberName> split_name(std::string_view name);

/// Returns why a name is refused: a file with that name could be written outside of a folder. Returns nullptr for a
/// good name.
const char* danger_of(std::string_view name) noexcept;

std::string lower_case(std::string_view text);

}  // namespace penstock::webdataset
