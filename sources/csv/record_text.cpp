// SPDX-License-Identifier: Apache-2.0
#include "record_text.hpp"

#include <cstring>
#include <utility>

#include <penstock/error.hpp>

namespace penstock {

std::string_view CsvSource::Impl::RecordText::read(const Impl& store, Location location) {
  const csv::RecordIndex& index = store.indices[location.file];
  const std::uint64_t begin = index.begins[location.record];
  const std::size_t bytes = index.bytes(location.record);
  if (store.options.access == FileAccess::map) {
    const std::string_view all = store.maps[location.file].text();
    if (all.size() - begin >= bytes + csv::CellScanner::slack) return all.substr(begin, bytes);
    std::memcpy(buffer_for(bytes), all.data() + begin, bytes);
  } else {
    if (!file_ || open_file_ != location.file) {
      file_.reset();
      auto opened = std::make_unique<csv::InputFile>(store.files[location.file]);
      opened->require(index.mark);
      file_ = std::move(opened);
      open_file_ = location.file;
    }
    try {
      file_->read(buffer_for(bytes), bytes, begin);
    } catch (const Error& error) {
      throw Error(error.code(), error.cause()).with_offset(error.offset().value_or(begin) - begin);
    }
  }
  return {buffer_.data(), bytes};
}

char* CsvSource::Impl::RecordText::buffer_for(std::size_t bytes) {
  if (buffer_.size() < bytes + csv::CellScanner::slack) buffer_.resize(bytes + csv::CellScanner::slack);
  return buffer_.data();
}

}  // namespace penstock
