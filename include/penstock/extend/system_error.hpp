// SPDX-License-Identifier: Apache-2.0
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

/// Errors for a custom source or sink when a file or the system fails. `source` is the name of the source or sink.

/// Makes an Error about a file. `offset` is the position in the file that the error is about, if there is one.
PENSTOCK_API Error file_error(std::string_view source, const std::string& file, Errc code, std::string cause,
                              std::optional<std::uint64_t> offset = {});

/// Makes an Error for a system call that failed with errno `code` while `doing` ("opening the file"). ENOENT and
/// ENOTDIR become not_found, and the text names the missing folder. Other codes become io.
PENSTOCK_API Error system_error(std::string_view source, int code, std::string_view doing, const std::string& file);

/// Makes an Error for a write that failed with errno `code`, like `system_error`. If the disk may be full, the text
/// says how many bytes were needed (`bytes`; 0: not known), how many are free, and that the run can be continued.
PENSTOCK_API Error write_error(std::string_view source, int code, std::string_view doing, const std::string& file,
                               std::uint64_t bytes);

/// Makes a system call that returns -1 if it fails. Repeats the call as long as a signal interrupts it. Returns the
/// call's result.
template <class Call>
auto uninterrupted(Call&& call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Returns how many bytes the first character of a UTF-8 text has. Returns 0 if the text does not begin with such a
/// character.
PENSTOCK_API std::size_t character_bytes(std::string_view text) noexcept;

/// Returns the text on one line, for a terminal, a page or a list. Characters of UTF-8 stay as they are. Each byte that
/// is not UTF-8 becomes `\xHH`. So does each byte of a control character, and of a character that ends a line or
/// changes the direction of text.
PENSTOCK_API std::string without_controls(std::string_view text);

/// Returns the text like `without_controls`. If the result is longer than about `longest` bytes, cuts it and appends
/// "...".
PENSTOCK_API std::string printable(std::string_view bytes, std::size_t longest = 200);

/// Returns a name as an item of a list, for lists whose items are separated by commas. A name with a comma or a quote
/// is in double quotes, and its quotes are doubled. Different lists give different texts.
PENSTOCK_API std::string in_list(std::string_view name);

/// Returns a text as printable ASCII. Each byte that is not printable ASCII, and each backslash, becomes `\xHH`.
/// Different texts give different results.
PENSTOCK_API std::string escaped(std::string_view text);

}  // namespace penstock
