// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "library/access.hpp"

namespace penstock::hdf5 {

/// Keeps pages of keys in memory, up to a limit. The pages that were used longest ago are dropped first. Any thread.
class KeyPages {
 public:
  using Page = std::shared_ptr<const Texts>;

  /// `max_bytes`: the limit. The two pages that were used last stay, even if they exceed the limit.
  explicit KeyPages(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Returns a page of keys; null if the page is not kept.
  Page find(std::uint64_t number);
  /// Returns whether a page that is not kept should be read whole. That is so if there is room for the page, or if the
  /// previous call of `wants` was for this page or for the page before it.
  bool wants(std::uint64_t number);
  /// Keeps a page. A page without texts records that the page can't be read whole.
  void keep(std::uint64_t number, Page page);

 private:
  static std::size_t bytes_of(const Texts& page) noexcept {
    return page.bytes.size() + page.ends.size() * sizeof(std::uint64_t);
  }

  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::list<std::pair<std::uint64_t, Page>> pages_;  // the most recently used first
  std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, Page>>::iterator> places_;
  std::size_t bytes_ = 0;
  std::uint64_t last_missed_ = ~std::uint64_t{0} - 1;
};

}  // namespace penstock::hdf5
