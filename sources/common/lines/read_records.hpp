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
    const std::uint64_t begin = index.begins[first];
    const auto at = [&](std::uint64_t r) { return static_cast<std::size_t>(index.begins[r] - begin); };
    std::uint64_t last = first;
    std::size_t bytes = 0;
    do bytes = at(last) + index.bytes(last);
    while (++last < index.begins.size() && at(last) < read_at_once);
    if (text.size() < bytes + RecordText::slack) text.resize(bytes + RecordText::slack);
    file.read(text.data(), bytes, begin);
    for (; first < last; ++first)
      if (!record(first, std::string_view(text.data() + at(first), index.bytes(first)))) return;
  }
}

}  // namespace penstock::common
