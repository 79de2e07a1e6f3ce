// SPDX-License-Identifier: Apache-2.0
#include "stores/foreign_lmdb.hpp"

#include <algorithm>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/source.hpp>

#include "stores/encoded_image.hpp"

namespace penstock::cli {

namespace {

std::vector<std::uint64_t> looked_at(std::uint64_t size) {
  constexpr std::uint64_t most = 16;
  std::vector<std::uint64_t> indices(std::min(size, most));
  for (std::uint64_t i = 0; i < indices.size(); ++i) indices[i] = i * size / indices.size();
  return indices;
}

// Returns how many of the records have values for which `is_one` is true. Records that can't be read don't count.
template <class Judge>
std::size_t count_of(const LmdbSource& source, const std::vector<std::uint64_t>& indices, const Judge& is_one) {
  std::size_t count = 0;
  for (const std::uint64_t index : indices) {
    try {
      OwnedSample record = read_sample(source, index);
      count += is_one(record.sample().bytes("image")) ? 1 : 0;
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
    }
  }
  return count;
}

std::size_t datums(const std::string& path, const std::vector<std::uint64_t>& indices) {
  try {
    const LmdbSource source(Lmdb{.path = path, .values = LmdbValues::datum, .lock_file = false});
    return count_of(source, indices, [](std::span<const std::byte> image) { return !image.empty(); });
  } catch (const Error&) {
    return 0;  // the store's first records are no Datums with images
  }
}

}  // namespace

ForeignValues look_at_values(const LmdbSource& raw, const std::string& path) {
  const std::vector<std::uint64_t> indices = looked_at(raw.size());
  if (indices.empty()) return ForeignValues::images;
  const std::size_t half = indices.size() / 2;
  if (count_of(raw, indices, [](std::span<const std::byte> value) { return *image_kind(value) != '\0'; }) > half)
    return ForeignValues::images;
  return datums(path, indices) > half ? ForeignValues::datums : ForeignValues::unknown;
}

}  // namespace penstock::cli
