// SPDX-License-Identifier: Apache-2.0
// What the library of each release has written: this one reads it as that one did, or refuses it by name.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_cache.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "core/help.hpp"
#include "releases/archives.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t all = 24, before_the_stop = 10;

// {image: u8[?], label: i64[]} with names of classes. Fails at record `end`, so that a store is not finished.
struct Records {
  std::uint64_t end = all;
  std::uint64_t size() const { return all; }
  Schema schema() const {
    return {{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}, {}, {"cat", "dog", "owl"}}};
  }
  std::string name() const { return "records"; }
  std::string key(std::uint64_t i) const { return "n" + std::to_string(i % 3) + "/" + std::to_string(100 + i); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    if (i >= end) throw Error(Errc::io, "the run is stopped here");
    std::uint64_t at = i << 20;
    for (std::uint8_t& byte :
         out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(1 + help::mix(i) % 200)}).flat())
      byte = static_cast<std::uint8_t>(help::mix(at++));
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i % 3));
  }
};

// numbers: some of the image's bytes, with noise.
struct Numbers {
  Schema schema(const Schema& in) const { return in.with({"numbers", DType::i32, {3}}); }
  std::string name() const { return "numbers"; }
  std::uint64_t version() const { return 1; }
  void operator()(Sample& sample, Context& context) const {
    const auto image = sample.view<const std::uint8_t, 1>("image").flat();
    for (std::int32_t& number : sample.emplace<std::int32_t, 1>("numbers", {3}).flat())
      number = 1000 * image[static_cast<std::size_t>(context.rng().below(image.size()))];
  }
};

// length: of the image. Draws nothing, so that it may be cached.
struct Length {
  Schema schema(const Schema& in) const { return in.with({"length", DType::i64, {}}); }
  std::string name() const { return "length"; }
  std::uint64_t version() const { return 1; }
  void operator()(Sample& sample, Context&) const {
    const std::int64_t length = sample.view<const std::uint8_t, 1>("image").extent(0);
    sample.emplace<std::int64_t, 0>("length", {})() = length;
  }
};

Pipeline lmdb(const std::string& at) { return from(Lmdb{.path = at}); }
Pipeline hdf5(const std::string& at) { return from(Hdf5{.path = at}); }
Pipeline tar(const std::string& at) {
  return from(WebDataset{.path = at, .fields = {{"image", "bin"}, {"label", "cls"}}});
}
void write_lmdb(const Pipeline& records, const std::string& at) {
  write(records, LmdbSink({.path = at, .job = "release", .map_bytes = 1 << 20}));
}
void write_hdf5(const Pipeline& records, const std::string& at) {
  write(records, Hdf5Sink({.path = at, .single_file = true, .job = "release"}));
}
void write_tar(const Pipeline& records, const std::string& at) {
  write(records, WebDatasetSink({.path = at + "/part", .job = "release"}));
}

struct Form {
  const char* name;
  Pipeline (*read)(const std::string& at);
  void (*write)(const Pipeline& records, const std::string& at);
};
const Form forms[] = {{"records.lmdb", lmdb, write_lmdb}, {"records.h5", hdf5, write_hdf5}, {"shards", tar, write_tar}};

Pipeline trained(const std::string& folder) {
  return lmdb(folder + "/records.lmdb") | ragged("image") | shuffle({.seed = 4}) | Numbers{} | batch(5);
}
Pipeline cached(const std::string& folder) {
  return lmdb(folder + "/records.lmdb") | ragged("image") | Length{} | cache(folder + "/cache", {}) | batch(5);
}
Slides slides(const std::string& folder) {
  return {.files = folder + "/slides/a.tif", .size = 32, .index = folder + "/slides.index"};
}

// The batches of the rest of an epoch, a line each.
std::string batches(Loader& loader) {
  std::ostringstream lines;
  for (const Batch& batch : loader.epoch()) lines << help::copy(batch) << '\n';
  return lines.str();
}
std::string batches(const Pipeline& pipeline) {
  Loader loader(pipeline, {.threads = 2});
  return batches(loader);
}

void store(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

void make(const std::string& folder) {
  const Pipeline records = from(Records{}), stopped = from(Records{.end = before_the_stop});
  for (const Form& form : forms) {
    const std::string at = folder + "/" + form.name;
    form.write(records, at);
    REQUIRE_THROWS_AS(form.write(stopped, folder + "/unfinished-" + form.name), Error);
    store(at + ".txt", batches(form.read(at) | ragged("image") | batch(5)));
  }
  fs::create_directory(folder + "/slides");
  write_slide(folder + "/slides/a.tif", {.width = 100, .height = 70});
  set_whole_seconds(folder);
  {
    Loader loader(trained(folder), {.threads = 2});
    for (int i = 0; i < 2; ++i) REQUIRE(loader.next().has_value());
    loader.save(folder + "/run.state");
  }
  Loader resumed(trained(folder), {.threads = 2});
  resumed.resume(folder + "/run.state");
  store(folder + "/rest.txt", batches(resumed));
  store(folder + "/cached.txt", batches(cached(folder)));
  Slides unindexed = slides(folder);
  unindexed.index = {};
  write_slide_index(unindexed, folder + "/slides.index");
  store(folder + "/slides.txt", batches(from(slides(folder)) | batch(5)));
}

// Either the act does what it did, or the error says that a version or a job is another one.
void reads_or_refuses(const std::string& expected, bool must_read, const std::function<std::string()>& act) {
  std::string got;
  try {
    got = act();
  } catch (const Error& error) {
    CAPTURE(error.what());
    CHECK_FALSE(must_read);
    CHECK(names_the_difference(error.what()));
    return;
  }
  CHECK(got == expected);
}

}  // namespace

TEST_CASE("make what the library writes", "[.make]") {
  const char* const folder = std::getenv("PENSTOCK_RELEASE");
  REQUIRE(folder != nullptr);
  make(folder);
}

TEST_CASE("what the library of every release wrote is read, or refused by name") {
  for (const std::string& release : releases()) {
    CAPTURE(release);
    const TempFolder temporary;
    const std::string folder = temporary.path().string();
    unpack(release, folder);
    const bool must_read = is_of_this_minor(release);
    // Stores are read by every later version.
    for (const Form& form : forms) {
      CAPTURE(form.name);
      const std::string records = text_in(folder + "/" + form.name + ".txt");
      CHECK(batches(form.read(folder + "/" + form.name) | ragged("image") | batch(5)) == records);
      CHECK_THROWS_AS(form.read(folder + "/unfinished-" + form.name), Error);
      reads_or_refuses(records, must_read, [&] {
        form.write(from(Records{}), folder + "/unfinished-" + form.name);
        return batches(form.read(folder + "/unfinished-" + form.name) | ragged("image") | batch(5));
      });
    }
    reads_or_refuses(text_in(folder + "/rest.txt"), must_read, [&] {
      Loader loader(trained(folder), {.threads = 2});
      loader.resume(folder + "/run.state");
      return batches(loader);
    });
    reads_or_refuses(text_in(folder + "/cached.txt"), release == this_release(),
                     [&] { return batches(cached(folder)); });
    reads_or_refuses(text_in(folder + "/slides.txt"), must_read,
                     [&] { return batches(from(slides(folder)) | batch(5)); });
  }
}
