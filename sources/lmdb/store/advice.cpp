// SPDX-License-Identifier: Apache-2.0
#include "store/advice.hpp"

#include <cstddef>
#include <utility>

#include "store/lookup.hpp"

namespace penstock::lmdb {

struct ValueAdviser::Helper {
  Helper(std::shared_ptr<Environment> environment, const KeyIndex& keys, ValueAddresses& addresses)
      : lookup(std::move(environment), keys, addresses) {}

  // Returns the pages of a record's value; an empty range if the value can't be found.
  common::PageRange find(std::uint64_t index) {
    MDB_val value{};
    if (index >= lookup.records() || lookup.find(index, value) != 0) return {};
    return common::pages_of({static_cast<const std::byte*>(value.mv_data), value.mv_size});
  }

  Lookup lookup;
  std::vector<common::PageRange> ranges;
};

ValueAdviser::ValueAdviser(std::shared_ptr<Environment> environment, const KeyIndex& keys, ValueAddresses& addresses)
    : environment_(std::move(environment)), keys_(keys), addresses_(addresses) {}

ValueAdviser::~ValueAdviser() = default;

std::unique_ptr<ValueAdviser::Helper> ValueAdviser::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto helper = std::move(idle_.back());
      idle_.pop_back();
      return helper;
    }
  }
  return std::make_unique<Helper>(environment_, keys_, addresses_);
}

void ValueAdviser::give_back(std::unique_ptr<Helper> helper) {
  helper->lookup.pause();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(helper));
}

void ValueAdviser::will_need(std::span<const std::uint64_t> indices) noexcept {
  if (indices.empty() || !environment_->usable()) return;
  try {
    std::unique_ptr<Helper> helper;  // not taken if no range is needed
    const auto look = [&] {
      helper = take();
      return helper->find(indices[indices.size() / 2]);
    };
    if (pages_.worth_asking(indices.size(), look)) {
      if (helper == nullptr) helper = take();
      helper->ranges.clear();
      for (const std::uint64_t index : indices) helper->ranges.push_back(helper->find(index));
      pages_.ask(helper->ranges);
    }
    if (helper != nullptr) give_back(std::move(helper));
  } catch (...) {
    // The advice is optional, and a read will report the fault.
  }
}

}  // namespace penstock::lmdb
