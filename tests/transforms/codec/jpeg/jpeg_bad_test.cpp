// SPDX-License-Identifier: Apache-2.0
// Real malformed files, where there are any: PENSTOCK_BAD_JPEGS names their folder.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<std::byte> contents(const std::filesystem::path& file) {
  const std::string text = text_in(file);
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

// What the engine does: a size above 256 MiB is refused before anything is decoded.
constexpr std::uint64_t max_sample_bytes = 256 << 20;

std::uint64_t bytes_of(const ImageShape& s) {
  return std::uint64_t(s.height) * std::uint64_t(s.width) * std::uint64_t(s.channels);
}

}  // namespace

TEST_CASE("malformed JPEGs of the world are refused or decoded") {
  const char* folder = std::getenv("PENSTOCK_BAD_JPEGS");
  if (folder == nullptr || !std::filesystem::is_directory(folder))
    PENSTOCK_SKIP("PENSTOCK_BAD_JPEGS names no folder: 0 malformed files were tried");
  const std::vector<std::byte> good = encode_jpeg(photo({60, 70, 3}).view());
  for (const bool accept : {false, true}) {
    const auto decoding = jpeg_decoder({.accept_warnings = accept})->start();
    const auto decode = [&](std::span<const std::byte> bytes) {
      TestScratch scratch;
      const ImageShape shape = decoding->open(bytes);
      if (bytes_of(shape) > max_sample_bytes) throw Error(Errc::limit_exceeded, "larger than a sample may be");
      std::vector<std::byte> out(bytes_of(shape));
      decoding->decode({0, 0, shape.height, shape.width}, true, out.data(), scratch);
      return out;
    };
    const std::vector<std::byte> expected = decode(good);
    std::map<std::string, int> counts;
    int files = 0, images = 0;
    double slowest = 0;
    std::string slowest_file;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::vector<std::byte> bytes = contents(entry.path());
      const std::string file = entry.path().filename().string();
      CAPTURE(file);
      const auto start = std::chrono::steady_clock::now();
      try {
        decode(bytes);
        ++images;
      } catch (const Error& error) {
        REQUIRE(error.sample_scoped());
        ++counts[std::string(to_string(error.code()))];
      }
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (seconds > slowest) slowest = seconds, slowest_file = file;
      // Accepting damage means to work on what is not there.
      if (!accept) REQUIRE(seconds < 1);
      REQUIRE(decode(good) == expected);
      ++files;
    }
    std::printf("bad JPEGs%s: %d files, %d decode", accept ? ", warnings accepted" : "", files, images);
    for (const auto& [code, count] : counts) std::printf(", %d %s", count, code.c_str());
    std::printf("; slowest %.3f s (%s)\n", slowest, slowest_file.c_str());
    CHECK(files > 0);
  }
}
