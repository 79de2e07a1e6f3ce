// SPDX-License-Identifier: Apache-2.0
#include "sink/stored_items.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <fstream>
#include <span>

#include <penstock/error.hpp>

#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

std::uint64_t item_hash(const SinkItem& item, std::string_view key) noexcept {
  const std::array<std::uint64_t, 2> place{item.position, item.child ? std::uint64_t{*item.child} + 1 : 0};
  return XXH3_64bits_withSeed(key.data(), key.size(), XXH3_64bits(place.data(), sizeof place));
}

}  // namespace

void StoredItems::open(const std::string& file, std::uint64_t count) {
  if (file_bytes(file, source_name).value_or(0) / sizeof(std::uint64_t) < count)
    throw error_in(file, Errc::corrupt, "the file is missing, or shorter than what was committed");
  there_.resize(count);
  std::ifstream in(file, std::ios::binary);
  if (count != 0 &&
      !in.read(reinterpret_cast<char*>(there_.data()), static_cast<std::streamsize>(count * sizeof(std::uint64_t))))
    throw error_in(file, Errc::io, "the file can't be read");
  file_.emplace(file, count * sizeof(std::uint64_t), source_name);
}

bool StoredItems::is(std::uint64_t number, const SinkItem& item, std::string_view key) const {
  return there_[number] == item_hash(item, key);
}

void StoredItems::add(const SinkItem& item, std::string_view key) {
  const std::uint64_t hash = item_hash(item, key);
  file_->append(std::as_bytes(std::span(&hash, 1)));
}

void StoredItems::flush(bool sync) {
  file_->flush();
  if (sync) file_->sync();
}

}  // namespace penstock::hdf5
