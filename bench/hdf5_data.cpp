// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "data.hpp"
#include "made_once.hpp"
#include "pictures.hpp"
#include "plain_hdf5.hpp"

namespace penstock::bench {

namespace {

constexpr std::int32_t side = 96;
constexpr std::size_t patch_bytes = std::size_t{side} * side * 3;

// Pieces of noisy pictures. They compress about as well as patches of slides.
class Patches {
 public:
  explicit Patches(bool photographs) : pictures_(photographs) {}
  std::string source() const { return pictures_.source(); }

  void fill(std::uint64_t first, std::span<std::byte> rows) {
    for (std::size_t at = 0; at < rows.size(); at += patch_bytes, ++first) {
      constexpr std::uint64_t across = picture_size.width / side, down = picture_size.height / side;
      const std::uint64_t picture = first / (across * down), place = first % (across * down);
      if (there_ != picture) load(picture);
      const auto x = static_cast<std::size_t>(place % across) * side,
                 y = static_cast<std::size_t>(place / across) * side;
      for (std::size_t r = 0; r < side; ++r)
        std::memcpy(rows.data() + at + r * side * 3, pixels_.data() + ((y + r) * picture_size.width + x) * 3, side * 3);
    }
  }

 private:
  void load(std::uint64_t picture) {
    progress(fmt::format("cutting pictures: {}", picture));
    pixels_ = pictures_.pixels(picture, 7);
    there_ = picture;
  }

  Pictures pictures_;
  std::vector<std::uint8_t> pixels_;
  std::optional<std::uint64_t> there_;
};

}  // namespace

Store image_hdf5(const Settings& settings) {
  const std::uint64_t records = settings.quick ? 256 : 8192;
  const std::filesystem::path folder =
      settings.data / fmt::format("hdf5-images-{}{}", records, settings.photographs ? "" : "-made-up");
  return made_once(folder, records, [&] {
    Patches patches(settings.photographs);
    const auto rows = [&](std::uint64_t first, std::span<std::byte> out) { patches.fill(first, out); };
    const std::vector<std::uint64_t> dims{records, side, side, 3};
    write_plain_hdf5(folder / "gzip.h5", "x", dims, 32, 4, 32, rows);
    write_plain_hdf5(folder / "contiguous.h5", "x", dims, 0, 0, 32, rows);
    const auto bytes = static_cast<double>(std::filesystem::file_size(folder / "gzip.h5"));
    return fmt::format("{} images of 96x96x3, pieces of {} with noise of sigma 7, gzip 4 in chunks of 32: x{:.2f}",
                       records, patches.source(), bytes / static_cast<double>(records * patch_bytes));
  });
}

Store many_chunks_hdf5(const Settings& settings) {
  const std::uint64_t records = settings.quick ? 4096 : 262'144;
  return made_once(settings.data / fmt::format("hdf5-chunks-{}", records), records, [&] {
    progress(fmt::format("writing {} chunks", records));
    const std::filesystem::path file = settings.data / fmt::format("hdf5-chunks-{}", records) / "chunks.h5";
    write_plain_hdf5(file, "x", {records, 256}, 1, 4, 4096,
                     [](std::uint64_t first, std::span<std::byte> rows) { fill_random(rows, first); });
    return fmt::format("{} chunks of one row of 256 bytes, gzip 4", records);
  });
}

}  // namespace penstock::bench
