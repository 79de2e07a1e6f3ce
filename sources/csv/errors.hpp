#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock::csv {

/// Text of a file on one line: what isn't printable ASCII as \xHH, cut after about 60 characters.
std::string printable(std::string_view text);

/// An Error of this source with its file, and with the offset in it where there is one.
Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset = {});

/// What the system reported while `doing` ("opening the file").
Error system_error(int code, std::string_view doing, const std::string& file);

}  // namespace penstock::csv
