// SPDX-License-Identifier: Apache-2.0
// An HDF5 file whose headers say what a later version of HDF5 writes, with checksums that agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace penstock_test {

// Jenkins's lookup3, of which HDF5's checksums are.
inline std::uint32_t lookup3(std::string_view data) {
  const auto rotated = [](std::uint32_t x, int bits) { return (x << bits) | (x >> (32 - bits)); };
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(data.size()), b = a, c = a;
  const auto add = [&](std::string_view part) {
    std::uint32_t words[3]{};
    std::memcpy(words, part.data(), part.size());
    a += words[0];
    b += words[1];
    c += words[2];
  };
  while (data.size() > 12) {
    add(data.substr(0, 12));
    data.remove_prefix(12);
    a -= c, a ^= rotated(c, 4), c += b;
    b -= a, b ^= rotated(a, 6), a += c;
    c -= b, c ^= rotated(b, 8), b += a;
    a -= c, a ^= rotated(c, 16), c += b;
    b -= a, b ^= rotated(a, 19), a += c;
    c -= b, c ^= rotated(b, 4), b += a;
  }
  if (data.empty()) return c;
  add(data);
  c ^= b, c -= rotated(b, 14);
  a ^= c, a -= rotated(c, 11);
  b ^= a, b -= rotated(a, 25);
  c ^= b, c -= rotated(b, 16);
  a ^= c, a -= rotated(c, 4);
  b ^= a, b -= rotated(a, 14);
  c ^= b, c -= rotated(b, 24);
  return c;
}

// The object header that begins there, of version 2: where its messages begin and end.
struct ForgedHeader {
  std::size_t begin = 0, messages = 0, end = 0;
  bool has_order = false;
};

inline ForgedHeader header_at(const std::string& file, std::size_t begin) {
  const auto flags = static_cast<unsigned char>(file[begin + 5]);
  const std::size_t size_at = begin + 6 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
  const std::size_t size_bytes = std::size_t{1} << (flags & 3);
  std::uint64_t size = 0;
  std::memcpy(&size, file.data() + size_at, size_bytes);
  return {begin, size_at + size_bytes, size_at + size_bytes + size, (flags & 4) != 0};
}

// Sets a byte of the data of the first message of that type in the number-th object header, from 0, of a file that is
// written for the latest version; of the header itself for type -1.
inline void forge(std::string& file, int number, int type, std::size_t byte, unsigned char value) {
  std::size_t at = file.find("OHDR");
  for (; number > 0 && at != std::string::npos; --number) at = file.find("OHDR", at + 4);
  if (at == std::string::npos) throw std::runtime_error("there is no such header");
  const ForgedHeader header = header_at(file, at);
  std::size_t data = header.begin;
  for (std::size_t message = header.messages; type >= 0;) {
    if (message + 4 > header.end) throw std::runtime_error("there is no such message");
    data = message + 4 + (header.has_order ? 2 : 0);
    if (static_cast<unsigned char>(file[message]) == type) break;
    std::uint16_t size = 0;
    std::memcpy(&size, file.data() + message + 1, sizeof size);
    message = data + size;
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, file.data() + header.end, sizeof sum);
  if (sum != lookup3(std::string_view(file).substr(header.begin, header.end - header.begin)))
    throw std::runtime_error("the header's checksum is another one");
  file[data + byte] = static_cast<char>(value);
  sum = lookup3(std::string_view(file).substr(header.begin, header.end - header.begin));
  std::memcpy(file.data() + header.end, &sum, sizeof sum);
}

}  // namespace penstock_test
