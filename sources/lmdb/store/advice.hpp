// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/page_advice.hpp"
#include "store/environment.hpp"
#include "store/key_index.hpp"
#include "store/value_addresses.hpp"

namespace penstock::lmdb {

/// Asks the kernel to prefetch values that will be read soon, as long as that seems to help. Any thread.
class ValueAdviser {
 public:
  /// `keys` and `addresses` must outlive the object.
  ValueAdviser(std::shared_ptr<Environment> environment, const KeyIndex& keys, ValueAddresses& addresses);
  ValueAdviser(const ValueAdviser&) = delete;
  ValueAdviser& operator=(const ValueAdviser&) = delete;
  ~ValueAdviser();

  void will_need(std::span<const std::uint64_t> indices) noexcept;
  std::uint64_t values_advised() const noexcept { return pages_.asked(); }

 private:
  struct Helper;
  std::unique_ptr<Helper> take();
  void give_back(std::unique_ptr<Helper> helper);

  const std::shared_ptr<Environment> environment_;
  const KeyIndex& keys_;
  ValueAddresses& addresses_;
  common::PageAdvice pages_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Helper>> idle_;
};

}  // namespace penstock::lmdb
