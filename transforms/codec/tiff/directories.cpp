// SPDX-License-Identifier: Apache-2.0
#include "directories.hpp"

#include <set>
#include <string>

#include <penstock/error.hpp>

namespace penstock::tiff {

namespace {

// libtiff sorts all its tags again for each tag that it does not know.
constexpr std::uint64_t max_entries = 400;

enum Tag : std::uint64_t {
  new_subfile_type = 254,
  subfile_type = 255,
  image_width = 256,
  image_length = 257,
  photometric = 262,
  strip_offsets = 273,
  tile_offsets = 324,
};

// Bytes of a value of each type; 0 for types that do not exist.
constexpr unsigned type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};

// Numbers at offsets of the file.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> encoded) : encoded_(encoded) {
    if (encoded.size() < 8)
      throw Error(Errc::corrupt, "the TIFF ends inside its header: it is cut off").with_offset(encoded.size());
    big_endian_ = encoded[0] == std::byte{'M'};
    if (encoded[0] != encoded[1] || (!big_endian_ && encoded[0] != std::byte{'I'}))
      throw Error(Errc::corrupt, "the data does not begin like a TIFF").with_offset(0);
    const std::uint64_t version = number(2, 2);
    if (version != 42 && version != 43)
      throw Error(Errc::corrupt, "the data does not begin like a TIFF").with_offset(2);
    big_ = version == 43;
  }

  bool big() const { return big_; }
  std::uint64_t size() const { return encoded_.size(); }
  // Callers check first that the file has these bytes.
  std::uint64_t number(std::uint64_t at, unsigned bytes) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      const unsigned place = big_endian_ ? bytes - 1 - i : i;
      value |= std::to_integer<std::uint64_t>(encoded_[static_cast<std::size_t>(at) + i]) << (8 * place);
    }
    return value;
  }
  void require(std::uint64_t at, std::uint64_t bytes, const char* what) const {
    if (at <= size() && bytes <= size() - at) return;
    throw Error(Errc::corrupt, std::string("the TIFF ends before ") + what + ": it is cut off or damaged")
        .with_offset(size());
  }

 private:
  std::span<const std::byte> encoded_;
  bool big_endian_ = false, big_ = false;
};

// Goes through the directories in the order of their list.
class Walk {
 public:
  explicit Walk(std::span<const std::byte> encoded) : bytes_(encoded) {
    if (bytes_.big()) {
      bytes_.require(8, 8, "its first directory");
      if (bytes_.number(4, 2) != 8 || bytes_.number(6, 2) != 0)
        throw Error(Errc::corrupt, "the BigTIFF has offsets of another size than 8 bytes").with_offset(4);
      next_ = bytes_.number(8, 8);
    } else {
      next_ = bytes_.number(4, 4);
    }
    if (next_ == 0) throw Error(Errc::corrupt, "the TIFF has no directory").with_offset(4);
  }

  // Reads the next directory. Returns false if the list has ended.
  bool next() {
    if (next_ == 0) return false;
    const unsigned count_bytes = bytes_.big() ? 8 : 2, entry_bytes = bytes_.big() ? 20 : 12,
                   offset_bytes = bytes_.big() ? 8 : 4;
    found = Directory();
    found.offset = next_;
    is_page = true;
    bytes_.require(next_, count_bytes, "one of its directories");
    const std::uint64_t entries = bytes_.number(next_, count_bytes);
    if (entries > max_entries)
      throw Error(Errc::limit_exceeded, "a directory of the TIFF declares " + std::to_string(entries) +
                                            " tags, and at most " + std::to_string(max_entries) + " are read")
          .with_offset(next_);
    const std::uint64_t all = count_bytes + entries * entry_bytes + offset_bytes;
    bytes_.require(next_, all, "the end of one of its directories");
    walked_ += all;
    if (!seen_.insert(next_).second || walked_ > bytes_.size())
      throw Error(Errc::corrupt, "the TIFF's directories overlap, or their list has no end").with_offset(next_);
    values_ = 0;
    const std::uint64_t first = next_ + count_bytes;
    for (std::uint64_t i = 0; i < entries; ++i) read_entry(first + i * entry_bytes);
    if (values_ > bytes_.size())
      throw Error(Errc::corrupt, "the tags of a directory declare more values than the TIFF has").with_offset(next_);
    next_ = bytes_.number(first + entries * entry_bytes, offset_bytes);
    return true;
  }

  Directory found;
  bool is_page = true;

 private:
  void read_entry(std::uint64_t at) {
    const std::uint64_t tag = bytes_.number(at, 2), type = bytes_.number(at + 2, 2);
    const unsigned count_bytes = bytes_.big() ? 8 : 4, each = type < std::size(type_bytes) ? type_bytes[type] : 0;
    const std::uint64_t count = bytes_.number(at + 4, count_bytes), value_at = at + 4 + count_bytes;
    if (each == 0) return;
    if (count > bytes_.size() / each)
      throw Error(Errc::corrupt, "a tag of the TIFF declares more values than there are bytes").with_offset(at);
    if (count * each > count_bytes) {
      values_ += count * each;
      bytes_.require(bytes_.number(value_at, count_bytes), count * each, "the values of one of its tags");
    }
    if (tag == strip_offsets || tag == tile_offsets) found.chunks = count;
    if (count != 1 || each > count_bytes) return;
    const std::uint64_t value = bytes_.number(value_at, each);
    if (tag == image_width) found.width = value;
    if (tag == image_length) found.height = value;
    if (tag == photometric) found.meaning = value;
    // Bit 0: a reduced image; bit 2: a mask.
    if ((tag == new_subfile_type && (value & 5) != 0) || (tag == subfile_type && value == 2)) is_page = false;
  }

  Bytes bytes_;
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> seen_;  // offsets of all directories so far
  std::uint64_t walked_ = 0;      // bytes of all directories so far
  std::uint64_t values_ = 0;      // bytes of the current one's values outside of its entries
};

}  // namespace

Directory find_page(std::span<const std::byte> encoded, std::optional<std::uint32_t> page) {
  Walk walk(encoded);
  Directory found;
  std::uint64_t pages = 0;
  while (walk.next()) {
    if (!walk.is_page) continue;
    if (pages++ != page.value_or(0)) continue;
    found = walk.found;
    if (page) return found;
  }
  if (page || pages == 0)
    throw Error(Errc::unsupported, "the TIFF has " + std::to_string(pages) + (pages == 1 ? " page" : " pages") +
                                       (page ? ", and `page = " + std::to_string(*page) + "` is not among them"
                                             : ", as all its images are reduced ones or masks"));
  if (pages > 1)
    throw Error(Errc::unsupported,
                "the TIFF has " + std::to_string(pages) + " pages: `page = 0` decodes the first, and so on");
  return found;
}

}  // namespace penstock::tiff
