// SPDX-License-Identifier: Apache-2.0
// Malformed JPEGs among good ones in an LMDB, through every policy: no good sample's bits change.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Bytes = std::vector<std::byte>;

struct Pictures {
  std::shared_ptr<const std::vector<Bytes>> files;
  std::uint64_t size() const { return files->size(); }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}}; }
  std::string name() const { return "pictures"; }
  void read(std::uint64_t i, SampleBuilder& out) const { out.view("image", (*files)[i]); }
};

// Whether the whole file decodes without a word, asked of the codec alone.
bool is_whole(const Bytes& file) {
  const auto decoding = jpeg_decoder()->start();
  TestScratch scratch;
  try {
    const ImageShape shape = decoding->open(file);
    if (std::uint64_t(shape.height) * std::uint64_t(shape.width) * 3 > CheckOptions{}.max_sample_bytes) return false;
    decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Three good pictures, one of `others`, and so on; in an LMDB, and once more with pictures in place of what is broken.
struct Mixture {
  explicit Mixture(const std::vector<Bytes>& others) {
    std::vector<Bytes> pictures;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto step = static_cast<std::int32_t>(i);
      pictures.push_back(encode_jpeg(photo({40 + step * 7 % 50, 44 + step * 11 % 60, i % 5 == 4 ? 1 : 3}, i).view(),
                                     {.progressive = i % 4 == 3}));
    }
    std::vector<Bytes> stored, whole;
    for (const Bytes& other : others) {
      for (int i = 0; i < 3; ++i) stored.push_back(pictures[stored.size() % pictures.size()]);
      stored.push_back(other);
    }
    for (const Bytes& file : stored) {
      good.push_back(is_whole(file));
      whole.push_back(good.back() ? file : pictures[0]);
    }
    LmdbSink sink({.path = folder / "store", .records = LmdbRecords::raw});
    write(from(Pictures{std::make_shared<const std::vector<Bytes>>(std::move(stored))}), sink);
    reference = {std::make_shared<const std::vector<Bytes>>(std::move(whole))};
  }
  std::uint64_t broken() const { return static_cast<std::uint64_t>(std::ranges::count(good, false)); }
  Pipeline store() const { return from(Lmdb{.path = folder / "store"}); }

  TempFolder folder;
  std::vector<bool> good;
  Pictures reference;
};

constexpr std::uint64_t rows = 32;

Pipeline training(const Pipeline& source, std::uint64_t seed_value, OnError policy, bool verify) {
  return source | seed(seed_value) | shuffle() | decode_jpeg() | random_resized_crop("image", {24, 28}) |
         random_flip("image") | check({.verify = verify}) | on_error({.policy = policy}) | batch(rows);
}

struct Row {
  std::uint64_t index;
  std::uint8_t mask;
  Bytes pixels;
  friend bool operator==(const Row&, const Row&) = default;
};

struct Epoch {
  std::vector<Row> rows;
  std::optional<Error> error;
};

Epoch run(const Pipeline& pipeline, unsigned threads) {
  Epoch epoch;
  Loader loader(pipeline, {.threads = threads, .epochs = 1});
  try {
    for (const Batch& batch : loader.epoch()) {
      const TensorView images = batch["image"];
      const std::size_t bytes = images.bytes() / batch.size();
      for (std::size_t row = 0; row < batch.size(); ++row)
        epoch.rows.push_back({batch.indices()[row], batch.mask()[row],
                              Bytes(images.data + row * bytes, images.data + (row + 1) * bytes)});
    }
  } catch (const Error& error) {
    epoch.error = error;
  }
  return epoch;
}

bool zeros(const Bytes& bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

void check_policies(const Mixture& mixture, std::uint64_t seed_value) {
  for (const bool verify : {false, true}) {
    CAPTURE(seed_value, verify);
    const Epoch expected = run(training(from(mixture.reference), seed_value, OnError::fail, verify), 2);
    REQUIRE_FALSE(expected.error);
    REQUIRE(expected.rows.size() == mixture.good.size());
    // Until one is refused: without `verify`, a crop may lie outside of the damage.
    std::size_t first_refused = 0;

    for (const unsigned threads : {1u, 3u}) {
      const Epoch masked = run(training(mixture.store(), seed_value, OnError::mask, verify), threads);
      REQUIRE_FALSE(masked.error);
      REQUIRE(masked.rows.size() == expected.rows.size());
      std::uint64_t refused = 0;
      for (std::size_t i = masked.rows.size(); i-- > 0;) {
        const Row& row = masked.rows[i];
        if (row.index != expected.rows[i].index) FAIL("position " << i << " moved");
        if (mixture.good[row.index] ? row != expected.rows[i] : row.mask == 0 ? !zeros(row.pixels) : verify)
          FAIL("position " << i << ", record " << row.index << ", mask " << int(row.mask));
        if (row.mask == 0) ++refused, first_refused = i;
      }
      if (verify) CHECK(refused == mixture.broken());
      REQUIRE(refused > 0);

      const Epoch replaced = run(training(mixture.store(), seed_value, OnError::replace, verify), threads);
      REQUIRE_FALSE(replaced.error);
      REQUIRE(replaced.rows.size() == expected.rows.size());
      for (std::size_t i = 0; i < replaced.rows.size(); ++i) {
        const Row& row = replaced.rows[i];
        const bool stays = masked.rows[i].mask == 1;
        if (row.mask != 1 || (stays ? row != masked.rows[i] : verify && !mixture.good[row.index]))
          FAIL("position " << i << ", record " << row.index << " for " << masked.rows[i].index);
        if (!stays && row.index == masked.rows[i].index) FAIL("position " << i << " is replaced by itself");
      }

      const Epoch failed = run(training(mixture.store(), seed_value, OnError::fail, verify), threads);
      REQUIRE(failed.error);
      CHECK(failed.rows.size() == first_refused / rows * rows);
      for (std::size_t i = 0; i < failed.rows.size(); ++i)
        if (failed.rows[i] != masked.rows[i]) FAIL("position " << i << " before the failure");
      const std::uint64_t index = expected.rows[first_refused].index;
      const Error& error = *failed.error;
      CAPTURE(error.what());
      CHECK(error.sample_scoped());
      CHECK(error.index() == index);
      CHECK(error.stage().starts_with("decode_jpeg"));
      CHECK(error.source() == "lmdb");
      CHECK(error.key() == std::string(8 - std::to_string(index).size(), '0') + std::to_string(index));
      CHECK(error.file() == mixture.folder / "store/data.mdb");
      CHECK_FALSE(error.cause().empty());
      if (error.code() == Errc::corrupt) CHECK(error.offset());
    }
  }
}

Bytes contents(const std::filesystem::path& file) {
  const std::string text = text_in(file);
  Bytes bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

// What happens to files: cut short, bits flipped, overwritten, exchanged for something else, emptied.
std::vector<Bytes> damaged(std::uint64_t count) {
  Numbers numbers(7);
  std::vector<Bytes> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    Bytes file = encode_jpeg(photo({60, 70, 3}, i).view(), {.progressive = i % 3 == 0});
    const auto size = static_cast<std::int32_t>(file.size());
    const auto at = static_cast<std::size_t>(numbers.below(size));
    switch (i % 6) {
      case 0:
        file.resize(at);
        break;
      case 1:
        file[at] ^= std::byte{1} << numbers.below(8);
        break;
      case 2:
        std::fill(file.begin() + static_cast<std::ptrdiff_t>(at), file.end(), std::byte{0});
        break;
      case 3:
        for (std::byte& b : file) b = static_cast<std::byte>(numbers.below(256));
        break;
      case 4:
        file.clear();
        break;
      default:
        file.erase(file.begin() + static_cast<std::ptrdiff_t>(at));
        break;
    }
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace

TEST_CASE("damaged JPEGs among good ones change no good sample, whatever the policy") {
  const Mixture mixture(damaged(120));
  CHECK(mixture.broken() > 60);
  for (const std::uint64_t seed_value : {1u, 2u, 3u}) check_policies(mixture, seed_value);
}

TEST_CASE("malformed JPEGs of the world among good ones change no good sample, whatever the policy") {
  const char* folder = std::getenv("PENSTOCK_BAD_JPEGS");
  if (folder == nullptr || !std::filesystem::is_directory(folder))
    PENSTOCK_SKIP("PENSTOCK_BAD_JPEGS names no folder: 0 malformed files were tried");
  std::vector<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
  std::ranges::sort(names);
  std::vector<Bytes> files;
  for (const auto& name : names) files.push_back(contents(name));
  const Mixture mixture(files);
  std::printf("%zu malformed JPEGs, %llu of them refused, among %zu records\n", files.size(),
              static_cast<unsigned long long>(mixture.broken()), mixture.good.size());
  CHECK(mixture.broken() > 0);
  check_policies(mixture, 11);
}
