// SPDX-License-Identifier: Apache-2.0
// JPEGs that a GPU's engines decode: libjpeg's pixels, but for roundings of chroma that is upsampled.
#include "support/catch.hpp"

#include <cstdlib>

#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "cuda/gpu_engines.hpp"
#include "cuda/gpu_photos.hpp"

using namespace help;

namespace {

struct Jpegs {
  std::vector<std::vector<std::byte>> files;
  std::uint64_t count = 40;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const { out.view(0, files[i % files.size()]); }
};

std::vector<std::byte> encoded(ps::ImageShape shape, int subsampling, std::uint64_t seed) {
  const penstock_test::Image image = penstock_test::photo(shape, seed);
  return ps::encode_jpeg(ps::Pixels{image.pixels.data(), std::ptrdiff_t{shape.width} * shape.channels, shape},
                         {.quality = 90, .subsampling = subsampling});
}

struct Difference {
  int most = 0;
  double share = 0;  // of the values that differ
};

// How the pixels that a GPU delivers differ from those that the host makes before batch.
Difference difference(const Jpegs& jpegs, const ps::Stage& size, const ps::JpegOptions& options = {}) {
  const ps::Pipeline source = ps::from(jpegs);
  const std::vector<Got> expected = collect(source | ps::decode_jpeg("image") | size | ps::batch(8), {.threads = 2}, 2);
  std::size_t bytes = 0;
  for (const Got& batch : expected) bytes += batch.bytes.size();
  ps::Loader loader(source | ps::batch(8) | ps::decode_jpeg("image", options) | size,
                    {.device = ps::gpu(0), .threads = 2});
  GpuConsumer consumer(bytes);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
  const std::vector<Got> got = consumer.finish();
  REQUIRE(got.size() == expected.size());
  Difference out;
  std::size_t differing = 0;
  for (std::size_t b = 0; b < got.size(); ++b) {
    REQUIRE(got[b].bytes.size() == expected[b].bytes.size());
    for (std::size_t i = 0; i < got[b].bytes.size(); ++i) {
      const int by = std::abs(std::to_integer<int>(got[b].bytes[i]) - std::to_integer<int>(expected[b].bytes[i]));
      out.most = std::max(out.most, by);
      differing += by != 0 ? 1 : 0;
    }
  }
  out.share = static_cast<double>(differing) / static_cast<double>(bytes);
  return out;
}

}  // namespace

TEST_CASE("JPEGs of one size are decoded on a GPU to libjpeg's pixels") {
  PENSTOCK_NEEDS_ENGINES();
  const Watchdog watchdog(240s);
  for (const int subsampling : {444, 422, 420}) {
    CAPTURE(subsampling);
    for (const ps::Size size : {ps::Size{375, 500}, ps::Size{64, 64}, ps::Size{17, 33}}) {
      Jpegs jpegs;
      for (std::uint64_t i = 0; i < 12; ++i)
        jpegs.files.push_back(encoded({size.height, size.width, 3}, subsampling, i));
      const Difference d = difference(jpegs, ps::center_crop("image", size));
      CAPTURE(size.height, size.width);
      CHECK(d.most <= (subsampling == 444 ? 0 : 1));
      CHECK(d.share <= 0.001);
    }
  }
}

TEST_CASE("JPEGs of any kind and size are decoded by a GPU and the loader's threads together") {
  PENSTOCK_NEEDS_ENGINES();
  const Watchdog watchdog(240s);
  Jpegs jpegs;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto h = static_cast<std::int32_t>(40 + i * 11), w = static_cast<std::int32_t>(600 - i * 13);
    jpegs.files.push_back(encoded({h, w, i % 5 == 2 ? 1 : 3}, i % 4 == 3 ? 440 : 420, i));
  }
  const ps::Stage crop = ps::random_resized_crop("image", {48, 64});
  for (const double share : {0.0, 0.3, 1.0}) {
    const Difference d = difference(jpegs, crop, {.host_share = share});
    CAPTURE(share);
    CHECK(d.most <= (share == 1 ? 0 : 2));
    CHECK(d.share <= 0.01);
  }
}

TEST_CASE("a JPEG that is cut off is a bad sample where a GPU decodes the others") {
  PENSTOCK_NEEDS_ENGINES();
  const Watchdog watchdog(240s);
  Jpegs jpegs;
  for (std::uint64_t i = 0; i < 10; ++i) jpegs.files.push_back(encoded({60, 80, 3}, 420, i));
  jpegs.files[3].resize(jpegs.files[3].size() / 2);
  const ps::Pipeline p = ps::from(jpegs) | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(6) |
                         ps::decode_jpeg("image") | ps::resize("image", {32, 32});
  ps::Loader loader(p, {.device = ps::gpu(0), .epochs = 1});
  GpuConsumer consumer;
  std::uint64_t rows = 0;
  for (const ps::Batch& batch : loader.epoch(consumer.ref())) rows += batch.size();
  CHECK(rows == 36);
}

TEST_CASE("memory of a batch that the engines refuse is not written to after that") {
  PENSTOCK_NEEDS_ENGINES();
  const Watchdog watchdog(100s);
  const GpuStream stream;
  const auto batches = ps::jpeg_decoder()->start_batches(ps::gpu(0));
  const ps::ImageShape shape{1000, 1200, 3};
  constexpr std::size_t images = 32, each = 1000 * 1200 * 3;
  constexpr auto written = 0x5a;
  const std::vector<std::byte> sound = encoded(shape, 420, 1);
  std::vector<std::byte> refused = sound;
  // A marker that a baseline file has no use for.
  for (const int byte : {0x00, 0x00, 0x04, 0x00, 0xdc, 0xff})
    refused.insert(refused.begin() + 2, static_cast<std::byte>(byte));
  std::byte* pixels = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&pixels), images * each));
  for (int i = 0; i < 5; ++i) {
    std::vector<ps::BatchDecoding::Image> batch;
    for (std::size_t k = 0; k < images; ++k)
      batch.push_back({k + 1 < images ? sound : refused, shape, pixels + k * each});
    REQUIRE_FALSE(batches->decode(batch, stream.ref()));
    must(cudaMemsetAsync(pixels, written, images * each, stream.handle()));
    stream.synchronize();
    must(cudaDeviceSynchronize());
    std::vector<std::byte> got(images * each);
    must(cudaMemcpy(got.data(), pixels, got.size(), cudaMemcpyDeviceToHost));
    std::size_t others = 0;
    for (const std::byte byte : got) others += byte != std::byte{written} ? 1 : 0;
    CHECK(others == 0);
    batch.back().encoded = sound;
    REQUIRE(batches->decode(batch, stream.ref()));
    stream.synchronize();
    must(cudaMemcpy(got.data(), pixels, got.size(), cudaMemcpyDeviceToHost));
    others = 0;
    for (const std::byte byte : got) others += byte == std::byte{written} ? 1 : 0;
    CHECK(others < got.size() / 10);
  }
  must(cudaFree(pixels));
}
