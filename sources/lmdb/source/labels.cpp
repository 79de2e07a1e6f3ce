// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/sources/lmdb.hpp>

#include "source/datum.hpp"
#include "source/source_impl.hpp"
#include "source/stores.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/lookup.hpp"

namespace penstock {

namespace {

template <class T>
std::int64_t as(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return static_cast<std::int64_t>(value);
}

// Makes a label from a number of one type.
using ToLabel = std::int64_t (*)(const std::byte*);
// Returns the function for numbers of type `dtype`. Returns null if some numbers of that type can't be labels.
ToLabel to_label(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::boolean:
      return as<std::uint8_t>;
    case DType::i8:
      return as<std::int8_t>;
    case DType::u16:
      return as<std::uint16_t>;
    case DType::i16:
      return as<std::int16_t>;
    case DType::u32:
      return as<std::uint32_t>;
    case DType::i32:
      return as<std::int32_t>;
    case DType::i64:
      return as<std::int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<std::vector<std::int64_t>> LmdbSource::labels(std::string_view field) const {
  const Impl& any = stores_->first();
  const auto slot = any.schema.find(field);
  // With `FileAccess::read`, each record would have to be copied whole, so no labels are returned.
  if (!slot || any.schema[*slot].shape.rank() != 0 || any.values == LmdbValues::raw ||
      any.options.access == FileAccess::read)
    return std::nullopt;
  if (to_label(any.schema[*slot].dtype) == nullptr) return std::nullopt;
  std::vector<std::int64_t> labels;
  labels.reserve(size());
  for (const auto& store : stores_->all()) store->append_labels(*slot, labels);
  return labels;
}

void LmdbSource::Impl::append_labels(std::size_t slot, std::vector<std::int64_t>& labels) const {
  const ToLabel convert = to_label(schema[slot].dtype);
  const std::uint64_t begin = labels.size();
  lmdb::Lookup lookup(environment, keys, *addresses);
  std::vector<std::byte> room;
  for (std::uint64_t index = 0; index < keys.size(); ++index) {
    const auto fail = [&](Error error) {
      lmdb::KeyBuffer buffer;
      error.with_key(keys.key(index, buffer));
      throw error.with_source("lmdb").with_file(environment->file()).with_index(begin + index);
    };
    MDB_val value{};
    const int code = lookup.find(index, value);
    if (code == lmdb::Lookup::outside)
      fail(Error(Errc::corrupt, "the value, of " + std::to_string(value.mv_size) + " bytes, lies outside of the file"));
    if (code != 0) fail(lmdb::error_of(code, "reading a record", environment->file()));
    try {
      const auto bytes = environment->settled(lmdb::bytes_of(value), room);
      labels.push_back(values == LmdbValues::datum ? lmdb::parse_datum(bytes).label
                                                   : convert(layout->scalar(bytes, slot)));
    } catch (const lmdb::Damage& damage) {
      fail(Error(damage.code, damage.what).with_offset(environment->offset_of(value.mv_data) + damage.offset));
    }
  }
}

}  // namespace penstock
