#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>

namespace penstock {

/// What a source or sink of your own says where a file, or the system, fails it. `source` is its name.

/// An Error about a file, with the offset in it where there is one.
PENSTOCK_API Error file_error(std::string_view source, const std::string& file, Errc code, std::string cause,
                              std::optional<std::uint64_t> offset = {});

/// An Error for a system call that failed with errno `code` while `doing` ("opening the file"): ENOENT and ENOTDIR
/// become not_found, and the folder on the way that is missing is said; others io.
PENSTOCK_API Error system_error(std::string_view source, int code, std::string_view doing, const std::string& file);

/// An Error for a write that failed with errno `code`, as by `system_error`: where a disk may be full it says how much
/// room was needed (`bytes`; 0: not known), how much there is, and that a run can be continued.
PENSTOCK_API Error write_error(std::string_view source, int code, std::string_view doing, const std::string& file,
                               std::uint64_t bytes);

/// Makes a system call, one that returns -1 where it fails, again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call&& call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Bytes of the character of UTF-8 that a text begins with; 0 where it begins with none.
PENSTOCK_API std::size_t character_bytes(std::string_view text) noexcept;

/// Text on one line, for a terminal, a page or a list. Characters of UTF-8 stay as they are. What is none becomes
/// `\xHH`, and so do ASCII's control characters and those of Unicode, which end lines or turn around what stands after
/// them.
PENSTOCK_API std::string without_controls(std::string_view text);

/// As `without_controls`. Cuts the text after about `longest` characters.
PENSTOCK_API std::string printable(std::string_view bytes, std::size_t longest = 200);

/// A name as it stands in a list with commas between: one with a comma or a quote in it is in double quotes, in which a
/// quote is written twice. Different for different lists.
PENSTOCK_API std::string in_list(std::string_view name);

/// Text as printable ASCII, different for different texts: what isn't, and a backslash, as `\xHH`.
PENSTOCK_API std::string escaped(std::string_view text);

}  // namespace penstock
