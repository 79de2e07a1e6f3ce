// SPDX-License-Identifier: Apache-2.0
#include "tar_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace penstock::webdataset {

namespace {

struct FieldRange {
  std::size_t offset, bytes;
};
constexpr FieldRange name_range{0, 100}, mode_range{100, 8}, uid_range{108, 8}, gid_range{116, 8}, size_range{124, 12},
    mtime_range{136, 12}, checksum_range{148, 8}, type_range{156, 1}, magic_range{257, 8}, device_major_range{329, 8},
    device_minor_range{337, 8}, prefix_range{345, 155}, star_prefix_range{345, 131}, star_mark_range{508, 4};
constexpr std::string_view posix_magic{"ustar\0", 6};
constexpr std::string_view star_mark{"tar\0", 4};
constexpr std::uint64_t largest_octal_size = (std::uint64_t{1} << 33) - 1;  // 11 digits
constexpr std::uint64_t largest_size = ~std::uint64_t{0} >> 1;

std::string_view bytes_at(TarBlockView block, FieldRange range) noexcept {
  return {block.data() + range.offset, range.bytes};
}

std::string_view until_zero(std::string_view text) noexcept { return text.substr(0, text.find('\0')); }

// Reads octal digits, with spaces before them, and spaces and zero bytes after them. Returns 0 for an empty field.
// Returns nothing if the field has other content, or if the number is too large.
std::optional<std::uint64_t> octal(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::uint64_t number = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '7') {
    if (number >> 60 != 0) return std::nullopt;
    number = number << 3 | static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  if (text.find_first_not_of(std::string_view(" \0", 2)) != std::string_view::npos) return std::nullopt;
  return number;
}

// Reads a number in GNU's form, for numbers that 11 octal digits can't hold. The first bit is set, and the rest is a
// big-endian number in two's complement.
std::optional<std::uint64_t> base256(std::string_view text) noexcept {
  // Any other first byte means that the number is negative, or at least 2^88.
  if (static_cast<unsigned char>(text.front()) != 0x80) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text.substr(1)) {
    if (number >> 55 != 0) return std::nullopt;
    number = number << 8 | static_cast<unsigned char>(c);
  }
  return number;
}

std::optional<std::uint64_t> number_at(TarBlockView block, FieldRange range) noexcept {
  const std::string_view text = bytes_at(block, range);
  return (static_cast<unsigned char>(text.front()) & 0x80) != 0 ? base256(text) : octal(text);
}

template <class Byte>
std::int64_t sum_of(TarBlockView block) noexcept {
  std::int32_t sum = 0, own = 0;
  for (const char c : block) sum += static_cast<Byte>(c);
  for (const char c : bytes_at(block, checksum_range)) own += static_cast<Byte>(c) - ' ';
  return sum - own;
}

void put_octal(TarBlock& block, FieldRange range, std::uint64_t number) noexcept {
  for (std::size_t at = range.bytes - 1; at-- > 0; number >>= 3)
    block[range.offset + at] = static_cast<char>('0' + (number & 7));
}

// Returns where to cut a name so that its parts fit into the header's fields prefix and name. Returns 0 if the whole
// name fits into the field name. Returns nothing if the name does not fit, however it is cut.
std::optional<std::size_t> cut_of(std::string_view name) noexcept {
  if (name.size() <= name_range.bytes) return 0;
  const std::size_t slash = name.find('/', name.size() - std::min(name.size(), name_range.bytes + 1));
  if (slash == std::string_view::npos || slash == 0 || slash > prefix_range.bytes || slash + 1 == name.size())
    return std::nullopt;
  return slash;
}

void append_block(std::string& out, std::string_view prefix, std::string_view name, std::uint64_t size, char type) {
  TarBlock block{};
  const auto put = [&](FieldRange range, std::string_view text) {
    text.copy(block.data() + range.offset, range.bytes);
  };
  put(name_range, name);
  put(prefix_range, prefix);
  put_octal(block, mode_range, 0644);
  put_octal(block, uid_range, 0);
  put_octal(block, gid_range, 0);
  put_octal(block, size_range, size);
  put_octal(block, mtime_range, 0);
  put_octal(block, device_major_range, 0);
  put_octal(block, device_minor_range, 0);
  put(magic_range, std::string_view("ustar\00000", 8));
  block[type_range.offset] = type;
  const auto sum = static_cast<std::uint64_t>(sum_of<unsigned char>(block));
  put_octal(block, {checksum_range.offset, checksum_range.bytes - 1}, sum);
  block[checksum_range.offset + checksum_range.bytes - 1] = ' ';
  out.append(block.data(), block.size());
}

// Returns a pax record, like "25 path=..." with a line feed. The number at its beginning is the length of the whole
// record, including the number's own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // space, '=' and line feed
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  std::string record = std::to_string(length) + " ";
  record += key;
  record += '=';
  record += value;
  record += '\n';
  return record;
}

}  // namespace

bool is_zero(TarBlockView block) noexcept {
  return block.front() == 0 && std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0;
}

bool has_checksum(TarBlockView block) noexcept {
  const auto wanted = octal(bytes_at(block, checksum_range));
  if (!wanted || is_zero(block)) return false;
  // Some old systems computed the checksum from signed bytes.
  const auto sum = static_cast<std::int64_t>(*wanted);
  return sum == sum_of<unsigned char>(block) || sum == sum_of<signed char>(block);
}

TarHeader parse_header(TarBlockView block) {
  if (!has_checksum(block))
    throw TarDamage{"the member's header is damaged: its checksum differs", checksum_range.offset};
  TarHeader header;
  header.type = block[type_range.offset];
  const auto size = number_at(block, size_range);
  if (!size || *size > largest_size) throw TarDamage{"the member's size is not a number below 2^63", size_range.offset};
  header.size = *size;
  if (bytes_at(block, magic_range).starts_with(posix_magic)) {
    const bool star = bytes_at(block, star_mark_range) == star_mark;
    header.name = until_zero(bytes_at(block, star ? star_prefix_range : prefix_range));
    if (!header.name.empty()) header.name += '/';
  }
  header.name += until_zero(bytes_at(block, name_range));
  return header;
}

void parse_pax(std::string_view data, PaxRecords& records) {
  const std::size_t whole = data.size();
  while (!data.empty()) {
    const std::size_t at = whole - data.size();
    // Zero bytes may follow the last record, because some writers count the block's padding as data.
    if (data.front() == '\0' && data.find_first_not_of('\0') == std::string_view::npos) return;
    std::uint64_t length = 0;
    const auto [end, failed] = std::from_chars(data.data(), data.data() + data.size(), length);
    const auto digits = static_cast<std::size_t>(end - data.data());
    if (failed != std::errc() || digits + 3 > length || length > data.size() || *end != ' ' || data[length - 1] != '\n')
      throw TarDamage{"the extended header's records are damaged", at};
    const std::string_view record = data.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) throw TarDamage{"a record of the extended header has no '='", at};
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") {
      records.path = value;
    } else if (key == "size") {
      std::uint64_t size = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), size);
      if (value.empty() || parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || size > largest_size)
        throw TarDamage{"the member's size is not a number below 2^63", at};
      records.size = size;
    } else if (key == "GNU.sparse.name") {
      records.sparse = true;
      records.sparse_name = value;
    } else if (key.starts_with("GNU.sparse.") || key == "SCHILY.realsize") {
      records.sparse = true;
    }
    data.remove_prefix(length);
  }
}

std::string make_header(std::string_view name, std::uint64_t size) {
  const auto cut = cut_of(name);
  const bool large = size > largest_octal_size;
  std::string out;
  if (!cut || large) {
    std::string records;
    if (!cut) records += pax_record("path", name);
    if (large) records += pax_record("size", std::to_string(size));
    append_block(out, {}, "PaxHeader", records.size(), 'x');
    out += records;
    out.append(padding_of(records.size()), '\0');
  }
  const std::string_view prefix = cut ? name.substr(0, *cut) : std::string_view();
  const std::string_view rest = cut && *cut != 0 ? name.substr(*cut + 1) : name;
  append_block(out, prefix, rest, large ? 0 : size, '0');
  return out;
}

}  // namespace penstock::webdataset
