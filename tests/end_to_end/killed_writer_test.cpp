// Writers that run on many threads, are killed at any moment, and run again until they are done.
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "difference.hpp"
#include "killed_records.hpp"
#include "kills.hpp"
#include "sources/raw_lmdb.hpp"
#include "sources/tar_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Any sink, telling what it does.
template <Sink S>
struct TellingSink {
  S sink;
  std::uint64_t there = 0, put_so_far = 0;
  bool begun = false;

  void begin() {
    if (!begun) tell("begun " + std::to_string(there));
    begun = true;
  }
  void open(const Schema& schema, std::uint64_t size) { sink.open(schema, size); }
  bool has(const SinkItem& item) {
    const bool found = sink.has(item);
    if (found) ++there;
    return found;
  }
  void put(const SinkItem& item, Sample& sample) {
    begin();
    sink.put(item, sample);
    ++put_so_far;
  }
  void commit() {
    tell("committing");
    sink.commit();
    tell("committed " + std::to_string(there + put_so_far));
  }
  void finish() {
    begin();
    tell("finishing");
    sink.finish();
    tell("finished");
  }
  std::string name() const { return sink.name(); }
};

// The number behind the last line that begins with `word`; 0 where there is none.
std::uint64_t last_number(const Child& child, const std::string& word) {
  std::uint64_t number = 0;
  for (const std::string& line : child.lines())
    if (line.starts_with(word)) number = std::stoull(line.substr(word.size()));
  return number;
}

struct Task {
  std::string from, to;
  std::uint64_t variant = 0, number = 0;
};

// What the environment says that this process has to do.
Task task() {
  return {variable("PENSTOCK_KILLED_STORE"), variable("PENSTOCK_KILLED_FOLDER"),
          std::stoull(variable("PENSTOCK_KILLED_VARIANT")), std::stoull(variable("PENSTOCK_KILLED_NUMBER"))};
}
bool is_child() { return !variable("PENSTOCK_KILLED_STORE").empty(); }

template <Sink S>
void write_all(const Task& task, const Pipeline& pipeline, S sink) {
  std::mt19937_64 random(task.number);
  WriteOptions options{.threads = 1, .commit_every = 15};
  if (task.number != 0) {  // what must not matter
    options.threads = 1 + static_cast<unsigned>(random() % 4);
    options.window = 1 + random() % 60;
    options.commit_every = 5 + random() % 30;
  }
  TellingSink<S> telling{std::move(sink)};
  write(pipeline, telling, options);
}

void write_lmdb_store(const Task& task) {
  const Pipeline records = read_shards(task.from) | seed(8) | shuffle() | Noise{};
  const bool raw = task.variant == 1;
  write_all(task, raw ? records | select_fields({"image"}) : records,
            LmdbSink({.path = task.to,
                      .records = raw ? LmdbRecords::raw : LmdbRecords::fields,
                      .job = std::to_string(records.fingerprint()),
                      .sync = !raw,
                      .map_bytes = 300'000}));
}

void write_tar_shards(const Task& task) {
  const Pipeline records = read_lmdb(task.from) | seed(9) | shuffle() | Noise{};
  const bool by_bytes = task.variant == 1;
  write_all(task, records,
            WebDatasetSink({.path = task.to + "/part",
                            .max_samples = by_bytes ? 10'000u : 37u,
                            .max_bytes = by_bytes ? 200'000u : 1u << 30,
                            .job = std::to_string(records.fingerprint()),
                            .sync = !by_bytes}));
}

using Content = std::map<std::string, std::string>;

// All pairs of a store, as LMDB alone reads them, and the names of its files.
Content lmdb_content(const std::string& path) {
  Content content = RawLmdb{path}.read();
  for (const auto& entry : std::filesystem::directory_iterator(path))
    content["file " + entry.path().filename().string()] = "";
  return content;
}

// Every byte of every file.
Content tar_content(const std::string& path) {
  Content content;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    content[entry.path().filename().string()] = file_text(entry.path().string());
  return content;
}

// True where a store can be opened as a whole one.
bool lmdb_opens(const std::string& path) {
  try {
    return LmdbSource({.path = path}).size() != 0;
  } catch (const Error&) {
    return false;
  }
}
bool tar_opens(const std::string& path) {
  try {
    return WebDatasetSource({.path = path}).size() != 0;
  } catch (const Error&) {
    return false;
  }
}

struct StoreKind {
  Content (*content_of)(const std::string&);
  bool (*opens)(const std::string&);
};

void kill_writing(const std::string& what, const std::string& test_case, const TempFolder& folder,
                  const StoreKind& kind) {
  Kills kills(what, {{"committing", "committed"}, {"finishing", "finished"}});
  std::uint64_t number = 0;
  const auto process_for = [&](const std::string& to, std::uint64_t variant) {
    return Child(this_program(test_case),
                 {{"PENSTOCK_KILLED_STORE", folder / "from"},
                  {"PENSTOCK_KILLED_FOLDER", to},
                  {"PENSTOCK_KILLED_VARIANT", std::to_string(variant)},
                  {"PENSTOCK_KILLED_NUMBER", std::to_string(number++)}},
                 folder / "output");
  };

  Content expected[2];
  for (std::uint64_t variant = 0; variant < 2; ++variant) {
    const std::string whole = folder / ("whole" + std::to_string(variant));
    number = 0;
    Child child = process_for(whole, variant);
    kills.measure(child);
    REQUIRE(last_number(child, "committed ") == record_count);
    expected[variant] = kind.content_of(whole);
    REQUIRE(kind.opens(whole));
  }

  const std::string to = folder / "killed";
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    std::filesystem::remove_all(to);
    std::uint64_t committed = 0;
    unsigned died = 0;
    bool finishing = false;
    for (bool finished = false; !finished;) {
      Child child = process_for(to, run % 2);
      finished = !kills.strike(child, died);
      if (!finished) ++died;
      // What was said to be committed is there, and nobody does it again.
      if (child.told("begun ") != 0) REQUIRE(last_number(child, "begun ") >= committed);
      committed = std::max(committed, last_number(child, "committed "));
      // Nobody takes what is unfinished for a whole store.
      finishing = finishing || child.told("finishing") != 0;
      if (!finishing) REQUIRE_FALSE(kind.opens(to));
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(difference(kind.content_of(to), expected[run % 2]) == "");
    kills.run_completed();
  }
  kills.check();
}

}  // namespace

TEST_CASE("a killed write to LMDB ends with the same keys and values") {
  if (is_child()) return write_lmdb_store(task());
  const TempFolder folder;
  write_shards(folder / "from");
  kill_writing("writer: WebDataset to LMDB, records and bare values",
               "a killed write to LMDB ends with the same keys and values", folder, {lmdb_content, lmdb_opens});
}

TEST_CASE("a killed write to WebDataset shards ends with the same bytes") {
  if (is_child()) return write_tar_shards(task());
  const TempFolder folder;
  write_lmdb(folder / "from");
  kill_writing("writer: LMDB to WebDataset, shards by number and by bytes",
               "a killed write to WebDataset shards ends with the same bytes", folder, {tar_content, tar_opens});
}
