// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::remote {

/// `Content-Range: bytes FIRST-LAST/SIZE`. Without FIRST and LAST for an answer of status 416.
struct ContentRange {
  std::optional<std::uint64_t> first, last;
  std::optional<std::uint64_t> size;  ///< none if the server does not know it
};

/// Reads the value of a Content-Range. Returns none if it is no range of bytes.
std::optional<ContentRange> parse_content_range(std::string_view value);

/// The header of a server's answer, as far as it is used.
class Answer {
 public:
  /// The most bytes of a header.
  static constexpr std::size_t most_bytes = std::size_t{256} << 10;

  /// Takes one line of the header. A status line begins a new answer. Returns false if the header is too large.
  bool take(std::string_view line);

  std::optional<ContentRange> range;
  std::string etag, last_modified, date;
  std::optional<std::chrono::seconds> retry_after;  ///< as a number of seconds; dates are not read
  std::string content_type, content_encoding;

 private:
  std::size_t bytes_ = 0;
};

}  // namespace penstock::remote
