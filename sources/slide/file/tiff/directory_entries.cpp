#include "file/tiff/directory_entries.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

#include "file/byte_order.hpp"
#include "file/errors.hpp"

namespace penstock::slide {

namespace {

void read_bytes(int descriptor, const std::string& path, std::span<std::byte> out, std::uint64_t offset) {
  // What is no place in any file is none in this one.
  constexpr std::uint64_t end_of_all = std::numeric_limits<std::int64_t>::max();
  errno = 0;
  if (offset < end_of_all - out.size() && read_whole(descriptor, out, offset) == out.size()) return;
  if (errno != 0) throw system_error(errno, "reading", path);
  throw error_in(path, Errc::corrupt, "the file ends in the middle of a directory: it is cut off", offset);
}

std::uint64_t number_at(int descriptor, const std::string& path, const FileForm& form, std::uint64_t offset,
                        std::size_t size) {
  std::array<std::byte, 8> bytes{};
  read_bytes(descriptor, path, std::span(bytes).first(size), offset);
  return number_of(std::span(bytes).first(size), form.big_endian);
}

// How many entries the directory at `offset` has.
std::uint64_t entries_of(int descriptor, const std::string& path, const FileForm& form, std::uint64_t offset) {
  const std::uint64_t entries = number_at(descriptor, path, form, offset, form.big_tiff ? 8 : 2);
  constexpr std::uint64_t most = 512;  // slides have some forty
  if (entries > most)
    throw error_in(path, Errc::corrupt, "a directory has " + std::to_string(entries) + " entries", offset);
  return entries;
}

// 0: no whole number.
std::uint32_t bytes_of_type(std::uint64_t type) {
  constexpr std::uint64_t u16 = 3, u32 = 4, u64 = 16;
  return type == u16 ? 2 : type == u32 ? 4 : type == u64 ? 8 : 0;
}

}  // namespace

FileForm read_form(int descriptor, const std::string& path) {
  std::array<std::byte, 4> head{};
  if (read_whole(descriptor, head, 0) < head.size()) {
    if (errno != 0) throw system_error(errno, "reading", path);
    throw error_in(path, Errc::corrupt, "it is no TIFF file: it has less than 4 bytes");
  }
  const char first = static_cast<char>(head[0]), second = static_cast<char>(head[1]);
  FileForm form;
  form.big_endian = first == 'M';
  const std::uint64_t version = number_of(std::span(head).subspan(2), form.big_endian);
  constexpr std::uint64_t classic = 42, big = 43;
  form.big_tiff = version == big;
  if (first != second || (first != 'M' && first != 'I') || (version != classic && version != big))
    throw error_in(path, Errc::corrupt,
                   "it is no TIFF file: it begins with \"" +
                       printable({reinterpret_cast<const char*>(head.data()), head.size()}) + "\"");
  return form;
}

void check_directory(int descriptor, const std::string& path, const FileForm& form, std::uint64_t offset) {
  (void)entries_of(descriptor, path, form, offset);
}

DirectoryChain find_directories(int descriptor, const std::string& path, const FileForm& form) {
  // Slides have a dozen.
  constexpr std::size_t most = 64;
  DirectoryChain chain;
  std::uint64_t at = number_at(descriptor, path, form, form.big_tiff ? 8 : 4, form.big_tiff ? 8 : 4);
  do {
    try {
      const std::uint64_t entries = entries_of(descriptor, path, form, at);
      const std::uint64_t next = at + (form.big_tiff ? 8 + 20 * entries : 2 + 12 * entries);
      chain.offsets.push_back(at);
      at = number_at(descriptor, path, form, next, form.big_tiff ? 8 : 4);
    } catch (const Error& failed) {
      if (chain.offsets.empty() || !failed.sample_scoped()) throw;
      chain.broken_by = failed.cause();
      return chain;
    }
    if (chain.offsets.size() == most || std::ranges::find(chain.offsets, at) != chain.offsets.end()) {
      chain.broken_by =
          "there are more than " + std::to_string(chain.offsets.size()) + " directories, or they go round";
      return chain;
    }
  } while (at != 0);
  return chain;
}

std::optional<StoredArray> find_array(int descriptor, const std::string& path, const FileForm& form,
                                      std::uint64_t offset, std::uint16_t tag) {
  const std::size_t count_bytes = form.big_tiff ? 8 : 2, entry_bytes = form.big_tiff ? 20 : 12;
  const std::size_t value_bytes = form.big_tiff ? 8 : 4;
  const std::uint64_t entries = entries_of(descriptor, path, form, offset);
  std::vector<std::byte> bytes(static_cast<std::size_t>(entries) * entry_bytes);
  read_bytes(descriptor, path, bytes, offset + count_bytes);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::span<const std::byte> entry = std::span(bytes).subspan(i * entry_bytes, entry_bytes);
    const auto number = [&](std::size_t at, std::size_t size) {
      return number_of(entry.subspan(at, size), form.big_endian);
    };
    if (number(0, 2) != tag) continue;
    StoredArray array;
    array.element_bytes = bytes_of_type(number(2, 2));
    array.count = number(4, value_bytes);
    if (array.element_bytes == 0) return std::nullopt;
    const std::size_t value_at = 4 + value_bytes;
    // What has room in the entry stands in it.
    array.offset = array.count <= value_bytes / array.element_bytes ? offset + count_bytes + i * entry_bytes + value_at
                                                                    : number(value_at, value_bytes);
    return array;
  }
  return std::nullopt;
}

}  // namespace penstock::slide
