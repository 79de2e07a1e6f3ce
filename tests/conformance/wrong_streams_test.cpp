// SPDX-License-Identifier: Apache-2.0
// Streams that break one promise each, and what the suite says of them.
#include <atomic>
#include <memory>
#include <string_view>

#include <penstock/penstock.hpp>
#include <penstock/testing/stream.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_stream;

namespace {

// 12 numbers and one more an epoch, that begin with 100 times the epoch.
struct Right {
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  void reset(std::uint64_t e) {
    epoch = e;
    at = 0;
  }
  bool next(ps::SampleBuilder& out) {
    if (at == 12 + epoch) return false;
    out.scalar<std::int64_t>("n", value(at++));
    return true;
  }
  void seek(std::uint64_t record) { at = record; }
  std::int64_t value(std::uint64_t record) const { return static_cast<std::int64_t>(epoch * 100 + record); }
  std::uint64_t identity() const { return 3; }
  std::uint64_t epoch = 0, at = 0;
};

template <class S>
ps::testing::Report report_on() {
  return check_stream([] { return S{}; });
}

std::atomic<int> made{0};
constexpr std::string_view repeats = "reset begins the epoch anew, with the same records";

}  // namespace

TEST_CASE("a stream that is right passes") {
  CHECK(report_on<Right>().text() == "");
  CHECK(report_on<Right>().passed());
  struct NoSeek {
    Right right;
    ps::Schema schema() const { return right.schema(); }
    void reset(std::uint64_t e) { right.reset(e); }
    bool next(ps::SampleBuilder& out) { return right.next(out); }
  };
  CHECK(report_on<NoSeek>().text() == "");
  struct NoCopy : Right {
    NoCopy() = default;
    NoCopy(const NoCopy&) = delete;
    NoCopy(NoCopy&&) = default;
    NoCopy& operator=(NoCopy&&) = default;
  };
  CHECK(report_on<NoCopy>().text() == "");
  struct Endless : Right {
    bool next(ps::SampleBuilder& out) {
      out.scalar<std::int64_t>("n", value(at++));
      return true;
    }
  };
  CHECK(check_stream([] { return Endless{}; }, {.records = 50}).text() == "");
  struct Empty : Right {
    bool next(ps::SampleBuilder&) { return false; }
  };
  CHECK(report_on<Empty>().text() == "");
}

TEST_CASE("streams that don't begin anew are found") {
  struct GoesOn : Right {
    void reset(std::uint64_t e) {
      if (e != epoch) Right::reset(e);
    }
  };
  CHECK(found(report_on<GoesOn>(), repeats));
  struct Drifts : Right {
    bool next(ps::SampleBuilder& out) {
      if (at == 12 + epoch) return false;
      ++at;
      out.scalar<std::int64_t>("n", ++total);
      return true;
    }
    std::int64_t total = 0;
  };
  CHECK(found(report_on<Drifts>(), repeats));
  struct Longer : Right {
    void reset(std::uint64_t e) {
      Right::reset(e);
      most = 12 + ++resets;
    }
    bool next(ps::SampleBuilder& out) {
      if (at == most) return false;
      out.scalar<std::int64_t>("n", value(at++));
      return true;
    }
    std::uint64_t resets = 0, most = 0;
  };
  CHECK(found(report_on<Longer>(), repeats));
  struct Object : Right {
    bool next(ps::SampleBuilder& out) {
      if (at++ == 5) return false;
      out.scalar<std::int64_t>("n", number);
      return true;
    }
    void seek(std::uint64_t) = delete;
    std::int64_t number = ++made;
  };
  CHECK(found(report_on<Object>(), "what is read follows from the epoch alone"));
}

TEST_CASE("ends that are no ends are found") {
  struct Again : Right {
    bool next(ps::SampleBuilder& out) {
      if (Right::next(out)) return true;
      at = 0;
      return false;
    }
  };
  CHECK(found(report_on<Again>(), "next stays false after the end of an epoch"));
}

TEST_CASE("seeks to the wrong place are found") {
  constexpr std::string_view contract = "seek(n) is the same as reading n records";
  struct OneOff : Right {
    void seek(std::uint64_t record) { at = record + 1; }
  };
  CHECK(found_only(report_on<OneOff>(), contract));
  struct Relative : Right {
    void seek(std::uint64_t record) { at = at / 2 + record / 2; }
  };
  CHECK(found_only(report_on<Relative>(), contract));
  struct FirstEpoch : Right {
    void seek(std::uint64_t record) {
      at = record;
      epoch = 0;
    }
  };
  CHECK(found_only(report_on<FirstEpoch>(), contract));
}

TEST_CASE("copies that share a position are found") {
  struct Shared {
    ps::Schema schema() const { return Right{}.schema(); }
    void reset(std::uint64_t e) { right->reset(e); }
    bool next(ps::SampleBuilder& out) { return right->next(out); }
    std::shared_ptr<Right> right = std::make_shared<Right>();
  };
  CHECK(found_only(report_on<Shared>(), "copies do not disturb each other"));
}

TEST_CASE("records of a stream are held to its schema") {
  struct Missing : Right {
    bool next(ps::SampleBuilder&) { return at++ < 5; }
  };
  CHECK(found(report_on<Missing>(), "every field of the schema is given"));
  struct Shifts : Right {
    ps::Schema schema() const { return {{"n", ps::DType::i64, {}}, {"y" + std::to_string(++made), ps::DType::u8, {}}}; }
  };
  CHECK(found(report_on<Shifts>(), "schema is always the same"));
  struct Nameless : Right {
    std::string name() const { return "two\nlines"; }
  };
  CHECK(found_only(report_on<Nameless>(), "a name is one line, and always the same"));
  struct Random : Right {
    std::uint64_t identity() const { return static_cast<std::uint64_t>(++made); }
  };
  CHECK(found_only(report_on<Random>(), "identity is that of the data"));
  struct Fields : Right {
    ps::Schema schema() const {
      return number % 2 == 0 ? ps::Schema{{"n", ps::DType::i64, {}}}
                             : ps::Schema{{"n", ps::DType::i64, {}, ps::Collate::ragged()}};
    }
    int number = ++made;
  };
  CHECK(found(report_on<Fields>(), "a stream made alike has the same schema"));
}

TEST_CASE("a stream that can't say what it has is found") {
  struct Unknown : Right {
    ps::Schema schema() const { throw ps::Error(ps::Errc::io, "unknown"); }
  };
  CHECK(found_only(report_on<Unknown>(), "a stream can be opened"));
}

TEST_CASE("bad records of a stream are found, or allowed when they always are") {
  struct Bad : Right {
    bool next(ps::SampleBuilder& out) {
      if (at == 4) {
        ++at;
        throw ps::Error(ps::Errc::corrupt, "damaged");
      }
      return Right::next(out);
    }
  };
  CHECK(found_only(report_on<Bad>(), "every record can be read"));
  CHECK(check_stream([] { return Bad{}; }, {.allow_bad_records = true}).text() == "");
  struct Stuck : Right {
    bool next(ps::SampleBuilder& out) {
      if (at == 4 && ++tries < 3) throw ps::Error(ps::Errc::corrupt, "not read past");
      return Right::next(out);
    }
    int tries = 0;
  };
  CHECK(found(check_stream([] { return Stuck{}; }, {.allow_bad_records = true}), repeats));
  struct Fatal : Right {
    bool next(ps::SampleBuilder&) { throw ps::Error(ps::Errc::closed, "gone"); }
  };
  CHECK(found_only(report_on<Fatal>(), "reset, seek and next throw Errors of one record alone"));
  struct NoReset : Right {
    void reset(std::uint64_t) { throw std::runtime_error("no"); }
  };
  CHECK(found(report_on<NoReset>(), "reset, seek and next throw Errors of one record alone"));
}

}  // namespace PENSTOCK_TEST_FILE
