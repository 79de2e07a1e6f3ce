// SPDX-License-Identifier: Apache-2.0
#include "record_text.hpp"

#include <cstring>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::common {

std::string_view RecordText::read(const RecordFiles& files, RecordFiles::Location location) {
  const LineIndex& index = *files.indices_[location.file];
  const std::uint64_t begin = index.begins[location.record];
  const std::size_t bytes = index.bytes(location.record);
  if (!files.maps_.empty()) {
    const std::string_view all = files.maps_[location.file].text();
    if (all.size() - begin >= bytes + slack) return all.substr(begin, bytes);
    std::memcpy(buffer_for(bytes), all.data() + begin, bytes);
  } else {
    if (!file_ || open_file_ != location.file) {
      file_.reset();
      auto opened = std::make_unique<InputFile>(files.files_[location.file], files.source_);
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

char* RecordText::buffer_for(std::size_t bytes) {
  if (buffer_.size() < bytes + slack) buffer_.resize(bytes + slack);
  return buffer_.data();
}

}  // namespace penstock::common
