// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// Stores many paths in little memory, each followed by a zero byte, as the system requires.
class PathTable {
 public:
  void add(std::string_view path) {
    bytes_ += path;
    bytes_ += '\0';
    ends_.push_back(bytes_.size());
  }
  std::uint64_t size() const noexcept { return ends_.size(); }
  /// Returns a path. The byte after the path is zero, so `data()` of the result can be given to the system.
  std::string_view operator[](std::uint64_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[index] - begin - 1)};
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace penstock::common
