#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::common {

/// What becomes of dots in a key that is made fit for a file's name.
enum class KeyDots : std::uint8_t {
  none_in_base_name,  ///< '_' stands in their place, as the first one of the base name begins the extension
  none_in_front,      ///< one that a component begins with is written as %2E, as such files are hidden
};

/// Control characters: C0 and DEL.
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// A key fit for a file's name, with '/' between components: well-formed UTF-8 in which control characters, '\', '%',
/// what isn't UTF-8, empty components, "." and ".." are written as %XX. Different for different keys, but for '.' and
/// '_' where dots become '_'. Empty where the key is.
std::string fit_key(std::string_view key, KeyDots dots);

}  // namespace penstock::common
