// SPDX-License-Identifier: Apache-2.0
// Finds where a word occurs last in a text that grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace penstock::jpeg {

class LastOccurrence {
 public:
  explicit constexpr LastOccurrence(std::string_view word) : word_(word) {}

  // Returns the same as `text.rfind(word)`. Searches only the part that is new since the call before. So `text` must
  // begin with the text of that call.
  std::size_t place_in(std::string_view text) {
    const std::size_t from = searched_ - std::min(searched_, word_.size() - 1);
    const std::size_t found = text.substr(from).rfind(word_);
    if (found != text.npos) place_ = from + found;
    searched_ = text.size();
    return place_;
  }

 private:
  std::string_view word_;
  std::size_t place_ = std::string_view::npos, searched_ = 0;
};

}  // namespace penstock::jpeg
