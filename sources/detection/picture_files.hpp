// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>

namespace penstock::detection {

/// Reads a whole file as the value of the field `slot`, which is u8[?].
/// @throws Error(not_found | io), with the file; and what SampleBuilder throws.
void read_picture(const std::string& path, std::string_view source, SampleBuilder& out, std::size_t slot);

/// Returns a hash of `seed`, the name, and the size of the file. A file that does not exist counts with a size that no
/// file has.
std::uint64_t hash_of_size(const std::string& path, std::string_view name, std::uint64_t seed);
/// Returns a hash of `seed`, and the size and time of the file.
std::uint64_t hash_of_time(const std::string& path, std::uint64_t seed);
/// Returns a hash of `seed` and a text.
std::uint64_t hash_of_text(std::string_view text, std::uint64_t seed) noexcept;

/// Reads a whole file of text, of at most 64 MiB.
/// @throws Error(limit_exceeded | not_found | io), with the file.
std::string read_annotations(const std::string& path, std::string_view source);

/// Returns the error for a record past the end.
Error no_such_record(std::uint64_t index, std::uint64_t size, std::string_view source, const std::string& file);

}  // namespace penstock::detection
