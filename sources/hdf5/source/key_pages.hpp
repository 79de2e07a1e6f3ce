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

/// Pages of keys that were read, as many as have room; those that were used longest ago go first. Any thread.
class KeyPages {
 public:
  using Page = std::shared_ptr<const Texts>;

  /// The last two stay, however large they are.
  explicit KeyPages(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// A page of keys; none where it is not here.
  Page find(std::uint64_t number);
  /// True where a page that is not here should be read whole: there is room, or keys are gone through in order.
  bool wants(std::uint64_t number);
  /// One without texts is kept too: a page that can't be read whole.
  void keep(std::uint64_t number, Page page);

 private:
  static std::size_t bytes_of(const Texts& page) noexcept {
    return page.bytes.size() + page.ends.size() * sizeof(std::uint64_t);
  }

  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::list<std::pair<std::uint64_t, Page>> pages_;  // the one used last is first
  std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, Page>>::iterator> places_;
  std::size_t bytes_ = 0;
  std::uint64_t last_missed_ = ~std::uint64_t{0} - 1;
};

}  // namespace penstock::hdf5
