// SPDX-License-Identifier: Apache-2.0
#include "file/identity/dicom.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

#include "file/byte_order.hpp"
#include "file/errors.hpp"
#include "file/identity/file_mark.hpp"

namespace penstock::slide {

namespace {

constexpr std::size_t preamble = 128, begin_of_elements = 132;

struct Tag {
  std::uint16_t group = 0, element = 0;
  friend auto operator<=>(const Tag&, const Tag&) = default;
};
constexpr Tag transfer_syntax{0x0002, 0x0010}, series_instance{0x0020, 0x000e};
constexpr Tag item{0xfffe, 0xe000}, end_of_item{0xfffe, 0xe00d}, end_of_sequence{0xfffe, 0xe0dd};

// Reads the elements of a DICOM file, one after the other. Numbers are little-endian. If the length of a sequence is
// unknown, the elements inside of it are read one by one.
class Elements {
 public:
  explicit Elements(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Returns the identifier of the series. Returns an empty text if the bytes lack the identifier.
  std::string series() {
    while (next()) {
      if (depth_ != 0 || tag_.group == item.group) continue;
      if (tag_ == transfer_syntax) without_types_ = text() == "1.2.840.10008.1.2";
      if (tag_ == series_instance) return text();
      if (tag_ > series_instance) return {};
    }
    return {};
  }

 private:
  std::uint64_t number(std::size_t at, std::size_t size) const { return number_of(bytes_.subspan(at, size), false); }
  std::string_view type_at(std::size_t at) const { return {reinterpret_cast<const char*>(bytes_.data()) + at, 2}; }
  std::string text() const {
    std::string_view value{reinterpret_cast<const char*>(value_.data()), value_.size()};
    while (!value.empty() && (value.back() == '\0' || value.back() == ' ')) value.remove_suffix(1);
    return std::string(value);
  }

  // Goes to the next element. Returns false at the end of the bytes.
  bool next() {
    constexpr std::uint64_t unknown = 0xffffffff;
    if (bytes_.size() - at_ < 8) return false;
    tag_ = {static_cast<std::uint16_t>(number(at_, 2)), static_cast<std::uint16_t>(number(at_ + 2, 2))};
    std::uint64_t length = number(at_ + 4, 4);
    at_ += 8;
    if (tag_ == item || tag_ == end_of_item || tag_ == end_of_sequence) {
      // An item is not skipped. The elements in it come next.
      if (tag_ == end_of_sequence && depth_ != 0) --depth_;
      value_ = {};
      return true;
    }
    // The elements that describe the file itself always have types.
    if (!without_types_ || tag_.group == transfer_syntax.group) {
      const std::string_view type = type_at(at_ - 4);
      constexpr std::array<std::string_view, 13> long_types{"OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                                            "SV", "UC", "UN", "UR", "UT", "UV"};
      bool is_long = false;
      for (const std::string_view one : long_types) is_long = is_long || one == type;
      length = number(at_ - 2, 2);
      if (is_long) {
        if (bytes_.size() - at_ < 4) return false;
        length = number(at_, 4);
        at_ += 4;
      }
    }
    if (length == unknown) {
      ++depth_;
      value_ = {};
      return true;
    }
    if (length > bytes_.size() - at_) return false;
    value_ = bytes_.subspan(at_, static_cast<std::size_t>(length));
    at_ += static_cast<std::size_t>(length);
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t depth_ = 0;  // number of open sequences of unknown length
  Tag tag_;
  std::span<const std::byte> value_;
  bool without_types_ = false;
};

}  // namespace

bool is_dicom(int descriptor, const std::string& path) {
  std::array<std::byte, 4> mark{};
  if (read_whole(descriptor, mark, preamble) < mark.size()) {
    if (errno != 0) throw system_error(errno, "reading", path);
    return false;
  }
  return std::string_view(reinterpret_cast<const char*>(mark.data()), mark.size()) == "DICM";
}

std::string dicom_series(const std::string& path) {
  const auto file = open_file(path);
  if (!is_dicom(file->get(), path)) return {};
  for (const std::size_t most : {std::size_t{16} << 10, std::size_t{1} << 20}) {
    std::vector<std::byte> bytes(most);
    errno = 0;
    const std::size_t there = read_whole(file->get(), bytes, begin_of_elements);
    if (there < most && errno != 0) throw system_error(errno, "reading", path);
    if (std::string series = Elements(std::span(bytes).first(there)).series(); !series.empty()) return series;
    if (there < most) break;
  }
  return {};
}

}  // namespace penstock::slide
