// SPDX-License-Identifier: Apache-2.0
#include "file/tiff/directory.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "file/byte_order.hpp"
#include "file/errors.hpp"

namespace penstock::slide {

namespace {

enum TiffType : std::uint16_t {
  type_byte = 1,
  type_ascii = 2,
  type_short = 3,
  type_long = 4,
  type_rational = 5,
  type_sbyte = 6,
  type_undefined = 7,
  type_sshort = 8,
  type_slong = 9,
  type_srational = 10,
  type_float = 11,
  type_double = 12,
  type_ifd = 13,
  type_long8 = 16,
  type_slong8 = 17,
  type_ifd8 = 18
};

// Returns how many bytes one value of a type has; 0 if values of this type are not read.
std::uint32_t bytes_of_type(std::uint16_t type) noexcept {
  switch (type) {
    case type_byte:
    case type_ascii:
    case type_sbyte:
    case type_undefined:
      return 1;
    case type_short:
    case type_sshort:
      return 2;
    case type_long:
    case type_slong:
    case type_float:
    case type_ifd:
      return 4;
    case type_rational:
    case type_srational:
    case type_double:
    case type_long8:
    case type_slong8:
    case type_ifd8:
      return 8;
    default:
      return 0;
  }
}

bool has_sign(std::uint16_t type) noexcept {
  return type == type_sbyte || type == type_sshort || type == type_slong || type == type_slong8;
}

bool is_whole_number(std::uint16_t type) noexcept {
  return has_sign(type) || type == type_byte || type == type_short || type == type_long || type == type_ifd ||
         type == type_long8 || type == type_ifd8;
}

}  // namespace

Directory::Directory(TiffFile& file, std::uint64_t offset) : file_(&file) {
  const std::size_t count_bytes = file.big_tiff() ? 8 : 2, number_bytes = file.big_tiff() ? 8 : 4;
  const std::size_t value_at = 4 + number_bytes, entry_bytes = value_at + number_bytes;
  const std::uint64_t count = file.number(offset, count_bytes);
  constexpr std::uint64_t most = 512;  // directories of slides have about forty
  if (count > most)
    throw error_in(file.path(), Errc::corrupt, "a directory has " + std::to_string(count) + " entries", offset);
  begin_ = offset + count_bytes;
  stored_.resize(static_cast<std::size_t>(count) * entry_bytes);
  file.read(stored_, begin_, "a directory");
  for (std::size_t at = 0; at < stored_.size(); at += entry_bytes) {
    const auto number = [&](std::size_t from, std::size_t size) {
      return number_of(std::span(stored_).subspan(at + from, size), file.big_endian());
    };
    Entry entry{static_cast<TiffTag>(number(0, 2)), static_cast<std::uint16_t>(number(2, 2)), number(4, number_bytes),
                begin_ + at + value_at};
    // Values that fit are in the entry itself. Otherwise the entry has their offset.
    const std::uint32_t each = bytes_of_type(entry.type);
    if (each == 0 || entry.count > number_bytes / each) entry.offset = number(value_at, number_bytes);
    entries_.push_back(entry);
  }
}

const Directory::Entry* Directory::find(TiffTag tag) const noexcept {
  const auto found = std::ranges::find(entries_, tag, &Entry::tag);
  return found == entries_.end() || found->count == 0 ? nullptr : &*found;
}

void Directory::fail(const Entry& entry, const std::string& what) const {
  throw error_in(
      file_->path(), Errc::corrupt,
      "its directory can't be read: tag " + std::to_string(static_cast<std::uint16_t>(entry.tag)) + ' ' + what,
      entry.offset);
}

void Directory::fail_type(const Entry& entry, const char* wanted) const {
  fail(entry, "has the type " + std::to_string(entry.type) + ", which is no " + wanted);
}

std::vector<std::byte> Directory::values(const Entry& entry, std::uint64_t count) const {
  // The count is limited, because a product that overflows could pass for a small size.
  const std::uint64_t each = bytes_of_type(entry.type);
  const std::uint64_t bytes = std::min(count, std::numeric_limits<std::uint64_t>::max() / 8) * each;
  if (entry.offset >= begin_ && bytes <= stored_.size() && entry.offset - begin_ <= stored_.size() - bytes) {
    const auto at = stored_.begin() + static_cast<std::ptrdiff_t>(entry.offset - begin_);
    return {at, at + static_cast<std::ptrdiff_t>(bytes)};
  }
  return file_->value(entry.offset, bytes, "the value of tag " + std::to_string(static_cast<std::uint16_t>(entry.tag)));
}

std::uint64_t Directory::count(TiffTag tag) const noexcept {
  const Entry* const entry = find(tag);
  return entry == nullptr ? 0 : entry->count;
}

std::uint64_t Directory::number(TiffTag tag, std::uint64_t otherwise) const {
  constexpr std::uint64_t most = 65535;  // the most values per pixel that TIFF can specify
  if (count(tag) > most) fail(*find(tag), "has " + std::to_string(count(tag)) + " values");
  const std::vector<std::uint64_t> all = numbers(tag, most);
  if (all.empty()) return otherwise;
  if (std::ranges::any_of(all, [&](std::uint64_t one) { return one != all.front(); }))
    fail(*find(tag), "has values that differ");
  return all.front();
}

std::vector<std::uint64_t> Directory::numbers(TiffTag tag, std::uint64_t most) const {
  const Entry* const entry = find(tag);
  if (entry == nullptr) return {};
  if (!is_whole_number(entry->type)) fail_type(*entry, "whole number");
  const std::size_t each = bytes_of_type(entry->type);
  const std::vector<std::byte> stored = values(*entry, std::min(entry->count, most));
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at < stored.size(); at += each) {
    numbers.push_back(number_of(std::span(stored).subspan(at, each), file_->big_endian()));
    if (has_sign(entry->type) && numbers.back() >> (8 * each - 1) != 0) fail(*entry, "has a value below 0");
  }
  return numbers;
}

float Directory::real(TiffTag tag) const {
  const Entry* const entry = find(tag);
  if (entry == nullptr) return 0;
  const std::vector<std::byte> stored = values(*entry, 1);
  const auto part = [&](std::size_t from, std::size_t size) {
    return number_of(std::span(stored).subspan(from, size), file_->big_endian());
  };
  double value = 0;
  if (is_whole_number(entry->type)) {
    const std::uint64_t whole = part(0, stored.size());
    if (!has_sign(entry->type) || whole >> (8 * stored.size() - 1) == 0) value = static_cast<double>(whole);
  } else if (entry->type == type_float) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(part(0, 4)));
  } else if (entry->type == type_double) {
    value = std::bit_cast<double>(part(0, 8));
  } else if (entry->type == type_rational || entry->type == type_srational) {
    constexpr std::uint64_t most_signed = std::numeric_limits<std::int32_t>::max();
    const std::uint64_t over = part(0, 4), under = part(4, 4);
    if (under != 0 && (entry->type == type_rational || (over <= most_signed && under <= most_signed)))
      value = static_cast<double>(over) / static_cast<double>(under);
  }
  return value > 0 && value <= std::numeric_limits<float>::max() ? static_cast<float>(value) : 0;
}

std::string Directory::text(TiffTag tag) const {
  const Entry* const entry = find(tag);
  if (entry == nullptr || bytes_of_type(entry->type) != 1) return {};
  const std::vector<std::byte> stored = values(*entry, entry->count);
  const auto end = std::ranges::find(stored, std::byte{0});
  return {reinterpret_cast<const char*>(stored.data()), static_cast<std::size_t>(end - stored.begin())};
}

std::vector<std::byte> Directory::bytes(TiffTag tag) const {
  const Entry* const entry = find(tag);
  if (entry == nullptr) return {};
  if (bytes_of_type(entry->type) != 1) fail_type(*entry, "bytes");
  return values(*entry, entry->count);
}

std::optional<StoredArray> Directory::array(TiffTag tag) const {
  const Entry* const entry = find(tag);
  if (entry == nullptr || (entry->type != type_short && entry->type != type_long && entry->type != type_long8))
    return std::nullopt;
  return StoredArray{entry->offset, entry->count, bytes_of_type(entry->type)};
}

std::uint64_t Directory::next() const { return file_->number(begin_ + stored_.size(), file_->big_tiff() ? 8 : 4); }

DirectoryChain read_directories(TiffFile& file) {
  // Slides have about a dozen directories.
  constexpr std::size_t most = 64;
  if (file.big_tiff() && (file.number(4, 2) != 8 || file.number(6, 2) != 0))
    throw error_in(file.path(), Errc::corrupt, "it is no BigTIFF file: its offsets don't have 8 bytes", 4);
  DirectoryChain chain;
  std::vector<std::uint64_t> offsets;
  std::uint64_t at = file.big_tiff() ? file.number(8, 8) : file.number(4, 4);
  do {
    try {
      chain.directories.emplace_back(file, at);
      offsets.push_back(at);
      at = chain.directories.back().next();
    } catch (const Error& failed) {
      if (chain.directories.empty() || failed.code() == Errc::io || !failed.sample_scoped()) throw;
      chain.broken_by = failed.cause();
      return chain;
    }
    if (at != 0 && (offsets.size() == most || std::ranges::find(offsets, at) != offsets.end())) {
      chain.broken_by = "there are more than " + std::to_string(offsets.size()) + " directories, or they go round";
      return chain;
    }
  } while (at != 0);
  return chain;
}

}  // namespace penstock::slide
