#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock::hdf5 {

/// An Error of this source about a file.
Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset = {});

/// Of a failed system call; ENOENT and ENOTDIR become not_found.
Error system_error(int code, std::string_view doing, const std::string& file);

}  // namespace penstock::hdf5
