// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/jpeg/baseline/mutant.hpp"

#include <algorithm>

namespace penstock_test {

namespace {

std::byte byte_of(std::int32_t value) { return static_cast<std::byte>(value); }

// Where the data of the scan begins.
std::size_t scan_of(const Bytes& file) {
  for (std::size_t i = 2; i + 3 < file.size();) {
    const std::size_t length =
        std::to_integer<std::size_t>(file[i + 2]) << 8 | std::to_integer<std::size_t>(file[i + 3]);
    if (std::to_integer<int>(file[i + 1]) == 0xda) return std::min(file.size(), i + 2 + length);
    i += 2 + length;
  }
  return file.size();
}

}  // namespace

Bytes damaged(const Bytes& file, Numbers& numbers) {
  Bytes bytes = file;
  for (int faults = numbers.below(3) == 0 ? numbers.from(2, 3) : 1; faults > 0 && bytes.size() > 4; --faults) {
    const std::size_t scan = scan_of(bytes);
    const auto size = static_cast<std::int32_t>(bytes.size());
    // Most of the damage is in the scan, some of it near its end, or in the header.
    std::int32_t at = 0;
    if (scan < bytes.size() && numbers.below(4) != 0)
      at = numbers.from(static_cast<std::int32_t>(scan), size - 1);
    else if (numbers.coin())
      at = numbers.from(std::max(2, size - 40), size - 1);
    else
      at = numbers.from(2, size - 1);
    const auto place = bytes.begin() + at;
    const std::int32_t some = std::min(size - at, numbers.from(1, 8));
    switch (numbers.below(10)) {
      case 0:
        *place ^= byte_of(1 << numbers.below(8));
        break;
      case 1:
        *place = byte_of(numbers.below(256));
        break;
      case 2:
        *place = std::byte{0xff};
        break;
      case 3:
        std::generate(place, place + some, [&] { return byte_of(numbers.below(256)); });
        break;
      case 4:
        std::fill(place, place + some, byte_of(numbers.coin() ? 0 : 0xff));
        break;
      case 5:
        bytes.erase(place, place + some);
        break;
      case 6:
        bytes.insert(place, static_cast<std::size_t>(some), byte_of(numbers.below(256)));
        break;
      case 7: {  // a marker: of restarts most often, or the end
        const std::int32_t kind = numbers.below(4);
        const std::byte code = byte_of(kind == 0   ? 0xd9
                                       : kind == 1 ? numbers.from(0xc0, 0xfe)
                                                   : numbers.from(0xd0, 0xd7));
        if (at + 1 < size && numbers.coin()) {
          bytes[static_cast<std::size_t>(at)] = std::byte{0xff};
          bytes[static_cast<std::size_t>(at) + 1] = code;
        } else {
          const std::byte marker[] = {std::byte{0xff}, code};
          bytes.insert(place, marker, marker + 2);
        }
        break;
      }
      case 8:
        bytes.resize(static_cast<std::size_t>(at));
        break;
      default: {  // the numbers of restart markers are exchanged, or one of them is lost
        std::vector<std::size_t> restarts;
        for (std::size_t i = scan; i + 1 < bytes.size(); ++i)
          if (bytes[i] == std::byte{0xff} && (bytes[i + 1] & std::byte{0xf8}) == std::byte{0xd0}) restarts.push_back(i);
        if (restarts.empty()) {
          *place = byte_of(numbers.below(256));
          break;
        }
        const std::size_t one =
            restarts[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(restarts.size())))];
        if (numbers.coin())
          bytes[one + 1] = byte_of(0xd0 + numbers.below(8));
        else
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(one),
                      bytes.begin() + static_cast<std::ptrdiff_t>(one) + 2);
      }
    }
  }
  return bytes;
}

}  // namespace penstock_test
