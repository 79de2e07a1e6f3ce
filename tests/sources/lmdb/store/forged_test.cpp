// SPDX-License-Identifier: Apache-2.0
// Stores that somebody else wrote: checksums are right, and what they say is not.
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using Json = nlohmann::json;

namespace {

const std::string manifest_name("\0penstock", 9);

Pairs small_store(const TempFolder& folder) {
  const Schema schema{{"image", DType::u8, {dynamic, dynamic, 3}, Collate::ragged()},
                      {"box", DType::f32, {dynamic, 4}},
                      {"mask", DType::boolean, {2, 3}},
                      {"label", DType::i64, {}, {}, {"cat", "dog"}}};
  LmdbSink sink({.path = folder / "own", .sync = false});
  sink.open({schema, 3});
  for (std::uint64_t i = 0; i < 3; ++i) {
    OwnedSample sample(schema);
    SampleBuilder out = sample.builder();
    const auto n = static_cast<std::int64_t>(i);
    (void)out.emplace(0, {4 + n, 5, 3});
    (void)out.emplace(1, {n, 4});
    (void)out.emplace(2, {2, 3});
    out.scalar<std::int64_t>("label", n);
    Sample view = sample.sample();
    sink.put({.position = i, .index = i, .key = {}}, view);
  }
  sink.finish();
  return RawLmdb{folder / "own"}.read();
}

// Every record, by the map and by reads. True: all could be read.
bool reads(const TempFolder& folder, const Pairs& pairs) {
  static int stores = 0;
  const std::string path = folder / std::to_string(stores++);
  RawLmdb{path}.write(pairs);
  bool good = true;
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    try {
      const LmdbSource source({.path = path, .access = access});
      (void)source.labels("label");
      for (std::uint64_t i = 0; i < source.size(); ++i) {
        try {
          const OwnedSample sample = read_sample(source, i);
          // All bytes are looked at, for a sanitizer.
          for (const Field& field : source.schema()) (void)text_of(sample[field.name]);
        } catch (const Error&) {
          good = false;
        }
      }
    } catch (const Error&) {
      good = false;
    }
  }
  std::filesystem::remove_all(path);
  return good;
}

void each_value(Json& json, const std::function<void(Json&)>& use) {
  use(json);
  if (json.is_structured())
    for (Json& inner : json) each_value(inner, use);
}

double scale() {
  const char* const text = std::getenv("PENSTOCK_TEST_SCALE");
  return text == nullptr ? 1 : std::atof(text);
}

}  // namespace

TEST_CASE("a manifest of which a value is another is refused, or its store is read, and does no harm") {
  const TempFolder folder;
  Pairs pairs = small_store(folder);
  Json manifest = Json::parse(pairs.at(manifest_name));
  REQUIRE(reads(folder, pairs));
  const std::array<Json, 14> others{nullptr,
                                    true,
                                    0,
                                    -1,
                                    3,
                                    1e300,
                                    std::uint64_t{1} << 63,
                                    "",
                                    "f64",
                                    "u8",
                                    Json::array(),
                                    {},
                                    std::string(100'000, 'x'),
                                    Json::object()};
  int refused = 0;
  each_value(manifest, [&](Json& value) {
    const Json was = value;
    for (const Json& other : others) {
      value = other;
      pairs[manifest_name] = manifest.dump();
      if (!reads(folder, pairs)) ++refused;
    }
    value = was;
  });
  CHECK(refused > 100);
  std::string deep(100'000, '[');
  pairs[manifest_name] = deep + std::string(100'000, ']');
  CHECK_FALSE(reads(folder, pairs));
}

TEST_CASE("a record of which bytes are others, its checksum too, is refused, or read, and does no harm") {
  const TempFolder folder;
  const Pairs pairs = small_store(folder);
  std::mt19937_64 random(7);
  const auto rounds = static_cast<int>(150 * scale());
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    Pairs forged = pairs;
    auto at = forged.begin();
    std::advance(at, 1 + random() % 3);
    auto& [key, record] = *at;
    for (std::uint64_t change = random() % 3 + 1; change != 0; --change) {
      constexpr std::array<std::uint64_t, 8> others{
          0, 1, 15, 24, 0xffffffff, ~std::uint64_t{0}, std::uint64_t{1} << 63, 4096};
      const std::size_t header = 24 + 24 * 4;
      const std::size_t to = random() % std::min(header, record.size() - 8) / 8 * 8;
      const std::uint64_t value = random() % 2 != 0 ? others[random() % others.size()] : random() % (2 * record.size());
      std::memcpy(record.data() + to, &value, sizeof value);
    }
    if (random() % 4 == 0) record.resize(random() % record.size());
    if (record.size() >= 24) {
      std::uint64_t seed = 0;
      std::memcpy(&seed, record.data(), sizeof seed);
      seed = XXH3_64bits_withSeed(key.data(), key.size(), seed);
      const std::uint64_t check = XXH3_64bits_withSeed(record.data() + 16, record.size() - 16, seed);
      std::memcpy(record.data() + 8, &check, sizeof check);
    }
    if (!reads(folder, forged)) ++refused;
  }
  CHECK(refused > rounds / 4);
}

}  // namespace PENSTOCK_TEST_FILE
