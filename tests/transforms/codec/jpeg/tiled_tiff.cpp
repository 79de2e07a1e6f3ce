// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/jpeg/tiled_tiff.hpp"
#include "support/text_in.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

namespace penstock_test {

namespace {

// Classic TIFF with the bytes of numbers in this machine's order, which is that of most files.
class Directories {
 public:
  explicit Directories(std::span<const std::byte> file) : file_(file) {}

  std::vector<TiffLevel> levels() const {
    std::vector<TiffLevel> out;
    for (std::uint32_t at = number<std::uint32_t>(4); at != 0;) {
      std::map<int, std::vector<std::uint32_t>> values;
      const int count = number<std::uint16_t>(at);
      for (int i = 0; i < count; ++i) read_entry(at + 2 + 12 * static_cast<std::uint32_t>(i), values);
      at = number<std::uint32_t>(at + 2 + 12 * static_cast<std::uint32_t>(count));
      if (auto level = level_of(values)) out.push_back(std::move(*level));
    }
    return out;
  }

 private:
  template <class T>
  T number(std::size_t at) const {
    T value{};
    if (at + sizeof value > file_.size()) throw std::runtime_error("the TIFF ends early");
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }

  // Reads the values of a tag; one that holds bytes has their place and size.
  void read_entry(std::size_t at, std::map<int, std::vector<std::uint32_t>>& values) const {
    constexpr int shorts = 3, longs = 4, bytes = 7;
    const int tag = number<std::uint16_t>(at), type = number<std::uint16_t>(at + 2);
    const auto count = number<std::uint32_t>(at + 4);
    if (type == bytes) values[tag] = {number<std::uint32_t>(at + 8), count};
    if (type != shorts && type != longs) return;
    const std::uint32_t size = type == shorts ? 2 : 4;
    const std::size_t place = count * size <= 4 ? at + 8 : number<std::uint32_t>(at + 8);
    for (std::uint32_t i = 0; i < count; ++i)
      values[tag].push_back(type == shorts ? number<std::uint16_t>(place + i * size)
                                           : number<std::uint32_t>(place + i * size));
  }

  std::optional<TiffLevel> level_of(std::map<int, std::vector<std::uint32_t>>& values) const {
    constexpr int compression = 259, photometric = 262, tile_width = 322, tile_height = 323, offsets = 324, sizes = 325,
                  tables = 347;
    if (!values.contains(offsets) || values[compression] != std::vector<std::uint32_t>{7}) return std::nullopt;
    TiffLevel level{static_cast<int>(values[photometric].at(0)),
                    static_cast<std::int32_t>(values[tile_width].at(0)),
                    static_cast<std::int32_t>(values[tile_height].at(0)),
                    {},
                    {}};
    if (values.contains(tables)) level.tables = file_.subspan(values[tables].at(0), values[tables].at(1));
    for (std::size_t i = 0; i < values[offsets].size(); ++i)
      level.tiles.push_back(file_.subspan(values[offsets][i], values[sizes].at(i)));
    return level;
  }

  std::span<const std::byte> file_;
};

}  // namespace

std::vector<TiledTiff> tiled_tiffs() {
  std::vector<TiledTiff> out;
  const char* const folder = std::getenv("PENSTOCK_SLIDES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".svs") && !name.ends_with(".tif")) continue;
    if (name.find("unreadable") != name.npos) continue;
    const std::string text = text_in(entry.path());
    TiledTiff tiff{name, Bytes(text.size()), {}};
    std::memcpy(tiff.bytes.data(), text.data(), text.size());
    if (!text.starts_with(std::string("II*\0", 4))) continue;
    tiff.levels = Directories(tiff.bytes).levels();
    if (!tiff.levels.empty()) out.push_back(std::move(tiff));
  }
  return out;
}

Bytes whole_file(std::span<const std::byte> tile, const TiffLevel& level) {
  constexpr unsigned char marker[] = {0xff, 0xd8, 0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0};
  Bytes out;
  for (const unsigned char c : marker) out.push_back(std::byte{c});
  out.push_back(level.photometric == 2 ? std::byte{0} : std::byte{1});
  if (!level.tables.empty()) out.insert(out.end(), level.tables.begin() + 2, level.tables.end() - 2);
  out.insert(out.end(), tile.begin() + 2, tile.end());
  return out;
}

}  // namespace penstock_test
