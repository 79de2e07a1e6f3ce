// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/lines/input_file.hpp"
#include "common/lines/line_index.hpp"
#include "common/lines/record_text.hpp"

namespace penstock::common {

/// Reads all records of a file in order, a few MB at a time. Calls `record` with each record's number and text;
/// `RecordText::slack` bytes after the text may be read. Stops when `record` returns false.
/// @throws Error(not_found | io), also if the file was changed since it was indexed; and what `record` throws.
template <class F>
void read_records(const std::string& path, std::string_view source, const LineIndex& index, F record) {
  constexpr std::size_t read_at_once = std::size_t{4} << 20;
  const InputFile file(path, source);
  file.require(index.mark);
  std::string text;
  for (std::uint64_t first = 0; first < index.begins.size();) {
    std::uint64_t last = first;
    std::size_t bytes = 0, at = 0;
    do bytes += index.bytes(last++);
    while (last < index.begins.size() && bytes < read_at_once);
    if (text.size() < bytes + RecordText::slack) text.resize(bytes + RecordText::slack);
    file.read(text.data(), bytes, index.begins[first]);
    for (; first < last; ++first) {
      if (!record(first, std::string_view(text.data() + at, index.bytes(first)))) return;
      at += index.bytes(first);
    }
  }
}

}  // namespace penstock::common
