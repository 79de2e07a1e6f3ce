// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::webdataset {

/// The two parts of a member's name.
struct MemberName {
  std::string_view key;   ///< the name up to the first dot of its last part, without a leading "./"
  std::string extension;  ///< the part after that dot, in lower case
};
/// Splits a member's name. Returns nothing if the name has no key by WebDataset's rules. The key points into `name`.
std::optional<MemberName> split_name(std::string_view name);

/// Returns why a name is refused, for example because a program that unpacks the shard would write the file outside of
/// its target folder. Returns nullptr for a good name.
const char* danger_of(std::string_view name) noexcept;

/// Returns the text with its letters A to Z in lower case.
std::string lower_case(std::string_view text);

}  // namespace penstock::webdataset
