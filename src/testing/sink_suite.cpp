// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/sink.hpp>
#include <penstock/write.hpp>

#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::SinkModel;

// The schema, keys and records that were read from a finished store.
struct Store {
  Schema schema;
  std::vector<std::string> keys;
  std::vector<Record> records;
};

// Where a run is broken off. The run commits the items before `commit_at`, puts `lost` further items, and ends without
// committing these.
struct Interruption {
  std::size_t commit_at, lost;
};

constexpr std::string_view beside = "samples of one record are stored beside each other";

// Makes two samples of each record. They differ in one field: the first that is a scalar of i64, or one-dimensional,
// not empty and of u8. If there is no such field, the samples are equal.
struct Twice {
  static bool is_bytes(const Field& field) { return field.dtype == DType::u8 && field.shape.rank() == 1; }
  static bool is_number(const Field& field) { return field.dtype == DType::i64 && field.shape.rank() == 0; }

  std::uint32_t count(const Sample&, Context&) const { return 2; }
  void child(const Sample&, std::uint32_t number, Sample& out, Context&) const {
    for (std::size_t slot = 0; number != 0 && slot < out.schema().size(); ++slot) {
      const Field& field = out.schema()[slot];
      if (out.bytes(slot).empty() || (!is_bytes(field) && !is_number(field))) continue;
      void* const data = is_bytes(field) ? static_cast<void*>(out.view<std::uint8_t, 1>(slot).data())
                                         : out.view<std::int64_t, 0>(slot).data();
      *static_cast<std::byte*>(data) ^= std::byte{1};
      return;
    }
  }
};

// Returns the second sample that `Twice` makes of `record`.
Record second_of(const Schema& schema, Record record) {
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    std::vector<std::byte>& bytes = record.values[slot].bytes;
    if (bytes.empty()) continue;
    if (!Twice::is_bytes(schema[slot]) && !Twice::is_number(schema[slot])) continue;
    bytes[0] ^= std::byte{1};
    break;
  }
  return record;
}

Record copy_of(const OwnedSample& sample) {
  Record record;
  for (const Field& field : sample.schema()) {
    const TensorView value = sample[field.name];
    record.values.push_back({value.shape, std::vector<std::byte>(value.data, value.data + value.bytes())});
  }
  return record;
}

class SinkSuite {
 public:
  SinkSuite(const detail::MakeSink& make, const detail::OpenStore& open, const std::string& folder,
            const SinkOptions& options)
      : make_(make),
        open_(open),
        folder_(folder),
        options_(options),
        items_(options.items ? options.items() : AnySource(GeneratedRecords(60))),
        schema_(items_.schema()) {
    for (std::uint64_t i = 0; i < items_.size(); ++i) {
      numbers_.push_back({.position = i, .index = i, .key = items_.model()->key(i)});
      records_.push_back(copy_of(read_sample(items_, i)));
    }
  }

  Report run() {
    const std::size_t n = numbers_.size();
    findings_.runs("a name is one line, and always the same", "it", [&] {
      const auto sink = make_(path("named"));
      const std::string name = sink->sink().name();
      findings_.check(!name.empty() && name.find('\n') == std::string::npos && name == sink->sink().name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + name + "\""; });
    });
    if (!whole_run()) return findings_.report();
    rerun();
    const std::size_t half = n / 2;
    continued("opened", {{0, 0}});
    continued("nothing committed", {{0, std::min<std::size_t>(3, n)}});
    continued("dropped after a commit", {{half, 0}});
    continued("dropped with some not committed", {{half, std::min<std::size_t>(2, n - half)}});
    continued("dropped twice", {{n / 3, 1}, {std::max(half, n / 3 + 1), 2}});
    continued("dropped before it was finished", {{n, 0}});
    written("written", false);
    written("written and stopped", true);
    children();
    if (options_.refuses_another_job)
      for (const bool finished : {false, true}) another_job(finished);
    if (options_.refuses_a_bad_place) bad_place();
    return findings_.report();
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void put(SinkModel& sink, std::size_t i) {
    OwnedSample sample(schema_);
    SampleBuilder out = sample.builder();
    for (std::size_t slot = 0; slot < schema_.size(); ++slot)
      out.view(slot, records_[i].values[slot].bytes.data(), records_[i].values[slot].shape);
    Sample view = sample.sample();
    sink.put(numbers_[i], view);
    findings_.check(difference(schema_, records_[i], copy_of(read_sample(items_, i))).empty(),
                    "a sink leaves what it is given as it is", [&] { return "item " + std::to_string(i); });
  }

  // Runs a sink to the end or to `drop`. Checks that the sink finds the items that were committed before.
  bool one_run(const std::string& store, const std::string& who, std::size_t committed,
               const std::optional<Interruption>& drop) {
    return findings_.runs("a sink takes its items", who, [&] {
      const auto owner = make_(path(store));
      SinkModel& sink = owner->sink();
      sink.open({schema_, numbers_.size()});
      findings_.check(committed == 0 || sink.has_some(), "has_some is true where something was committed",
                      [&] { return who; });
      const std::size_t end = drop ? std::min(drop->commit_at + drop->lost, numbers_.size()) : numbers_.size();
      for (std::size_t i = 0; i < end; ++i) {
        if (drop && i == drop->commit_at) sink.commit();
        const bool there = sink.has(numbers_[i]);
        findings_.check(there || i >= committed, "what was committed survives and is found by has",
                        [&] { return who + ": item " + std::to_string(i) + " of " + std::to_string(committed); });
        findings_.check(!there || began_.count(store) != 0, "has is false for what was never put",
                        [&] { return who + ": item " + std::to_string(i); });
        if (!there) put(sink, i);
        if (options_.commit_every != 0 && (i + 1) % options_.commit_every == 0 && (!drop || i < drop->commit_at))
          sink.commit();
      }
      began_.insert(store);
      if (drop) {
        if (drop->commit_at >= end) sink.commit();
        return;
      }
      sink.commit();
      sink.finish();
    });
  }

  std::optional<Store> read_back(const std::string& store) {
    std::optional<Store> found;
    findings_.runs("a finished store can be read", store, [&] {
      const AnySource source = open_(path(store));
      Store read{source.schema(), {}, {}};
      for (std::uint64_t i = 0; i < source.size(); ++i) {
        read.keys.push_back(source.model()->key(i));
        read.records.push_back(copy_of(read_sample(source, i)));
      }
      found = std::move(read);
    });
    return found;
  }

  // Returns the store's slot for a field, if the store has the field unchanged.
  std::optional<std::size_t> stored_as_put(const Store& store, std::size_t slot) const {
    const auto stored = store.schema.find(schema_[slot].name);
    return stored && store.schema[*stored] == schema_[slot] ? stored : std::nullopt;
  }
  // Returns item `i`, with the values that the undisturbed run stored. A field that the store lacks or changes has the
  // value that was put. Mistakes of the undisturbed run are findings already, so they are not reported again.
  Record as_stored(std::size_t i) const {
    Record record = records_[i];
    for (std::size_t slot = 0; slot < schema_.size(); ++slot)
      if (const auto at = stored_as_put(*whole_, slot)) record.values[slot] = whole_->records[i].values[*at];
    return record;
  }
  bool holds(const Store& store, const Record& stored, const Record& put) const {
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      const auto at = stored_as_put(store, slot);
      if (!at) continue;
      const Value &was = put.values[slot], &is = stored.values[*at];
      if (was.shape != is.shape || was.bytes != is.bytes) return false;
    }
    return true;
  }

  bool whole_run() {
    if (!one_run("whole", "an undisturbed run", 0, {})) return false;
    whole_ = read_back("whole");
    if (!whole_) return false;
    if (!findings_.check(whole_->records.size() == records_.size(), "every item is stored once", [&] {
          return std::to_string(records_.size()) + " were put, " + std::to_string(whole_->records.size()) +
                 " are there";
        }))
      return true;
    std::size_t compared = 0;
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      const auto stored = stored_as_put(*whole_, slot);
      if (!stored) continue;
      ++compared;
      for (std::size_t i = 0; i < records_.size(); ++i) {
        const Value &was = records_[i].values[slot], &is = whole_->records[i].values[*stored];
        findings_.check(was.shape == is.shape && was.bytes == is.bytes, "what was put is what is read back",
                        [&] { return "item " + std::to_string(i) + ", field \"" + schema_[slot].name + "\""; });
      }
    }
    findings_.check(compared > 0, "what was put is what is read back", [&] {
      return "no field of " + schema_.to_string() + " is in the store, which has " + whole_->schema.to_string();
    });
    return true;
  }

  void same_as_whole(const std::string& store, const std::string& who) {
    if (const std::optional<Store> now = read_back(store)) same(*whole_, *now, who);
  }

  void same(const Store& whole, const Store& now, const std::string& who) {
    constexpr std::string_view contract = "a continued store is that of an undisturbed run";
    if (!findings_.check(now.schema == whole.schema && now.keys == whole.keys, contract, [&] {
          return who + ": " + std::to_string(now.keys.size()) + " keys of " + now.schema.to_string() + " instead of " +
                 std::to_string(whole.keys.size()) + " of " + whole.schema.to_string() + ", or other ones";
        }))
      return;
    for (std::size_t i = 0; i < now.records.size(); ++i) {
      const std::string differs = difference(now.schema, whole.records[i], now.records[i]);
      findings_.check(differs.empty(), contract, [&] {
        return ("record " + std::to_string(i)).append(", ").append(who).append(": ").append(differs);
      });
    }
  }

  void rerun() {
    if (one_run("whole", "a rerun of a finished run", numbers_.size(), {}))
      same_as_whole("whole", "a rerun of a finished run");
  }

  void continued(const std::string& who, const std::vector<Interruption>& drops) {
    std::string store = who;
    std::ranges::replace(store, ' ', '_');
    std::size_t committed = 0;
    for (const Interruption& drop : drops) {
      if (!one_run(store, who, committed, drop)) return;
      committed = std::max(committed, std::min(drop.commit_at, numbers_.size()));
    }
    if (one_run(store, who + ", then continued", committed, {})) same_as_whole(store, who);
  }

  // Writes the pipeline with `write`. If `stopped`, the run is stopped at its first commit, and a second run continues.
  WriteProgress write_all(const Pipeline& pipeline, const std::string& store, bool stopped) {
    WriteOptions options{.threads = 2, .commit_every = std::max<std::uint64_t>(options_.commit_every, 1)};
    if (stopped) {
      std::stop_source stop;
      WriteOptions first = options;
      first.stop = stop.get_token();
      first.progress = [&](const WriteProgress&) { stop.request_stop(); };
      const auto sink = make_(path(store));
      penstock::detail::write(pipeline, sink->sink(), first);
    }
    const auto sink = make_(path(store));
    return penstock::detail::write(pipeline, sink->sink(), options);
  }

  void written(const std::string& who, bool stopped) {
    std::string store = who;
    std::ranges::replace(store, ' ', '_');
    findings_.runs("write stores a pipeline", who, [&] {
      const WriteProgress progress = write_all(from(items_), store, stopped);
      findings_.check(progress.done == numbers_.size(), "write stores a pipeline", [&] {
        return who + ": " + std::to_string(progress.done) + " of " + std::to_string(numbers_.size());
      });
    });
    same_as_whole(store, who);
  }

  // Writes two samples of each item, in one run, and in a run that is stopped and continued.
  void children() {
    const Pipeline pipeline = from(items_) | Twice{};
    std::optional<Store> stores[2];
    for (const bool stopped : {false, true}) {
      const std::string store = stopped ? "children_stopped" : "children";
      findings_.runs("write stores a pipeline", store, [&] { write_all(pipeline, store, stopped); });
      stores[stopped ? 1 : 0] = read_back(store);
    }
    const std::optional<Store>&whole = stores[0], &continued = stores[1];
    if (!whole || !continued || whole_->records.size() != records_.size()) return;
    if (!findings_.check(whole->records.size() == 2 * numbers_.size(), beside, [&] {
          return std::to_string(2 * numbers_.size()) + " were put, " + std::to_string(whole->records.size()) +
                 " are there";
        }))
      return;
    // A store may order its records by their keys, so the samples may be in another order than they were put. Each pair
    // is therefore looked up among all records, and its samples may be in either order.
    std::vector<bool> found(records_.size());
    for (std::size_t i = 0; i < whole->records.size(); i += 2) {
      const Record &a = whole->records[i], &b = whole->records[i + 1];
      std::size_t record = 0;
      const auto are_its_samples = [&] {
        const Record first = as_stored(record), second = second_of(schema_, first);
        return (holds(*whole, a, first) && holds(*whole, b, second)) ||
               (holds(*whole, b, first) && holds(*whole, a, second));
      };
      while (record < found.size() && (found[record] || !are_its_samples())) ++record;
      if (findings_.check(record < found.size(), beside, [&] {
            return "records " + std::to_string(i) + " and " + std::to_string(i + 1) +
                   " of the store are not the two samples of one";
          }))
        found[record] = true;
    }
    same(*whole, *continued, "two samples of each record, stopped");
  }

  // Lets one job begin or finish a store. Checks that another job is refused, and that the first job can go on after
  // that. Checks that a finished store stays the same.
  void another_job(bool finished) {
    const std::string who = finished ? "finished" : "begun", store = who + "_by_another_job";
    const std::size_t end = finished ? numbers_.size() : numbers_.size() / 2;
    const auto run = [&](const std::string& version) {
      const auto owner = make_(path(store));
      SinkModel& sink = owner->sink();
      sink.open({schema_, numbers_.size(), {{"stage", version}}});
      for (std::size_t i = 0; i < end; ++i)
        if (!sink.has(numbers_[i])) put(sink, i);
      sink.commit();
      if (finished) sink.finish();
    };
    if (!findings_.runs("a sink takes its items", store, [&] { run("version 1"); })) return;
    findings_.refused("what another job has left is refused", who, [&] { run("version 2"); });
    if (!findings_.runs("a sink takes its items", store, [&] { run("version 1"); }) || !finished) return;
    same_as_whole(store, "refused to another job");
  }

  void bad_place() {
    std::ofstream(path("file")) << "no folder";
    findings_.refused("failures of a sink are Errors", "a store below a file", [&] {
      const auto owner = make_(path("file") + "/store");
      owner->sink().open({schema_, numbers_.size()});
      put(owner->sink(), 0);
      owner->sink().commit();
    });
  }

  const detail::MakeSink& make_;
  const detail::OpenStore& open_;
  const std::string& folder_;
  const SinkOptions& options_;
  AnySource items_;
  Schema schema_;
  Findings findings_;
  std::vector<SinkItem> numbers_;
  std::vector<Record> records_;
  std::set<std::string> began_;  // stores into which an earlier run may have put items
  std::optional<Store> whole_;
};

}  // namespace

Report detail::check_sink(const MakeSink& make, const OpenStore& open, const std::string& folder,
                          const SinkOptions& options) {
  return SinkSuite(make, open, folder, options).run();
}

}  // namespace penstock::testing
