// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/stream.hpp>

#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::SourceModel;
using penstock::detail::StreamModel;

constexpr std::string_view repeats = "reset begins the epoch anew, with the same records";

// A stream as one loader reads it: the opened stream, and the source from which it was opened.
struct Opened {
  std::shared_ptr<const SourceModel> model;
  std::unique_ptr<StreamModel> stream;
};

class StreamSuite {
 public:
  StreamSuite(const detail::MakeStream& make, bool can_be_copied, const StreamOptions& options)
      : make_(make), can_be_copied_(can_be_copied), options_(options), first_{make(), nullptr} {}

  Report run() {
    const bool ready = findings_.runs("a stream can be opened", "opening it", [&] {
      schema_ = first_.model->schema();
      first_.stream = first_.model->open_stream();
      const std::string name = first_.model->name();
      findings_.check(!name.empty() && name.find('\n') == std::string::npos && name == first_.model->name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + name + "\""; });
      findings_.check(first_.model->schema() == schema_, "schema is always the same", [] { return "it changed"; });
      findings_.check(first_.model->identity() == make_()->identity(), "identity is that of the data",
                      [] { return "streams made alike have different ones"; });
    });
    if (!ready) return findings_.report();
    StreamModel& stream = *first_.stream;
    for (std::uint64_t e = 0; e < std::max<std::uint64_t>(options_.epochs, 1); ++e)
      guarded("reading an epoch", [&] { read_reference(stream, e); });
    guarded("reading again", [&] { again(stream); });
    guarded("a stream made alike", [&] { made_alike(); });
    guarded("seek", [&] { seek(stream); });
    guarded("copies", [&] { copies(); });
    return findings_.report();
  }

 private:
  struct Epoch {
    std::vector<Record> records;
    bool whole = false;  // whether the epoch's end was read
  };

  template <class Act>
  void guarded(std::string_view what, const Act& act) {
    findings_.runs("reset, seek and next throw Errors of one record alone", what, act);
  }

  std::string place(std::uint64_t epoch, std::uint64_t record) {
    return "epoch " + std::to_string(epoch) + ", record " + std::to_string(record);
  }

  // Reads the next record. Returns false at the end. Throws errors that end a run.
  bool next(StreamModel& stream, const std::string& who, Record& record, std::byte content = std::byte{0xa5}) {
    bool more = true;
    GuardedCells cells(schema_);
    cells.begin({.content = content});
    try {
      SampleBuilder out(cells);
      more = stream.next(out);
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
      record = {{}, error.code(), error.what(), true};
      return true;
    }
    if (more) record = make_record(cells, findings_, who, [] {});
    return more;
  }

  void read_reference(StreamModel& stream, std::uint64_t epoch) {
    epochs_.resize(static_cast<std::size_t>(epoch) + 1);
    Epoch& of = epochs_.back();
    stream.reset(epoch);
    Record record;
    while (of.records.size() < options_.records) {
      const std::string who = place(epoch, of.records.size());
      if (!next(stream, who, record)) {
        of.whole = true;
        break;
      }
      findings_.check(!record.failure || options_.allow_bad_records, "every record can be read",
                      [&] { return who + ": " + record.said; });
      of.records.push_back(record);
    }
    if (of.whole) stays_at_the_end(stream, epoch);
  }

  void stays_at_the_end(StreamModel& stream, std::uint64_t epoch) {
    Record record;
    for (int i = 0; i < 3; ++i)
      findings_.check(!next(stream, "after the end", record), "next stays false after the end of an epoch",
                      [&] { return "epoch " + std::to_string(epoch) + " goes on when it is asked again"; });
  }

  // Reads the next `count` records and compares them with the records of the first reading. The stream must stand at
  // record `first` of the epoch.
  void compare(StreamModel& stream, std::uint64_t epoch, std::size_t first, std::size_t count,
               std::string_view contract, const std::string& when) {
    const Epoch& of = epochs_[static_cast<std::size_t>(epoch)];
    Record record;
    for (std::size_t i = first; i < first + count; ++i) {
      const std::string who = place(epoch, i) + ", " + when;
      const bool more = next(stream, who, record, std::byte{0x5a});
      const bool expected = i < of.records.size();
      if (!expected && !of.whole) return;
      if (!findings_.check(more == expected, contract, [&] {
            return who + ": " + (more ? "there is one, after the end" : "the epoch ended early");
          }))
        return;
      if (!more) return;
      const std::string differs = difference(schema_, of.records[i], record);
      if (!findings_.check(differs.empty(), contract, [&] { return std::string(who).append(": ").append(differs); }))
        return;
    }
  }
  void compare_whole(StreamModel& stream, std::uint64_t epoch, std::string_view contract, const std::string& when) {
    stream.reset(epoch);
    compare(stream, epoch, 0, epochs_[static_cast<std::size_t>(epoch)].records.size() + 1, contract, when);
  }

  void again(StreamModel& stream) {
    for (std::uint64_t e = epochs_.size(); e-- > 0;) {
      compare_whole(stream, e, repeats, "read after other epochs");
      compare_whole(stream, e, repeats, "read twice in a row");
      const std::size_t half = epochs_[static_cast<std::size_t>(e)].records.size() / 2;
      stream.reset(e);
      compare(stream, e, 0, half, repeats, "read again");
      compare_whole(stream, e, repeats, "left half-way and reset");
      stream.reset(e);
      stream.reset(e);
      compare(stream, e, 0, 1, repeats, "reset twice");
    }
  }

  void made_alike() {
    for (std::uint64_t e = epochs_.size(); e-- > 0;) {
      const std::shared_ptr<const SourceModel> model = make_();
      findings_.check(model->schema() == schema_, "a stream made alike has the same schema",
                      [&] { return model->schema().to_string() + " instead of " + schema_.to_string(); });
      if (!(model->schema() == schema_)) return;
      const auto stream = model->open_stream();
      compare_whole(*stream, e, "what is read follows from the epoch alone", "from a stream made alike");
    }
  }

  void seek(StreamModel& stream) {
    if (!stream.can_seek()) return;
    for (std::uint64_t e = 0; e < epochs_.size(); ++e) {
      const std::size_t count = epochs_[static_cast<std::size_t>(e)].records.size();
      std::set<std::size_t> targets{0,         std::min<std::size_t>(1, count),         count / 3,
                                    count / 2, count - std::min<std::size_t>(1, count), count};
      for (const std::size_t target : targets) {
        stream.reset(e);
        stream.seek(target);
        compare(stream, e, target, std::max<std::size_t>(count - target + 1, 2),
                "seek(n) is the same as reading n records", "after seek(" + std::to_string(target) + ")");
      }
    }
  }

  // Checks that two opened streams don't disturb each other, because each loader opens a stream of its own.
  void copies() {
    if (!can_be_copied_) return;
    const std::shared_ptr<const SourceModel> model = make_();
    const auto a = model->open_stream(), b = model->open_stream();
    const std::uint64_t last = epochs_.size() - 1;
    a->reset(0);
    b->reset(last);
    const std::size_t most =
        std::max(epochs_[0].records.size(), epochs_[static_cast<std::size_t>(last)].records.size()) + 1;
    for (std::size_t i = 0; i < most; ++i) {
      constexpr std::string_view contract = "copies do not disturb each other";
      if (i < epochs_[0].records.size()) compare(*a, 0, i, 1, contract, "in turns with a copy");
      if (i < epochs_[static_cast<std::size_t>(last)].records.size())
        compare(*b, last, i, 1, contract, "in turns with a copy");
    }
  }

  const detail::MakeStream& make_;
  bool can_be_copied_;
  const StreamOptions& options_;
  Findings findings_;
  Opened first_;
  Schema schema_;
  std::vector<Epoch> epochs_;
};

}  // namespace

Report detail::check_stream(const MakeStream& make, bool can_be_copied, const StreamOptions& options) {
  return StreamSuite(make, can_be_copied, options).run();
}

}  // namespace penstock::testing
