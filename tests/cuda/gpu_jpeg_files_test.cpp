// SPDX-License-Identifier: Apache-2.0
// What a header lets through to a GPU's engines for JPEGs: none of it may be refused there, as that would end an epoch.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "cuda/gpu_engines.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/baseline/mutant.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace help;
using penstock_test::Bytes;
using penstock_test::Image;
using penstock_test::Numbers;

namespace {

Bytes some_file(Numbers& numbers) {
  const bool gray = numbers.below(5) == 0;
  const ps::ImageShape shape{numbers.from(1, 90), numbers.from(1, 90), gray ? 1 : 3};
  penstock_test::PlainJpeg options;
  options.quality = numbers.from(5, 100);
  options.luma = gray || numbers.coin() ? std::array{1, 1} : std::array{2, numbers.from(1, 2)};
  options.tables_of_each = !gray && numbers.below(4) == 0;
  options.optimized = numbers.coin();
  options.restart_interval = numbers.coin() ? 0 : numbers.from(1, 9);
  options.jfif = numbers.below(4) != 0;
  options.adobe = numbers.below(6) == 0;
  if (numbers.coin()) options.markers.emplace_back(numbers.from(0xe1, 0xed), std::string(50, 'x'));
  return penstock_test::plain_encode(penstock_test::photo(shape, numbers.next()), options);
}

std::size_t end_of_header(const Bytes& file) {
  const std::size_t scan = penstock_test::segment(file, 0xda);
  return scan + 2 + (std::to_integer<std::size_t>(file[scan + 2]) << 8 | std::to_integer<std::size_t>(file[scan + 3]));
}

// Segments that come twice or in another order, and fill bytes before them.
Bytes rearranged(Bytes file, Numbers& numbers) {
  for (int changes = numbers.from(1, 2); changes > 0; --changes) {
    std::vector<std::pair<std::size_t, std::size_t>> segments;
    for (std::size_t i = 2; std::to_integer<int>(file[i + 1]) != 0xda;) {
      const std::size_t length =
          2 + (std::to_integer<std::size_t>(file[i + 2]) << 8 | std::to_integer<std::size_t>(file[i + 3]));
      segments.emplace_back(i, length);
      i += length;
    }
    const auto any = [&] { return segments[std::size_t(numbers.below(std::int32_t(segments.size())))]; };
    const auto [from, length] = any();
    const auto to = file.begin() + std::ptrdiff_t(any().first);
    const Bytes part(file.begin() + std::ptrdiff_t(from), file.begin() + std::ptrdiff_t(from + length));
    if (numbers.coin()) {
      file.insert(to, part.begin(), part.end());
    } else {
      file.insert(to, std::byte{0xff});
      break;
    }
  }
  return file;
}

Bytes with_another_byte(Bytes file, Numbers& numbers) {
  std::byte& one = file[std::size_t(numbers.from(2, std::int32_t(end_of_header(file)) - 1))];
  one = std::byte(numbers.coin() ? numbers.below(256) : std::to_integer<int>(one) + numbers.from(-1, 1));
  return file;
}

}  // namespace

TEST_CASE(
    "a GPU's engines decode what is sent to them, of any header and damage, and sound files to libjpeg's pixels") {
  PENSTOCK_NEEDS_ENGINES();
  const Watchdog watchdog(100s);
  const GpuStream stream;
  const auto batches = ps::jpeg_decoder()->start_batches(ps::gpu(0));
  constexpr std::size_t room = 64 << 20;
  std::byte* pixels = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&pixels), room));
  Numbers numbers(1);
  int sent = 0, sound = 0;
  for (int i = 0; i < 12'000; ++i) {
    Bytes file = some_file(numbers);
    // Damage may leave any pixels.
    const bool damaged = numbers.coin();
    if (damaged)
      file = numbers.coin() ? penstock_test::damaged(file, numbers) : with_another_byte(std::move(file), numbers);
    else if (numbers.coin())
      file = rearranged(std::move(file), numbers);
    const auto decoding = ps::jpeg_decoder()->start();
    ps::ImageShape shape;
    try {
      shape = decoding->open(file);
    } catch (const ps::Error&) {
      continue;
    }
    const std::size_t bytes = std::size_t(shape.height) * std::size_t(shape.width) * 3;
    if (!decoding->for_batches() || bytes > room) continue;
    ++sent;
    CAPTURE(i, shape.height, shape.width);
    const ps::BatchDecoding::Image image{file, shape, pixels};
    REQUIRE_NOTHROW(batches->decode({&image, 1}, stream.ref()));
    stream.synchronize();
    if (damaged) continue;
    ++sound;
    const Image expected = penstock_test::decoded(file);
    std::vector<std::uint8_t> got(bytes);
    must(cudaMemcpy(got.data(), pixels, bytes, cudaMemcpyDeviceToHost));
    int most = 0;
    for (std::size_t b = 0; b < bytes; ++b) most = std::max(most, std::abs(int(got[b]) - int(expected.pixels[b])));
    REQUIRE(most <= 2);
  }
  must(cudaFree(pixels));
  std::printf("%d files were sent to the engines, %d of them sound\n", sent, sound);
  CHECK(sent > 5'000);
  CHECK(sound > 2'500);
}
