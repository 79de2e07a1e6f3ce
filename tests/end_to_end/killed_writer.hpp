// SPDX-License-Identifier: Apache-2.0
// A process that writes a store, is killed at any moment, and runs again until it is done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>

#include <penstock/penstock.hpp>

#include "difference.hpp"
#include "killed_records.hpp"
#include "kills.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace penstock_test {

// Any sink, telling what it does.
template <penstock::Sink S>
struct TellingSink {
  S sink;
  std::uint64_t there = 0, put_so_far = 0;
  bool begun = false;

  void begin() {
    if (!begun) tell("begun " + std::to_string(there));
    begun = true;
  }
  void open(const penstock::SinkJob& job) { sink.open(job); }
  bool has(const penstock::SinkItem& item) {
    const bool found = sink.has(item);
    if (found) ++there;
    return found;
  }
  void put(const penstock::SinkItem& item, penstock::Sample& sample) {
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

// The number after the last line that begins with `word`; 0 where there is none.
inline std::uint64_t last_number(const Child& child, const std::string& word) {
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
inline Task task() {
  return {variable("PENSTOCK_KILLED_STORE"), variable("PENSTOCK_KILLED_FOLDER"),
          std::stoull(variable("PENSTOCK_KILLED_VARIANT")), std::stoull(variable("PENSTOCK_KILLED_NUMBER"))};
}
inline bool is_child() { return !variable("PENSTOCK_KILLED_STORE").empty(); }

template <penstock::Sink S>
void write_all(const Task& task, const penstock::Pipeline& pipeline, S sink) {
  std::mt19937_64 random(task.number);
  penstock::WriteOptions options{.threads = 1, .commit_every = 15};
  if (task.number != 0) {  // what must not matter
    options.threads = 1 + static_cast<unsigned>(random() % 4);
    options.max_in_flight = 1 + random() % 60;
    options.commit_every = 5 + random() % 30;
  }
  TellingSink<S> telling{std::move(sink)};
  penstock::write(pipeline, telling, options);
}

using Content = std::map<std::string, std::string>;

struct StoreKind {
  Content (*content_of)(const std::string&);
  bool (*opens)(const std::string&);
};

inline void kill_writing(const std::string& what, const std::string& test_case, const TempFolder& folder,
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

}  // namespace penstock_test
