// SPDX-License-Identifier: Apache-2.0
#include "photographs.hpp"

#include <string>
#include <utility>

#include "pictures.hpp"
#include "raw_loop.hpp"

namespace penstock::bench {

std::vector<Picture> photographs(const Settings& settings, Size size) {
  const Pictures pictures(settings.photographs);
  std::vector<Picture> all;
  for (std::uint64_t i = 0; i < (settings.quick ? 4u : 40u); ++i) {
    const std::vector<std::uint8_t> whole = pictures.pixels(i, 0);
    std::vector<std::uint8_t> part;
    for (std::int32_t y = 0; y < size.height; ++y) {
      const auto first = whole.begin() + static_cast<std::ptrdiff_t>(y) * picture_size.width * 3;
      part.insert(part.end(), first, first + static_cast<std::ptrdiff_t>(size.width) * 3);
    }
    all.push_back({std::move(part), size, 3});
  }
  return all;
}

Files encoded_all(const std::vector<Picture>& pictures,
                  const std::function<std::vector<std::byte>(const Picture&)>& encode) {
  Files files;
  for (const Picture& picture : pictures) files.push_back(encode(picture));
  return files;
}

Row decoder_beside(const RowSpec& spec, const Settings& settings, const Files& files, const ImageDecoder& decoder,
                   const std::function<const std::uint8_t*(std::span<const std::byte>)>& plain) {
  const auto decoding = decoder.start();
  RawScratch scratch;
  std::vector<std::byte> image;
  std::uint64_t checksum = 0;  // so that the compiler can't leave out a decode
  const auto timed = [&](auto&& decode) {
    const Stopwatch watch;
    for (const std::vector<std::byte>& file : files) checksum += *decode(std::span<const std::byte>(file));
    return Timing{static_cast<double>(files.size()) / watch.wall_s(), watch.cpu_s()};
  };
  Row row = compare(
      spec, settings,
      [&] {
        return timed([&](std::span<const std::byte> file) {
          scratch.reset();
          const ImageShape shape = decoding->open(file);
          image.resize(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
                       shape.pixel_bytes());
          return decoding->decode({0, 0, shape.height, shape.width}, false, image.data(), scratch).data;
        });
      },
      [&] { return timed(plain); });
  std::size_t bytes = 0;
  for (const auto& file : files) bytes += file.size();
  row.notes.push_back(std::to_string(files.size()) + " files, " + std::to_string(bytes / files.size()) + " bytes each");
  if (checksum == 0) row.notes.push_back("all pictures are black?");
  return row;
}

}  // namespace penstock::bench
