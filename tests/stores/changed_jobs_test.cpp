// SPDX-License-Identifier: Apache-2.0
// What a run finds at its place: begun or made by itself, or by a pipeline that is another one in one thing.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <penstock/penstock.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/files_sink.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "stores/store_jobs.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;
using namespace penstock;

namespace {

constexpr std::uint64_t records = 40;

struct Records {
  std::uint64_t identity_of = 1, revision_of = 1, count = records;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }
  std::string name() const { return "records"; }
  std::string key(std::uint64_t i) const { return "r" + std::to_string(1000 + i); }
  std::uint64_t identity() const { return identity_of; }
  std::uint64_t revision() const { return revision_of; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    for (std::uint8_t& to : out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(5 + i % 7)}).flat())
      to = static_cast<std::uint8_t>(i + identity_of + revision_of);
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

Stage adding(std::int64_t more, std::uint64_t version) {
  return map("label",
             [more](View<const std::int64_t, 0> in, View<std::int64_t, 0> out) { *out.data() = *in.data() + more; },
             {.name = "add", .version = version});
}

Pipeline usual(Records source = {}) { return from(source) | shuffle() | adding(1, 1); }

struct Change {
  const char* what;
  Pipeline pipeline;
  const char* words;  // of the refusal
};
std::vector<Change> changes() {
  return {
      {"a callable", from(Records{}) | shuffle() | adding(2, 2),
       "stage add(label): there \"version 1 -> {image: u8[?], label: i64[]}\", here \"version 2 ->"},
      {"another stage", usual() | adding(5, 1), "here is the stage add(label)"},
      {"a stage less", from(Records{}) | shuffle(), "there is the stage add(label)"},
      {"an order", from(Records{}) | shuffle() | take(records) | adding(1, 1), "here is the order take"},
      {"no order", from(Records{}) | adding(1, 1), "there is the order shuffle"},
      {"the seed", usual() | seed(9), "seed: there \"0\", here \"9\""},
      {"the data", usual({.revision_of = 2}),
       "state of the data: there \"revision 1, another one once its files are written to\", here \"revision 2,"},
      {"the source", usual({.identity_of = 2}), "identity 1\", here"},
      {"the number of records", usual({.count = 39}), "there"},
      {"a filter", usual() | filter("label", [](View<const std::int64_t, 0> label) { return *label.data() % 4 != 0; }),
       "filter(label)"},
      {"bad samples dropped", usual() | on_error({.policy = OnError::drop}),
       "bad samples (on_error): there \"none\", here \"dropped\""},
  };
}

struct Kind {
  std::string name;
  std::function<WriteProgress(const Pipeline&, const std::string& folder, const std::string& job, const WriteOptions&)>
      write;
  std::function<AnySource(const std::string& folder)> open;
};

std::vector<std::string> files_of(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::vector<Kind> kinds() {
  std::vector<Kind> kinds;
  for (const bool raw : {false, true})
    kinds.push_back(
        {raw ? "lmdb raw" : "lmdb",
         [=](const Pipeline& pipeline, const std::string& folder, const std::string& job, const WriteOptions& options) {
           return write(pipeline,
                        LmdbSink({.path = folder + "/store",
                                  .records = raw ? LmdbRecords::raw : LmdbRecords::fields,
                                  .job = job,
                                  .sync = false}),
                        options);
         },
         [](const std::string& folder) { return share(LmdbSource({.path = folder + "/store"})); }});
  kinds.push_back(
      {"tar",
       [](const Pipeline& pipeline, const std::string& folder, const std::string& job, const WriteOptions& options) {
         return write(pipeline,
                      WebDatasetSink({.path = folder + "/part", .max_samples = 13, .job = job, .sync = false}),
                      options);
       },
       [](const std::string& folder) { return share(WebDatasetSource({.path = folder + "/part-*.tar"})); }});
  for (const bool single : {false, true})
    kinds.push_back(
        {single ? "hdf5 file" : "hdf5",
         [=](const Pipeline& pipeline, const std::string& folder, const std::string& job, const WriteOptions& options) {
           return write(pipeline,
                        Hdf5Sink({.path = folder + (single ? "/whole.h5" : "/part"),
                                  .single_file = single,
                                  .keys = "key",
                                  .max_samples = 15,
                                  .job = job,
                                  .sync = false}),
                        options);
         },
         [](const std::string& folder) { return share(Hdf5Source({.paths = files_of(folder, ".h5")})); }});
  kinds.push_back(
      {"files",
       [](const Pipeline& pipeline, const std::string& folder, const std::string& job, const WriteOptions& options) {
         return write(pipeline, FilesSink({.path = folder + "/out", .job = job, .sync = false}), options);
       },
       [](const std::string& folder) {
         return share(FilesSource({.root = folder + "/out", .labels = folder + "/out/records.csv"}));
       }});
  return kinds;
}

std::string content_of(const AnySource& source) {
  std::string content;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    content += source.model()->key(i) + ":";
    for (const Field& field : source.schema()) {
      const TensorView value = sample[field.name];
      content.append(reinterpret_cast<const char*>(value.data), value.bytes());
    }
    content += "\n";
  }
  return content;
}

// The first commit ends it.
WriteProgress begin(const Kind& kind, const Pipeline& pipeline, const std::string& folder, const std::string& job = {},
                    std::uint64_t commit_every = 10) {
  std::stop_source stop;
  return kind.write(pipeline, folder, job,
                    {.threads = 1,
                     .max_in_flight = 4,
                     .commit_every = commit_every,
                     .progress = [&](const WriteProgress&) { stop.request_stop(); },
                     .stop = stop.get_token()});
}
WriteProgress run(const Kind& kind, const Pipeline& pipeline, const std::string& folder, const std::string& job = {}) {
  return kind.write(pipeline, folder, job, {.threads = 1});
}

}  // namespace

TEST_CASE("what another pipeline has begun or made is refused by name, and goes on as it was") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const TempFolder whole;
    run(kind, usual(), whole.path());
    const std::string content = content_of(kind.open(whole.path()));
    const TempFolder begun;
    const std::uint64_t there = begin(kind, usual(), begun.path()).done;
    REQUIRE(there < records);
    for (const TempFolder* folder : {&begun, &whole})
      for (const Change& change : changes()) {
        CAPTURE(change.what, folder == &whole);
        const Error error = error_of([&] { run(kind, change.pipeline, folder->path()); });
        CHECK(error.code() == (folder == &whole ? Errc::invalid_argument : Errc::state_mismatch));
        INFO(error.what());
        CHECK(error.cause().find(change.words) != std::string::npos);
        CHECK(error.cause().find("delete") != std::string::npos);
      }
    CHECK(run(kind, usual(), begun.path()).skipped == there);
    CHECK(content_of(kind.open(begun.path())) == content);
    CHECK(run(kind, usual(), whole.path()).skipped == records);
    CHECK(content_of(kind.open(whole.path())) == content);
  }
}

TEST_CASE("a check that drops other samples makes another job, and one that ends a run does not") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const auto checked = [](std::uint64_t bytes, OnError policy) {
      return usual() | check({.max_sample_bytes = bytes}) | on_error({.policy = policy});
    };
    const TempFolder folder, other;
    begin(kind, checked(1000, OnError::drop), folder.path());
    const Error error = error_of([&] { run(kind, checked(2000, OnError::drop), folder.path()); });
    CHECK(error.cause().find("check: there \"verify false, max_sample_bytes 1000\"") != std::string::npos);
    begin(kind, checked(1000, OnError::fail), other.path());
    CHECK_NOTHROW(run(kind, checked(2000, OnError::fail), other.path()));
  }
}

TEST_CASE("a caller that says what makes the samples is believed") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const TempFolder folder;
    const std::uint64_t there = begin(kind, usual(), folder.path(), "mine").done;
    const Error error = error_of([&] { run(kind, usual(), folder.path(), "yours"); });
    CHECK(error.cause().find("job: there \"mine\", here \"yours\"") != std::string::npos);
    CHECK_THROWS_AS(run(kind, usual(), folder.path()), Error);
    CHECK(run(kind, usual({.revision_of = 2}), folder.path(), "mine").skipped == there);
  }
}

TEST_CASE("what made a finished store is not guessed where the file that says it is gone or damaged") {
  for (const Kind& kind : kinds()) {
    const TempFolder folder;
    run(kind, usual(), folder.path());
    std::string file;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.path().filename().string().find("made-by.json") != std::string::npos) file = entry.path().string();
    CAPTURE(kind.name, file);
    REQUIRE(file.empty() == (kind.name == "lmdb"));
    if (file.empty()) continue;
    std::filesystem::rename(file, file + ".away");
    CHECK(error_of([&] { run(kind, usual(), folder.path()); }).cause().find("made-by.json is missing") !=
          std::string::npos);
    std::filesystem::rename(file + ".away", file);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const Error error = error_of([&] { run(kind, usual(), folder.path()); });
    CHECK(error.file().find("made-by.json") != std::string::npos);
  }
}

TEST_CASE("a journal in which one number is another is not believed") {
  std::size_t found = 0;
  for (const Kind& kind : kinds()) {
    const TempFolder folder;
    begin(kind, usual(), folder.path());
    std::string file;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.path().filename().string().ends_with("unfinished.json")) file = entry.path().string();
    CAPTURE(kind.name, file);
    if (kind.name.starts_with("lmdb")) continue;  // it has a manifest
    REQUIRE_FALSE(file.empty());
    ++found;
    std::string text = text_in(file);
    const std::size_t at = text.find_first_of("0123456789", text.find("\"samples\": "));
    text[at] = text[at] == '1' ? '2' : '1';
    std::ofstream(file, std::ios::binary) << text;
    const Error error = error_of([&] { run(kind, usual(), folder.path()); });
    CHECK(error.cause().find("is not as it was written") != std::string::npos);
  }
  CHECK(found == 4);
}

TEST_CASE("a journal that somebody else wrote, its hash too, is refused, or the store becomes what it would") {
  using Json = nlohmann::ordered_json;
  std::uint64_t refused = 0, made = 0;
  for (const Kind& kind : kinds()) {
    if (kind.name.starts_with("lmdb")) continue;
    const TempFolder whole, begun;
    run(kind, usual(), whole.path());
    const std::string content = content_of(kind.open(whole.path()));
    begin(kind, usual(), begun.path(), {}, 20);  // in the second shard, where there are any
    std::filesystem::path journal;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(begun.path()))
      if (entry.path().filename().string().ends_with("unfinished.json")) journal = entry.path();
    const auto try_with = [&](const Json& forged) {
      const TempFolder folder;
      std::filesystem::copy(begun.path(), folder.path(), std::filesystem::copy_options::recursive);
      Json json = forged;
      json.erase("hash");
      const std::string text = json.dump();
      json["hash"] = XXH3_64bits(text.data(), text.size());
      std::ofstream(folder.path() / journal.lexically_relative(begun.path())) << json.dump(1) << "\n";
      try {
        run(kind, usual(), folder.path());
      } catch (const Error& error) {
        INFO(error.what());
        CHECK_FALSE(error.file().empty());
        ++refused;
        return;
      }
      ++made;
      CHECK(content_of(kind.open(folder.path())) == content);
      CHECK(names_in(folder.path().string()) == names_in(whole.path().string()));
    };
    const Json own = Json::parse(text_in(journal.string()));
    try_with(own);
    REQUIRE(made > 0);
    for (const std::uint64_t of_first : {13, 15}) {
      CAPTURE(kind.name, of_first);
      Json forged = own;
      forged["finishing"] = true;
      forged["committed"]["shard"] = 0;
      forged["committed"]["samples"] = of_first;
      try_with(forged);
    }
    for (const auto& [name, number] : own.at("committed").items()) {
      const auto was = number.get<std::uint64_t>();
      for (const std::uint64_t other :
           {std::uint64_t{0}, std::uint64_t{1}, was - 1, was + 1, was - 512, was / 2, was / 1024 * 512, 2 * was,
            std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~std::uint64_t{0} - 1, ~std::uint64_t{0}})
        for (const bool finishing : {false, true}) {
          CAPTURE(kind.name, name, was, other, finishing);
          Json forged = own;
          forged["committed"][name] = other;
          forged["finishing"] = finishing;
          try_with(forged);
        }
    }
  }
  CHECK(refused > made);
}

TEST_CASE("a report says which callable has no version where a run was continued") {
  const TempFolder folder;
  const auto plain = [] { return adding(1, 0); };
  const Kind kind = kinds()[2];
  const Pipeline pipeline = from(Records{}) | plain() | adding(1, 7);
  begin(kind, pipeline, folder.path());
  std::vector<std::string> notes;
  const auto keep = [&](const Report& report) { notes = report.notes; };
  kind.write(pipeline, folder.path(), {}, {.threads = 1, .report = keep});
  const auto says = [](const std::string& note) { return note.find("says no version") != std::string::npos; };
  CHECK(std::ranges::count_if(notes, says) == 1);
  const TempFolder other;
  kind.write(pipeline, other.path(), {}, {.threads = 1, .report = keep});
  CHECK(std::ranges::count_if(notes, says) == 0);
}

}  // namespace PENSTOCK_TEST_FILE
