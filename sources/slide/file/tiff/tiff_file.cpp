// SPDX-License-Identifier: Apache-2.0
#include "file/tiff/tiff_file.hpp"

#include <array>
#include <cerrno>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/byte_order.hpp"
#include "file/errors.hpp"

namespace penstock::slide {

TiffFile::TiffFile(int descriptor, const std::string& path, std::uint64_t bytes)
    : descriptor_(descriptor), path_(path), bytes_(bytes) {
  std::array<std::byte, 4> head{};
  if (bytes < head.size()) throw error_in(path, Errc::corrupt, "it is no TIFF file: it has less than 4 bytes");
  read(head, 0, "its first bytes");
  const char first = static_cast<char>(head[0]), second = static_cast<char>(head[1]);
  big_endian_ = first == 'M';
  const std::uint64_t version = number_of(std::span(head).subspan(2), big_endian_);
  constexpr std::uint64_t classic = 42, big = 43;
  big_tiff_ = version == big;
  if (first != second || (first != 'M' && first != 'I') || (version != classic && version != big))
    throw error_in(path, Errc::corrupt,
                   "it is no TIFF file: it begins with \"" +
                       printable({reinterpret_cast<const char*>(head.data()), head.size()}) + "\"");
}

void TiffFile::check_end(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const {
  if (bytes > bytes_ || offset > bytes_ - bytes)
    throw error_in(path_, Errc::corrupt, "the file ends in the middle of " + what + ": it is cut off", offset);
}

void TiffFile::read(std::span<std::byte> out, std::uint64_t offset, const std::string& what) const {
  check_end(offset, out.size(), what);
  if (read_whole(descriptor_, out, offset) == out.size()) return;
  if (errno != 0) throw system_error(errno, "reading its directory", path_);
  throw error_in(path_, Errc::io, "the file became shorter while it was read");
}

std::uint64_t TiffFile::number(std::uint64_t offset, std::size_t bytes) const {
  std::array<std::byte, 8> stored{};
  const std::span<std::byte> wanted = std::span(stored).first(bytes);
  read(wanted, offset, "a directory");
  return number_of(wanted, big_endian_);
}

std::vector<std::byte> TiffFile::value(std::uint64_t offset, std::uint64_t bytes, const std::string& what) {
  check_end(offset, bytes, what);
  if (bytes > most_of_one || bytes > left_)
    throw error_in(path_, Errc::corrupt,
                   "its directory can't be read: it says that " +
                       (bytes > most_of_one ? "a value has more than " + std::to_string(most_of_one >> 20)
                                            : "its values have more than " + std::to_string(most_of_all >> 20)) +
                       " MiB",
                   offset);
  left_ -= bytes;
  std::vector<std::byte> stored(static_cast<std::size_t>(bytes));
  read(stored, offset, what);
  return stored;
}

}  // namespace penstock::slide
