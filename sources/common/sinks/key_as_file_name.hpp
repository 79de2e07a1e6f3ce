// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::common {

/// What happens to dots in a key that becomes a file's name.
enum class KeyDots : std::uint8_t {
  none_in_base_name,  ///< dots in the last component become '_', because its first dot begins the extension
  none_in_front,      ///< a dot at the beginning of a component becomes %2E, because it would hide the file
};

/// Returns whether `c` is a control character: C0 or DEL.
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Makes a file's name from a key. '/' separates components in the key and in the name. The result is well-formed
/// UTF-8. Control characters, '\', '%', bytes that aren't UTF-8, and the dots of "." and ".." become %XX, except
/// dots that become '_'. An empty component becomes %2F. Different keys give different results, unless dots become '_'
/// and the keys differ only in '.' and '_'. The result is empty only for an empty key.
std::string key_as_file_name(std::string_view key, KeyDots dots);

}  // namespace penstock::common
