// SPDX-License-Identifier: Apache-2.0
#include "made_once.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace penstock::bench {

namespace fs = std::filesystem;

namespace {

constexpr int format = 1;  // raise this number when the content of a data set changes

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Store made_once(const fs::path& folder, std::uint64_t records, const std::function<std::string()>& make) {
  const fs::path marker = folder / fmt::format("complete.{}", format);
  if (std::ifstream file(marker); file) {
    std::string description;
    std::getline(file, description);
    return {folder, records, description};
  }
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string description = make();
  progress("");
  const fs::path temporary = folder / "marker.tmp";
  std::ofstream(temporary) << description << '\n';
  fs::rename(temporary, marker);
  return {folder, records, description};
}

void fill_random(std::span<std::byte> out, std::uint64_t seed) {
  std::uint64_t x = mix(seed);
  std::size_t at = 0;
  for (; at + sizeof(x) <= out.size(); at += sizeof(x)) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t word = x ^ (x >> 29);
    std::memcpy(out.data() + at, &word, sizeof(word));
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), std::byte{0x5a});
}

}  // namespace penstock::bench
