// SPDX-License-Identifier: Apache-2.0
// Sinks that break one promise each, and what the suite says of them. Their stores are maps that outlive them.
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/sink.hpp>

#include "findings.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;

namespace {

struct Stored {
  std::string image;
  std::int64_t label = 0;
};
using Shelf = std::map<std::string, Stored>;  // by key

struct Stores {
  std::map<std::string, Shelf> by_path;
  std::map<std::string, std::vector<ps::JobFact>> made_by;
};

class Right {
 public:
  Right(Stores* stores, std::string path) : stores_(stores), path_(std::move(path)) {}
  void open(const ps::SinkJob& job) {
    const auto [there, is_new] = stores_->made_by.try_emplace(path_, job.made_by);
    if (!is_new && there->second != job.made_by)
      throw ps::Error(ps::Errc::state_mismatch, ps::job_difference(there->second, job.made_by));
    shelf_ = &stores_->by_path[path_];
  }
  bool has(const ps::SinkItem& item) { return shelf_->count(item.key) != 0; }
  void put(const ps::SinkItem& item, ps::Sample& sample) {
    const auto image = sample.view<const std::uint8_t, 1>("image");
    pending_.emplace_back(item.key,
                          Stored{std::string(image.begin(), image.end()), sample.scalar<std::int64_t>("label")});
  }
  void commit() {
    for (auto& [key, stored] : pending_) (*shelf_)[key] = std::move(stored);
    pending_.clear();
  }
  void finish() {}
  std::string name() const { return "map"; }

 protected:
  Stores* stores_;
  std::string path_;
  Shelf* shelf_ = nullptr;
  std::vector<std::pair<std::string, Stored>> pending_;
};

class ShelfSource {
 public:
  explicit ShelfSource(Shelf shelf) : shelf_(std::move(shelf)) {}
  std::uint64_t size() const { return shelf_.size(); }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}, {"label", ps::DType::i64, {}}}; }
  std::string key(std::uint64_t i) const { return std::next(shelf_.begin(), static_cast<std::ptrdiff_t>(i))->first; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const Stored& stored = std::next(shelf_.begin(), static_cast<std::ptrdiff_t>(i))->second;
    out.view("image", std::as_bytes(std::span(stored.image)));
    out.scalar("label", stored.label);
  }

 private:
  Shelf shelf_;
};

template <class S>
ps::testing::Report report_on(ps::testing::SinkOptions options = {}) {
  const TempFolder folder;
  const auto stores = std::make_shared<Stores>();
  options.refuses_a_bad_place = false;
  return ps::testing::check_sink([stores](const std::string& path) { return S(stores.get(), path); },
                                 [stores](const std::string& path) {
                                   if (stores->by_path.count(path) == 0) throw ps::Error(ps::Errc::not_found, path);
                                   return ps::share(ShelfSource(stores->by_path[path]));
                                 },
                                 folder.path().string(), options);
}

constexpr std::string_view continued = "a continued store is that of an undisturbed run";

}  // namespace

TEST_CASE("a sink that is right passes") {
  const auto report = report_on<Right>();
  CHECK(report.text() == "");
  CHECK(report.passed());
  CHECK(report_on<Right>({.commit_every = 1}).text() == "");
  CHECK(report_on<Right>({.commit_every = 1000}).text() == "");
}

TEST_CASE("items that are not stored as they are, or not at all, are found") {
  struct Loses : Right {
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      if (item.position != 11) Right::put(item, sample);
    }
  };
  CHECK(found(report_on<Loses>(), "every item is stored once"));
  struct Alters : Right {
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      if (item.position == 11) pending_.back().second.label += 1;
    }
  };
  CHECK(found_only(report_on<Alters>(), "what was put is what is read back"));
  struct Steals : Right {
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      const auto image = sample.view<const std::uint8_t, 1>("image");
      if (image.size() != 0) ++const_cast<std::uint8_t&>(*image.begin());
    }
  };
  CHECK(found(report_on<Steals>(), "a sink leaves what it is given as it is"));
  struct Nowhere : Right {
    using Right::Right;
    void open(const ps::SinkJob&) { shelf_ = &own_; }
    Shelf own_;
  };
  CHECK(found_only(report_on<Nowhere>(), "a finished store can be read"));
}

TEST_CASE("a sink that has one place for all samples of a record, or denies what it has, is found") {
  struct OneEach : Right {
    using Right::Right;
    static ps::SinkItem named(ps::SinkItem item) {
      item.child.reset();
      item.key = ps::position_key(item, 0);
      return item;
    }
    bool has(const ps::SinkItem& item) { return Right::has(named(item)); }
    void put(const ps::SinkItem& item, ps::Sample& sample) { Right::put(named(item), sample); }
  };
  CHECK(found_only(report_on<OneEach>(), "samples of one record are stored beside each other"));
  struct FirstAlone : Right {  // a record's first sample alone is stored as it is
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      if (item.child.value_or(0) != 0) pending_.back().second.label += 1;
    }
  };
  CHECK(found_only(report_on<FirstAlone>(), "samples of one record are stored beside each other"));
  struct Repeats : Right {  // a record's samples stand beside each other, but each has what the first one has
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      if (item.child.value_or(0) != 0 && pending_.size() > 1) pending_.back().second = pending_.rbegin()[1].second;
    }
  };
  CHECK(found(report_on<Repeats>(), "samples of one record are stored beside each other"));
  struct LateChildren : Right {  // right where a run is not interrupted
    using Right::Right;
    void open(const ps::SinkJob& job) {
      Right::open(job);
      continued_ = !shelf_->empty();
    }
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      if (continued_ && item.child) pending_.back().second.label += 1;
    }
    bool continued_ = false;
  };
  CHECK(found_only(report_on<LateChildren>(), continued));
  struct Denies : Right {
    using Right::Right;
    bool has_some() const { return false; }
  };
  CHECK(found_only(report_on<Denies>(), "has_some is true where something was committed"));
}

TEST_CASE("runs that are not continued as they must be are found") {
  struct Forgets : Right {  // commit is nothing, finish alone stores
    using Right::Right;
    void commit() {}
    void finish() { Right::commit(); }
  };
  CHECK(found_only(report_on<Forgets>(), "what was committed survives and is found by has"));
  struct Blind : Right {
    using Right::Right;
    bool has(const ps::SinkItem&) { return false; }
  };
  CHECK(found_only(report_on<Blind>(), "what was committed survives and is found by has"));
  struct Believes : Right {
    using Right::Right;
    bool has(const ps::SinkItem& item) { return item.position % 10 == 4; }
  };
  CHECK(found(report_on<Believes>(), "has is false for what was never put"));
  struct Claims : Right {  // says that it has what was put but never committed
    using Right::Right;
    bool has(const ps::SinkItem& item) { return seen().count(path_ + item.key) != 0; }
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      seen().insert({path_ + item.key, {}});
    }
    std::map<std::string, Stored>& seen() { return stores_->by_path["seen"]; }
  };
  CHECK(found_only(report_on<Claims>(), continued));
  struct Appends : Right {  // a rerun's items get keys of their own
    using Right::Right;
    void open(const ps::SinkJob& job) {
      Right::open(job);
      run_ = shelf_->size();
    }
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Right::put(item, sample);
      if (run_ != 0) pending_.back().first += "again";
    }
    std::size_t run_ = 0;
  };
  CHECK(found(report_on<Appends>(), continued));
  struct Touches : Right {
    using Right::Right;
    void open(const ps::SinkJob& job) {
      Right::open(job);
      if (shelf_->size() == job.size) shelf_->begin()->second.label += 1;
    }
  };
  CHECK(found(report_on<Touches>(), continued));
}

TEST_CASE("a sink that goes on with what another job has left is found") {
  struct Mixes : Right {
    using Right::Right;
    void open(const ps::SinkJob& job) { Right::open({job.schema, job.size}); }
  };
  CHECK(found_only(report_on<Mixes>(), "what another job has left is refused"));
  CHECK(report_on<Mixes>({.refuses_another_job = false}).text() == "");
}

TEST_CASE("sinks that fail are found") {
  struct Refuses : Right {
    using Right::Right;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      if (item.position == 30) throw ps::Error(ps::Errc::io, "no space");
      Right::put(item, sample);
    }
  };
  CHECK(found(report_on<Refuses>(), "a sink takes its items"));
  struct Nameless : Right {
    using Right::Right;
    std::string name() const { return "two\nlines"; }
  };
  CHECK(found_only(report_on<Nameless>(), "a name is one line, and always the same"));
  struct OneThread : Right {  // a long commit from elsewhere: `write` calls from one thread, but in runs of its own
    using Right::Right;
    void commit() {
      if (path_.find("/written") != std::string::npos) throw std::runtime_error("only by hand");
      Right::commit();
    }
  };
  CHECK(found(report_on<OneThread>(), "write stores a pipeline"));
  // No folder is needed for maps, so the bad place is accepted.
  const TempFolder folder;
  const auto stores = std::make_shared<Stores>();
  const auto report = ps::testing::check_sink(
      [stores](const std::string& path) { return Right(stores.get(), path); },
      [stores](const std::string& path) { return ps::share(ShelfSource(stores->by_path[path])); },
      folder.path().string());
  CHECK(found_only(report, "failures of a sink are Errors"));
}

}  // namespace PENSTOCK_TEST_FILE
