// SPDX-License-Identifier: Apache-2.0
#include "data/file_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <penstock/error.hpp>

namespace penstock::detail {

void FilePieces::append(std::span<const std::byte> bytes) {
  if (bytes.size() > max_bytes_ - size_)
    throw Error(Errc::limit_exceeded,
                "the encoded image is larger than `max_sample_bytes` = " + std::to_string(max_bytes_));
  while (!bytes.empty()) {
    if (room_ == 0) {
      const std::size_t more = std::max({first_piece, size_, bytes.size()});
      pieces_[count_] = {scratch_.allocate(more), more};
      ++count_;
      room_ = more;
    }
    const std::size_t some = std::min(room_, bytes.size());
    const std::span<std::byte> last = pieces_[count_ - 1];
    std::memcpy(last.data() + (last.size() - room_), bytes.data(), some);
    room_ -= some;
    size_ += some;
    bytes = bytes.subspan(some);
  }
}

void FilePieces::copy_to(std::byte* out) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t used = pieces_[i].size() - (i + 1 == count_ ? room_ : 0);
    std::memcpy(out, pieces_[i].data(), used);
    out += used;
  }
}

}  // namespace penstock::detail
