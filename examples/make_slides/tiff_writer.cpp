// SPDX-License-Identifier: Apache-2.0
#include "tiff_writer.hpp"

#include <algorithm>
#include <utility>

namespace make_slides {

namespace {

// Collects numbers as bytes, in the file's order of bytes.
class TiffBytes {
 public:
  explicit TiffBytes(bool big_endian) : big_endian_(big_endian) {}
  void put(std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      out_.push_back(static_cast<std::byte>(number >> 8 * (big_endian_ ? bytes - 1 - i : i)));
  }
  void fill_to(std::size_t size) { out_.resize(size); }
  std::size_t size() const noexcept { return out_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  bool big_endian_;
  std::vector<std::byte> out_;
};

constexpr std::uint64_t whole_eights(std::uint64_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
constexpr std::size_t offset_bytes(const TiffForm& form) noexcept { return form.big ? 8 : 4; }

}  // namespace

std::size_t TiffDirectory::value_bytes(TiffType type, const TiffForm& form) noexcept {
  switch (type) {
    case TiffType::shorts:
      return 2;
    case TiffType::longs:
    case TiffType::rationals:
      return 4;
    case TiffType::directories:
    case TiffType::offsets:
      return offset_bytes(form);
    case TiffType::ascii:
    case TiffType::undefined:
      break;
  }
  return 1;
}

std::uint64_t TiffDirectory::all_bytes(const Entry& entry, const TiffForm& form) noexcept {
  return entry.values.size() * value_bytes(entry.type, form);
}

// Returns the bytes of a directory's table: the number of entries, the entries, and the offset of the next directory.
std::uint64_t TiffDirectory::table_bytes(std::size_t entries, const TiffForm& form) noexcept {
  return form.big ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
}

void TiffDirectory::set(TiffTag tag, TiffType type, std::vector<std::uint64_t> values) {
  const auto place = std::ranges::lower_bound(entries_, tag, {}, &Entry::tag);
  if (place != entries_.end() && place->tag == tag)
    *place = {tag, type, std::move(values)};
  else
    entries_.insert(place, {tag, type, std::move(values)});
}

void TiffDirectory::set_text(TiffTag tag, std::string_view text) {
  std::vector<std::uint64_t> values;
  for (const char c : text) values.push_back(static_cast<unsigned char>(c));
  values.push_back(0);
  set(tag, TiffType::ascii, std::move(values));
}

void TiffDirectory::set_bytes(TiffTag tag, std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> values;
  for (const std::byte b : bytes) values.push_back(std::to_integer<std::uint64_t>(b));
  set(tag, TiffType::undefined, std::move(values));
}

std::uint64_t TiffDirectory::bytes(const TiffForm& form) const noexcept {
  std::uint64_t total = whole_eights(table_bytes(entries_.size(), form));
  for (const Entry& entry : entries_)
    if (const std::uint64_t own = all_bytes(entry, form); own > offset_bytes(form)) total += whole_eights(own);
  return total;
}

std::vector<std::byte> TiffDirectory::written(const TiffForm& form, std::uint64_t at, std::uint64_t next) const {
  TiffBytes table(form.big_endian), outside(form.big_endian);
  const std::uint64_t table_end = whole_eights(table_bytes(entries_.size(), form));
  const std::size_t width = offset_bytes(form);
  table.put(entries_.size(), form.big ? 8 : 2);
  for (const Entry& entry : entries_) {
    const bool in_eights = form.big && (entry.type == TiffType::directories || entry.type == TiffType::offsets);
    const std::uint64_t type = entry.type == TiffType::directories ? (in_eights ? 18 : 13)
                               : entry.type == TiffType::offsets   ? (in_eights ? 16 : 4)
                                                                   : static_cast<std::uint64_t>(entry.type);
    table.put(static_cast<std::uint64_t>(entry.tag), 2);
    table.put(type, 2);
    table.put(entry.values.size() / (entry.type == TiffType::rationals ? 2 : 1), width);
    const bool fits = all_bytes(entry, form) <= width;
    const std::size_t end = table.size() + width;
    if (!fits) table.put(at + table_end + outside.size(), width);
    TiffBytes& out = fits ? table : outside;
    for (const std::uint64_t value : entry.values) out.put(value, value_bytes(entry.type, form));
    table.fill_to(end);
    outside.fill_to(whole_eights(outside.size()));
  }
  table.put(next, width);
  table.fill_to(table_end);
  std::vector<std::byte> all = table.take();
  const std::vector<std::byte> more = outside.take();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::byte> tiff_header(const TiffForm& form, std::uint64_t first_directory) {
  TiffBytes header(form.big_endian);
  header.put(form.big_endian ? 0x4d4d : 0x4949, 2);  // "MM" or "II"
  header.put(form.big ? 43 : 42, 2);
  if (form.big) {
    header.put(8, 2);  // an offset has 8 bytes
    header.put(0, 2);
  }
  header.put(first_directory, offset_bytes(form));
  return header.take();
}

}  // namespace make_slides
