// SPDX-License-Identifier: Apache-2.0
// What Hdf5Sink writes, as Hdf5Source and h5py read it. PENSTOCK_SEED says which files, PENSTOCK_RUNS how many.
#include <penstock/sources/hdf5_sink.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>

#include "sources/file_limit.hpp"
#include "sources/files/folder_files.hpp"
#include "sources/hdf5/sink/sink_records.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

const Schema usual_schema{
    {"image", DType::u8, {6, 5, 3}}, {"label", DType::i64, {}}, {"encoded", DType::u8, {dynamic}}};

DrawnRecords usual_records(std::uint64_t count) { return {usual_schema, count, 1}; }

Hdf5SinkOptions usual_options(const std::string& path) {
  return {.path = path,
          .fields = {{.field = "image", .chunk_rows = 8},
                     {.field = "label", .dataset = "labels/class"},
                     {.field = "encoded", .chunk_rows = 20}},
          .keys = "key",
          .max_samples = 50,
          .job = "test",
          .sync = false};
}

Error refused(Hdf5SinkOptions options, const Schema& schema) {
  const TempFolder folder;
  options.path = folder / "t";
  Hdf5Sink sink(options);
  Error error = error_of([&] { sink.open({schema, 10}); });
  CHECK(files_in(folder.path().string()).empty());
  CHECK(error.source() == "hdf5");
  return error;
}

}  // namespace

TEST_CASE("any schema in any chunks and filters comes back from HDF5 as it was written") {
  const std::uint64_t seed = number_of("PENSTOCK_SEED", 1), runs = number_of("PENSTOCK_RUNS", 12);
  for (std::uint64_t n = seed; n < seed + runs; ++n) {
    INFO("PENSTOCK_SEED=" << n);
    H5Draw draw(n);
    const DrawnRecords records(drawn_schema(draw), draw.below(150), n);
    Hdf5SinkOptions options = drawn_options(records.schema(), draw);
    const TempFolder folder;
    options.path = folder / "one/t";
    Hdf5Sink alone(options);
    REQUIRE(run(alone, records, 1 + draw.below(60)));
    REQUIRE(difference(shards_of(options.path), records, options) == "");
    // Many threads, with other commits, write the same bytes.
    const auto expected = files_in(folder / "one");
    options.path = folder / "many/t";
    write(from(records), Hdf5Sink(options),
          {.threads = 1 + static_cast<unsigned>(draw.below(4)), .commit_every = 1 + draw.below(60)});
    REQUIRE(files_in(folder / "many") == expected);
    // So does a run that stops again and again.
    options.path = folder / "stopped/t";
    for (std::uint64_t stop = 1 + draw.below(40);; stop += 1 + draw.below(80)) {
      Hdf5Sink part(options);
      if (run(part, records, 1 + draw.below(30), stop, draw.one_in(2))) break;
      for (const char* const name : {"-000000.h5", "-000000.h5.partial"})
        REQUIRE(mentions(error_of([&] { Hdf5Source({.path = options.path + name}); }), "unfinished"));
    }
    REQUIRE(files_in(folder / "stopped") == expected);
  }
}

TEST_CASE("a run that was dropped after any sample is continued byte for byte") {
  const DrawnRecords records = usual_records(121);
  const TempFolder folder;
  Hdf5Sink whole(usual_options(folder / "whole/t"));
  REQUIRE(run(whole, records, 7));
  const auto expected = files_in(folder / "whole");
  REQUIRE(expected.size() == 4);  // three files, and what made them
  for (const std::uint64_t stop : {0u, 1u, 6u, 7u, 8u, 20u, 49u, 50u, 51u, 57u, 99u, 100u, 104u, 119u, 120u}) {
    const std::string path = folder / ("stopped" + std::to_string(stop) + "/t");
    {
      Hdf5Sink part(usual_options(path));
      run(part, records, 7, stop, stop % 2 == 0);
    }
    Hdf5Sink rest(usual_options(path));
    rest.open({records.schema(), records.size()});
    const std::uint64_t committed = stop % 2 == 0 ? stop : stop / 7 * 7;
    CHECK(rest.has_some() == (committed != 0));
    for (std::uint64_t i = 0; i < records.size(); ++i)
      REQUIRE(rest.has({.position = i, .index = i, .key = records.key(i)}) == (i < committed));
    for (std::uint64_t i = committed; i < records.size(); ++i) put(rest, records, i);
    rest.finish();
    REQUIRE(files_in(folder / ("stopped" + std::to_string(stop))) == expected);
  }
}

TEST_CASE("a run is continued whatever its unfinished chunks of an HDF5 file take") {
  const Schema schema{{"s", DType::u8, {dynamic}}};
  const TempFolder folder;
  const Hdf5SinkOptions options{.path = folder / "t.h5", .single_file = true, .sync = false};
  const std::vector<std::uint8_t> value(20u << 20, 7);
  const auto put_value = [&](Hdf5Sink& sink, std::uint64_t position) {
    OwnedSample sample(schema);
    sample.builder().view(0, std::as_bytes(std::span(value)));
    Sample view = sample.sample();
    sink.put({.position = position, .index = position, .key = {}}, view);
    sink.commit();
  };
  {
    Hdf5Sink part(options);
    part.open({schema, 2});
    put_value(part, 0);
  }
  Hdf5Sink rest(options);
  rest.open({schema, 2});
  CHECK(rest.has({.position = 0, .index = 0, .key = {}}));
  put_value(rest, 1);
  rest.finish();
  const Hdf5Source source({.path = options.path});
  REQUIRE(source.size() == 2);
  for (const std::uint64_t index : {0u, 1u}) CHECK(read_text(source, index, "s").size() == value.size());
}

TEST_CASE("no number that an unfinished HDF5 store is marked with can be another one") {
  const TempFolder folder;
  const DrawnRecords records = usual_records(80);
  const Hdf5SinkOptions options = usual_options(folder / "t");
  {
    Hdf5Sink part(options);
    run(part, records, 10, 65);
  }
  const std::string mark = files_in(folder.path().string()).at("t.h5-unfinished.json");
  for (std::size_t at = 0; at < mark.size(); ++at) {
    if (mark[at] < '0' || mark[at] > '9') continue;
    std::string damaged = mark;
    damaged[at] = mark[at] == '1' ? '2' : '1';
    folder.write("t.h5-unfinished.json", damaged);
    INFO(damaged);
    Hdf5Sink sink(options);
    CHECK(error_of([&] { run(sink, records, 10); }).code() == Errc::state_mismatch);
  }
  folder.write("t.h5-unfinished.json", mark);
  Hdf5Sink rest(options);
  CHECK(run(rest, records, 10));
}

TEST_CASE("a single HDF5 file has all samples under its own name") {
  const TempFolder folder;
  Hdf5SinkOptions options = usual_options(folder / "sub/all.h5");
  options.single_file = true;
  options.max_samples = 1;
  Field label = usual_schema.at("label");
  label.classes = {"tumor", "stroma"};
  const DrawnRecords records(usual_schema.with(label), 73, 1);
  {
    Hdf5Sink part(options);
    CHECK_FALSE(run(part, records, 10, 40));
    CHECK(mentions(error_of([&] { Hdf5Source({.path = options.path}); }), "unfinished"));
  }
  write(from(records), Hdf5Sink(options), {.threads = 2});
  CHECK(files_in(folder / "sub").size() == 2);  // the file, and what made it
  const Hdf5Source source({.path = options.path, .fields = {{"labels/class", "", "label"}, {"image"}, {"key"}}});
  CHECK(source.size() == 73);
  CHECK(source.schema() == Schema{{"label", DType::i64, {}, {}, label.classes},
                                  {"image", DType::u8, {6, 5, 3}},
                                  {"key", DType::u8, {dynamic}}});
  CHECK(read_text(source, 72, "key") == records.key(72));
  CHECK(source.key(72) == records.key(72));
  CHECK(source.fields()[1].storage == "chunks of [8, 6, 5, 3], deflate");
  CHECK(source.fields()[0].storage == "chunks of [73], shuffle + deflate");
  const auto classes = source.attribute("labels/class", "classes");
  REQUIRE(classes);
  CHECK(std::get<std::vector<std::string>>(classes->values) == label.classes.names());
  Hdf5Sink again(options);
  CHECK(run(again, records, 10));
  CHECK(again.was_finished());
}

TEST_CASE("no samples make one HDF5 file without records") {
  const TempFolder folder;
  Hdf5Sink sink(usual_options(folder / "t"));
  CHECK(run(sink, usual_records(0), 1));
  const Hdf5Source source({.path = folder / "t-000000.h5"});
  CHECK(source.size() == 0);
  CHECK(source.schema().find("image"));
}

TEST_CASE("what HDF5 can't hold is refused by name before anything is made") {
  const Schema image{{"image", DType::u8, {4}}};
  CHECK(mentions(refused({}, {{"image", DType::u8, {dynamic, 3}}}), "\"image\" of shape [?, 3]"));
  CHECK(refused({}, {{"image", DType::u8, {dynamic, 3}}}).code() == Errc::unsupported);
  CHECK(mentions(refused({}, {{"none", DType::u8, {0}}}), "\"none\""));
  CHECK(mentions(refused({}, {{"x", DType::bf16, {3}}}), "\"x\" of shape [3] is bf16"));
  CHECK(mentions(refused({}, {{"a", DType::u8, {}}, {"a/b", DType::u8, {}}}), "group"));
  CHECK(mentions(refused({.fields = {{.field = "b", .dataset = "a"}}}, {{"a", DType::u8, {}}, {"b", DType::u8, {}}}),
                 "two fields"));
  CHECK(mentions(refused({.keys = "image"}, image), "two fields"));
  CHECK(mentions(refused({.fields = {{.field = "image", .dataset = "a//b"}}}, image), "a//b"));
  CHECK(mentions(refused({.deflate = 13}, image), "`deflate` is 13"));
  CHECK(mentions(refused({.fields = {{.field = "image", .chunk_rows = 1u << 29}}}, image), "1 GiB"));
  CHECK(mentions(refused({.max_samples = 0}, image), "max_samples"));
  CHECK(refused({.fields = {{.field = "other"}}}, image).code() == Errc::schema_mismatch);
}

TEST_CASE("another job neither goes on with an unfinished HDF5 store nor replaces a finished one") {
  const TempFolder folder;
  const DrawnRecords records = usual_records(80);
  const Hdf5SinkOptions options = usual_options(folder / "t");
  {
    Hdf5Sink part(options);
    run(part, records, 10, 60);
  }
  std::vector<Hdf5SinkOptions> others(5, options);
  others[0].job = "other";
  others[1].fields[0].chunk_rows = 9;
  others[2].max_samples = 51;
  others[3].keys = "";
  others[4].fletcher32 = true;
  const auto before = files_in(folder.path().string());
  for (const Hdf5SinkOptions& other : others) {
    Hdf5Sink sink(other);
    const Error error = error_of([&] { sink.open({records.schema(), 80}); });
    CHECK(error.code() == Errc::state_mismatch);
    CHECK(mentions(error, options.path + ".h5-unfinished* and " + options.path + "-*.h5.partial"));
  }
  Hdf5Sink size(options);
  CHECK(error_of([&] { size.open({records.schema(), 81}); }).code() == Errc::state_mismatch);
  Hdf5Sink key(options);
  key.open({records.schema(), 80});
  CHECK(error_of([&] { static_cast<void>(key.has({.position = 3, .index = 3, .key = "another"})); }).code() ==
        Errc::state_mismatch);
  CHECK(files_in(folder.path().string()) == before);
  {
    Hdf5Sink second(options);
    const Error error = error_of([&] { second.open({records.schema(), 80}); });
    CHECK(mentions(error, "another sink"));
  }
  key = Hdf5Sink(options);
  CHECK(run(key, records, 10));
  const auto finished = files_in(folder.path().string());
  CHECK(finished.size() == 3);  // two files, and what made them
  for (const Hdf5SinkOptions& other : others) {
    Hdf5Sink sink(other);
    CHECK(error_of([&] { sink.open({records.schema(), 80}); }).code() == Errc::invalid_argument);
  }
  Hdf5Sink again(options);
  CHECK(run(again, records, 10));
  CHECK(again.was_finished());
  CHECK(files_in(folder.path().string()) == finished);
  std::filesystem::remove(folder / "t-000000.h5");
  Hdf5Sink lacking(options);
  CHECK(mentions(error_of([&] { lacking.open({records.schema(), 80}); }), "missing"));
}

TEST_CASE("an unfinished HDF5 store that was damaged is refused and left as it is") {
  const TempFolder folder;
  const DrawnRecords records = usual_records(80);
  const Hdf5SinkOptions options = usual_options(folder / "t");
  {
    Hdf5Sink part(options);
    run(part, records, 10, 75);
  }
  auto whole = files_in(folder.path().string());
  REQUIRE(whole.erase("t.h5-unfinished.json.lock") == 1);
  REQUIRE(whole.size() == 6);
  for (const auto& [name, content] : whole)
    for (const double where : {0.0, 0.5, 0.9, 1.0}) {
      // A finished shard's values are not looked at again; its end is. The other file of rows is not in use.
      if (name == "t-000000.h5.partial" && where != 1.0 && where != 0.0) continue;
      std::string damaged = content;
      if (where == 1.0)
        damaged.pop_back();
      else
        damaged[static_cast<std::size_t>(static_cast<double>(content.size()) * where)] ^= 1;
      folder.write(name, damaged);
      INFO(name << " at " << where);
      Hdf5Sink sink(options);
      try {
        run(sink, records, 10);
        // It was of no use: the free beginning, the other file of rows, a space in JSON, what is after the last
        // commit.
        CHECK(name != "t-000000.h5.partial");
        CHECK(difference(shards_of(options.path), records, options) == "");
      } catch (const Error& error) {
        CHECK((error.code() == Errc::state_mismatch || error.code() == Errc::corrupt));
      }
      for (const auto& [file, ignored] : files_in(folder.path().string())) std::filesystem::remove(folder / file);
      for (const auto& [file, text] : whole) folder.write(file, text);
    }
}

TEST_CASE("a sink of HDF5 does itself what no thread has time for") {
  const TempFolder folder;
  const DrawnRecords records = usual_records(120);
  Hdf5Sink whole(usual_options(folder / "whole/t"));
  REQUIRE(run(whole, records, 50));
  // The only thread waits for the sink.
  std::atomic<bool> done = false;
  const Executor executor(1);
  SinkThreads(executor, 1).submit([&] { done.wait(false); });
  Hdf5Sink busy(usual_options(folder / "busy/t"));
  busy.work_on(SinkThreads(executor, 1));
  CHECK(run(busy, records, 50));
  CHECK(files_in(folder / "busy") == files_in(folder / "whole"));
  done = true;
  done.notify_all();
}

TEST_CASE("a full disk fails the run wherever it is and room continues it") {
  const DrawnRecords records = usual_records(90);
  const TempFolder folder;
  Hdf5SinkOptions options = usual_options(folder / "whole/t");
  options.max_samples = 60;
  Hdf5Sink whole(options);
  REQUIRE(run(whole, records, 20));
  const auto expected = files_in(folder / "whole");
  std::size_t largest = 0, failed = 0;
  for (const auto& [name, content] : expected) largest = std::max(largest, content.size());
  const std::size_t handles = open_handles();
  // The index comes last: its bytes are tried one block after the other.
  std::vector<std::size_t> limits{100, 5000, largest / 3, largest / 2};
  for (std::size_t bytes = largest - 12'000; bytes < largest; bytes += 900) limits.push_back(bytes);
  for (const std::size_t bytes : limits) {
    INFO(bytes << " of " << largest);
    const std::string name = "full" + std::to_string(bytes);
    options.path = folder / (name + "/t");
    {
      Hdf5Sink part(options);
      part.open({records.schema(), records.size()});
      const FileLimit limit(bytes);
      try {
        for (std::uint64_t i = 0; i < records.size(); ++i) {
          put(part, records, i);
          if (i % 20 == 19) part.commit();
        }
        part.finish();
        FAIL("nothing failed");
      } catch (const Error& error) {
        ++failed;
        CHECK(error.code() == Errc::io);
        CHECK(mentions(error, "run it again to go on"));
      }
      CHECK(code_of([&] { part.commit(); }) == Errc::closed);
    }
    CHECK(open_handles() == handles);
    Hdf5Sink rest(options);
    REQUIRE(run(rest, records, 20));
    REQUIRE(files_in(folder / name) == expected);
  }
  CHECK(failed == limits.size());
}

TEST_CASE("a sink does nothing before it is open") {
  const TempFolder folder;
  Hdf5Sink sink({.path = folder / "t"});
  const Error closed = error_of([&] { sink.commit(); });
  CHECK(closed.code() == Errc::invalid_argument);
  CHECK(closed.source() == "hdf5");
  CHECK(closed.cause() == "Hdf5Sink: open() must come first");
}
