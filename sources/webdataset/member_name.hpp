#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::webdataset {

/// A member's name, taken apart.
struct MemberName {
  std::string_view key;   ///< up to the first dot of the base name, without a leading "./"
  std::string extension;  ///< what stands after that dot, A-Z as a-z
};
/// Key and extension of a member's name; nothing where WebDataset gives it no key.
std::optional<MemberName> split_name(std::string_view name);

/// Why a name can't be taken, as whoever made a file of it could be led out of a folder; nullptr for a good one.
const char* danger_of(std::string_view name) noexcept;

std::string lower_case(std::string_view text);

}  // namespace penstock::webdataset
