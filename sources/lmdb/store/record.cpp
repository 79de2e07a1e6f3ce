// SPDX-License-Identifier: Apache-2.0
#include "store/record.hpp"

#include <bit>
#include <cstring>

#include "store/errors.hpp"
#include "store/hash.hpp"

namespace penstock::lmdb {

static_assert(std::endian::native == std::endian::little, "records are little-endian and are viewed as they are");

namespace {

// The fixed part of a record's header.
constexpr char magic[4] = {'P', 'S', 'R', 1};
constexpr std::size_t fields_at = 4;
constexpr std::size_t checksum_at = 8;
constexpr std::size_t bytes_at = 16;
constexpr std::size_t parts_at = 24;
constexpr std::size_t alignment = 16;

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

std::size_t align(std::size_t offset) noexcept { return (offset + alignment - 1) / alignment * alignment; }

// Returns the checksum of a record and its key, without the checksum's own bytes. Because the key is included, a
// record that is stored under another record's key is noticed.
std::uint64_t checksum(std::span<const std::byte> record, std::string_view key) noexcept {
  const std::uint64_t seed = hash_bytes(key, load<std::uint64_t>(record.data()));
  return XXH3_64bits_withSeed(record.data() + bytes_at, record.size() - bytes_at, seed);
}

}  // namespace

RecordLayout::RecordLayout(const Schema& schema) {
  header_ = parts_at;
  for (const Field& field : schema) {
    parts_.push_back({field.shape, size_of(field.dtype), header_});
    header_ += 2 * sizeof(std::uint64_t);
    for (const std::int64_t dim : field.shape.dims())
      if (dim == dynamic) header_ += sizeof(std::int64_t);
  }
}

std::size_t RecordLayout::encoded_bytes(Sample& sample) const {
  std::size_t bytes = header_;
  for (std::size_t slot = 0; slot < parts_.size(); ++slot) bytes = align(bytes) + sample.bytes(slot).size();
  return bytes;
}

void RecordLayout::encode(Sample& sample, std::string_view key, std::span<std::byte> out) const {
  std::byte* const to = out.data();
  std::memcpy(to, magic, sizeof(magic));
  store<std::uint32_t>(to + fields_at, static_cast<std::uint32_t>(parts_.size()));
  store<std::uint64_t>(to + bytes_at, out.size());
  std::size_t at = parts_at, end = header_;
  for (std::size_t slot = 0; slot < parts_.size(); ++slot) {
    const TensorView value = sample.tensor(slot);
    const std::size_t begin = align(end), bytes = value.bytes();
    std::memset(to + end, 0, begin - end);
    if (bytes != 0) std::memcpy(to + begin, value.data, bytes);
    end = begin + bytes;
    store<std::uint64_t>(to + at, begin);
    store<std::uint64_t>(to + at + 8, bytes);
    at += 16;
    for (std::size_t axis = 0; axis < parts_[slot].shape.rank(); ++axis) {
      if (parts_[slot].shape[axis] != dynamic) continue;
      store<std::int64_t>(to + at, value.shape[axis]);
      at += 8;
    }
  }
  store<std::uint64_t>(to + checksum_at, checksum(out, key));
}

void RecordLayout::check_header(std::span<const std::byte> record) const {
  const std::byte* const from = record.data();
  if (record.size() < header_) throw Damage{"the record is shorter than its header", record.size()};
  if (std::memcmp(from, magic, sizeof(magic)) != 0) throw Damage{"the record does not begin as one", 0};
  if (load<std::uint32_t>(from + fields_at) != parts_.size())
    throw Damage{"the record has not as many fields as the manifest says", fields_at};
  if (load<std::uint64_t>(from + bytes_at) != record.size())
    throw Damage{"the record is not as long as it says", bytes_at};
}

const std::byte* RecordLayout::scalar(std::span<const std::byte> record, std::size_t slot) const {
  check_header(record);
  const Part& part = parts_[slot];
  const std::byte* const entry = record.data() + part.entry;
  const auto begin = load<std::uint64_t>(entry), bytes = load<std::uint64_t>(entry + 8);
  if (begin < header_ || begin > record.size() || bytes > record.size() - begin)
    throw Damage{"a field lies outside of the record", part.entry};
  if (bytes != part.item) throw Damage{"a field's size does not agree with its shape", part.entry};
  return record.data() + begin;
}

void RecordLayout::decode(std::span<const std::byte> record, std::string_view key, bool verify_checksum,
                          SampleBuilder& out) const {
  check_header(record);
  const std::byte* const from = record.data();
  if (verify_checksum && checksum(record, key) != load<std::uint64_t>(from + checksum_at))
    throw Damage{"the record's checksum differs", 0};

  std::size_t at = parts_at;
  for (std::size_t slot = 0; slot < parts_.size(); ++slot) {
    const Part& part = parts_[slot];
    const std::size_t entry = at;
    const auto begin = load<std::uint64_t>(from + at), bytes = load<std::uint64_t>(from + at + 8);
    at += 16;
    Shape shape = part.shape;
    std::uint64_t expected = part.item;
    bool overflow = false;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == dynamic) {
        shape[axis] = load<std::int64_t>(from + at);
        at += 8;
        if (shape[axis] < 0) throw Damage{"a field has a negative dimension", at - 8};
      }
      overflow |= __builtin_mul_overflow(expected, static_cast<std::uint64_t>(shape[axis]), &expected);
    }
    if (begin < header_ || begin > record.size() || bytes > record.size() - begin)
      throw Damage{"a field lies outside of the record", entry};
    if (overflow || bytes != expected) throw Damage{"a field's size does not agree with its shape", entry};

    const std::byte* const value = from + begin;
    if (reinterpret_cast<std::uintptr_t>(value) % part.item == 0) {
      out.view(slot, value, shape);
    } else {
      // The value is not aligned, because LMDB stores small values at any address.
      const TensorView copy = out.emplace(slot, shape);
      std::memcpy(copy.data, value, static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace penstock::lmdb
