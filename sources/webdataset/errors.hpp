#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock::webdataset {

/// Bytes as text on one line: what isn't printable ASCII as \xHH, at most about 200 characters.
std::string printable(std::string_view bytes);

/// An Error of this source with its file, and with the offset in it where there is one.
Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset = {});

/// What the system reported while `doing` ("opening the shard").
Error system_error(int code, std::string_view doing, const std::string& file);

/// The same for a failed write: says how much room was needed and how much there is.
Error write_error(int code, std::string_view doing, const std::string& file, std::uint64_t bytes);

}  // namespace penstock::webdataset
