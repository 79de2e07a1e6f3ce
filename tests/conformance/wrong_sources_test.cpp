// SPDX-License-Identifier: Apache-2.0
// Sources that break one promise each, and what the suite says of them.
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/source.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_source;

namespace {

// Right in all respects; the others replace what they get wrong.
struct Right {
  std::uint64_t size() const { return 20; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}}, {"n", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    refuse_past_the_end(i);
    x(i, out);
    out.scalar<std::int64_t>("n", static_cast<std::int64_t>(i * i));
  }
  std::string name() const { return "right"; }
  std::string key(std::uint64_t i) const {
    refuse_past_the_end(i);
    return "k" + std::to_string(i);
  }
  std::string file() const { return "nowhere"; }
  std::uint64_t identity() const { return 5; }
  void will_need(std::span<const std::uint64_t>) const noexcept {}
  std::vector<std::uint64_t> block_ends() const { return {5, 12, 20}; }

  static void x(std::uint64_t i, ps::SampleBuilder& out) {
    for (std::uint8_t& v : out.emplace<std::uint8_t, 1>("x", {static_cast<std::int64_t>(i + 1)}))
      v = static_cast<std::uint8_t>(i);
  }
  static void refuse_past_the_end(std::uint64_t i) {
    if (i >= 20) throw ps::Error(ps::Errc::not_found, "there are 20 records");
  }
};

// A right source with readers.
template <class Reader>
struct Leased : Right {
  void read(std::uint64_t, ps::SampleBuilder&) const = delete;
  auto open_reader() const { return std::make_unique<Reader>(); }
};
struct RightReader {
  void read(std::uint64_t i, ps::SampleBuilder& out) { Right{}.read(i, out); }
};

template <class S>
ps::testing::Report report_on() {
  return check_source([] { return S{}; });
}

std::atomic<int> made{0};  // sources, for those that differ from object to object

}  // namespace

TEST_CASE("a source that is right passes") {
  const auto shared = report_on<Right>();
  CHECK(shared.text() == "");
  CHECK(shared.passed());
  CHECK(shared.checks() > 500);
  CHECK(report_on<Leased<RightReader>>().text() == "");
  CHECK(check_source([] { return ps::concat(Right{}, Right{}); }).text() == "");
  struct Empty : Right {
    std::uint64_t size() const { return 0; }
    std::vector<std::uint64_t> block_ends() const { return {}; }
    void read(std::uint64_t, ps::SampleBuilder&) const { throw ps::Error(ps::Errc::not_found, "none"); }
    std::string key(std::uint64_t) const { throw ps::Error(ps::Errc::not_found, "none"); }
  };
  CHECK(report_on<Empty>().text() == "");
}

TEST_CASE("a finding says what was promised and what was seen") {
  struct Late : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
      out.scalar<std::int64_t>("n", 0);
      if (i == 7) out.emplace<std::int64_t, 0>("n", {});
    }
  };
  const auto report = report_on<Late>();
  CHECK_FALSE(report.passed());
  CHECK(report.text().find("record 7") != std::string::npos);
  CHECK(report.text().find("field \"n\" byte 0") != std::string::npos);
  CHECK(report.text().find("it was not written") != std::string::npos);
  CHECK(report.text().find("more)") != std::string::npos);  // three of a kind are shown
}

TEST_CASE("records that don't match the schema are found") {
  struct Missing : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
    }
  };
  CHECK(found(report_on<Missing>(), "every field of the schema is given"));
  struct Twice : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      Right::read(i, out);
      out.scalar<std::int64_t>("n", static_cast<std::int64_t>(i * i));
    }
  };
  CHECK(found_only(report_on<Twice>(), "every field of the schema is given once"));
  struct Overflow : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      const auto to = out.emplace<std::uint8_t, 1>("x", {3});
      for (int k = 0; k < 4; ++k) to.data()[k] = 9;
      out.scalar<std::int64_t>("n", 1);
    }
  };
  CHECK(found(report_on<Overflow>(), "nothing is written outside of a value's memory"));
  struct Askew : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      alignas(8) static const std::byte bytes[16]{};
      x(i, out);
      out.view("n", bytes + 1, {});
    }
  };
  CHECK(found_only(report_on<Askew>(), "a value lies where its dtype can be read"));
  struct Negative : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      static const std::byte byte{};
      out.view("x", &byte, {ps::dynamic});
      out.scalar<std::int64_t>("n", 1);
    }
  };
  CHECK(found(report_on<Negative>(), "values have the schema's shape"));
  struct NoFields : Right {
    ps::Schema schema() const { return {}; }
    void read(std::uint64_t i, ps::SampleBuilder&) const { refuse_past_the_end(i); }
  };
  CHECK(found_only(report_on<NoFields>(), "records have fields"));
}

TEST_CASE("records that change are found") {
  constexpr std::string_view contract = "a record has the same value whenever and however it is read";
  struct Counts : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
      out.scalar<std::int64_t>("n", ++*calls);
    }
    std::shared_ptr<std::atomic<std::int64_t>> calls = std::make_shared<std::atomic<std::int64_t>>(0);
  };
  CHECK(found(report_on<Counts>(), contract));
  struct Unwritten : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      out.emplace<std::uint8_t, 1>("x", {8});
      out.scalar<std::int64_t>("n", 1);
    }
  };
  CHECK(found(report_on<Unwritten>(), contract));
  struct Object : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
      out.scalar<std::int64_t>("n", number);
    }
    std::int64_t number = ++made;
  };
  CHECK(found_only(report_on<Object>(), contract));  // a source made alike has other records
  struct Previous {
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      Right::refuse_past_the_end(i);
      Right::x(i, out);
      out.scalar<std::int64_t>("n", std::exchange(last, static_cast<std::int64_t>(i)));
    }
    std::int64_t last = -1;
  };
  CHECK(found(report_on<Leased<Previous>>(), contract));
  struct Sometimes : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      if (i == 3 && ++*calls % 2 == 0) throw ps::Error(ps::Errc::io, "now and then");
      Right::read(i, out);
    }
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found(report_on<Sometimes>(), contract));
}

TEST_CASE("bad records are found, or allowed when they always are") {
  struct Bad : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      if (i == 3) throw ps::Error(ps::Errc::corrupt, "damaged");
      Right::read(i, out);
    }
  };
  CHECK(found_only(report_on<Bad>(), "every record can be read"));
  CHECK(check_source([] { return Bad{}; }, {.allow_bad_records = true}).text() == "");
  struct Fatal : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      if (i == 3) throw ps::Error(ps::Errc::closed, "not of one sample");
      Right::read(i, out);
    }
  };
  CHECK(found_only(check_source([] { return Fatal{}; }, {.allow_bad_records = true}), "every record can be read"));
  struct Closed : Right {
    void read(std::uint64_t, ps::SampleBuilder&) const = delete;
    std::unique_ptr<RightReader> open_reader() const { throw ps::Error(ps::Errc::io, "no handle left"); }
  };
  CHECK(found_only(report_on<Closed>(), "readers can be opened"));
  struct OneHandle : Right {
    void read(std::uint64_t, ps::SampleBuilder&) const = delete;
    std::unique_ptr<RightReader> open_reader() const {
      if (++*opened > 1) throw ps::Error(ps::Errc::io, "no handle left");
      return std::make_unique<RightReader>();
    }
    std::shared_ptr<std::atomic<int>> opened = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found(report_on<OneHandle>(), "readers can be opened at any time"));
}

TEST_CASE("records that differ between threads are found") {
  struct PerThread : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
      out.scalar<std::int64_t>("n", std::this_thread::get_id() == first ? 0 : 1);
    }
    std::thread::id first = std::this_thread::get_id();
  };
  CHECK(found_only(report_on<PerThread>(), "a record has the same value on any thread"));
  struct OneReader : Right {
    void read(std::uint64_t, ps::SampleBuilder&) const = delete;
    std::unique_ptr<RightReader> open_reader() const {
      if (std::this_thread::get_id() != first) throw ps::Error(ps::Errc::io, "another thread");
      return std::make_unique<RightReader>();
    }
    std::thread::id first = std::this_thread::get_id();
  };
  CHECK(found_only(report_on<OneReader>(), "readers can be opened on any thread"));
  struct KeyOfThread : Right {
    std::string key(std::uint64_t i) const {
      refuse_past_the_end(i);
      return std::this_thread::get_id() == first ? Right::key(i) : "?";
    }
    std::thread::id first = std::this_thread::get_id();
  };
  CHECK(found_only(report_on<KeyOfThread>(), "a key is the same on any thread"));
}

TEST_CASE("advice that changes records is found") {
  constexpr std::string_view contract = "expect, pause and will_need change no record";
  struct Announced {
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      Right::refuse_past_the_end(i);
      // Trusts that it is asked for what was announced.
      const std::uint64_t gives = at < announced.size() ? announced[at++] : i;
      Right{}.read(gives, out);
    }
    void expect(std::span<const std::uint64_t> indices) noexcept {
      announced.assign(indices.begin(), indices.end());
      at = 0;
    }
    std::vector<std::uint64_t> announced;
    std::size_t at = 0;
  };
  CHECK(found(report_on<Leased<Announced>>(), contract));
  struct Tired {
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      Right::refuse_past_the_end(i);
      if (paused) throw ps::Error(ps::Errc::closed, "paused");
      Right{}.read(i, out);
    }
    void pause() noexcept { paused = true; }
    bool paused = false;
  };
  CHECK(found(report_on<Leased<Tired>>(), contract));
  struct Throwing : RightReader {
    void expect(std::span<const std::uint64_t>) {}
  };
  CHECK(found_only(report_on<Leased<Throwing>>(), "expect is noexcept"));
  struct ThrowingAdvice : Right {
    void will_need(std::span<const std::uint64_t>) const {}
  };
  CHECK(found_only(report_on<ThrowingAdvice>(), "will_need is noexcept"));
}

TEST_CASE("views that don't stay are found") {
  struct OneBuffer : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      thread_local std::vector<std::byte> buffer(64);
      std::ranges::fill(buffer, static_cast<std::byte>(i));
      out.view("x", {buffer.data(), 8});
      out.scalar<std::int64_t>("n", 1);
    }
  };
  CHECK(found(report_on<OneBuffer>(), "a view stays as it is until its reader is asked for another record"));
  // A buffer for each reader is enough for readers, but not where read is const.
  struct OwnBuffer {
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      Right::refuse_past_the_end(i);
      buffer.assign(64, static_cast<std::byte>(i));
      out.view("x", {buffer.data(), 8});
      out.scalar<std::int64_t>("n", 1);
    }
    std::vector<std::byte> buffer = std::vector<std::byte>(64);
  };
  CHECK(report_on<Leased<OwnBuffer>>().text() == "");
  struct TwoBuffers : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      thread_local std::vector<std::vector<std::byte>> buffers(8, std::vector<std::byte>(64));
      thread_local std::size_t turn = 0;
      std::vector<std::byte>& buffer = buffers[++turn % buffers.size()];
      std::ranges::fill(buffer, static_cast<std::byte>(i));
      out.view("x", {buffer.data(), 8});
      out.scalar<std::int64_t>("n", 1);
    }
  };
  CHECK(found_only(report_on<TwoBuffers>(), "where read is const, a view stays as long as the source"));
}

TEST_CASE("what a source says of itself and gets wrong is found") {
  struct Grows : Right {
    std::uint64_t size() const { return 10 + std::min<std::uint64_t>(++*calls, 5); }
    std::shared_ptr<std::atomic<std::uint64_t>> calls = std::make_shared<std::atomic<std::uint64_t>>(0);
    void read(std::uint64_t i, ps::SampleBuilder& out) const { Right::read(i, out); }
  };
  CHECK(found(report_on<Grows>(), "size is always the same"));
  struct Shifts : Right {
    ps::Schema schema() const { return Right::schema().with({"y" + std::to_string(++made), ps::DType::u8, {}}); }
  };
  CHECK(found(report_on<Shifts>(), "schema is always the same"));
  struct Nameless : Right {
    std::string name() const { return ""; }
  };
  CHECK(found(report_on<Nameless>(), "a name is one line, and always the same"));
  CHECK(found(report_on<Nameless>(), "an error names its source"));
  struct Elsewhere : Right {
    std::string file() const { return std::to_string(++made); }
  };
  CHECK(found_only(report_on<Elsewhere>(), "file is always the same"));
  struct Wanders : Right {
    std::string file_of(std::uint64_t) const { return std::to_string(++made); }
  };
  CHECK(found_only(report_on<Wanders>(), "file is always the same"));
  struct Unknown : Right {
    std::string name() const { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<Unknown>(), "size, schema, name, file and identity throw nothing"));
  struct Random : Right {
    std::uint64_t identity() const { return static_cast<std::uint64_t>(number); }
    int number = ++made;
  };
  CHECK(found_only(report_on<Random>(), "identity is that of the data, always the same"));
  CHECK(found_only(check_source([] { return Right{}; }, {.other = [] { return ps::share(Right{}); }}),
                   "other data has another identity"));
  struct MoreOrLess : Right {
    std::uint64_t size() const { return number % 2 == 0 ? 20 : 19; }
    std::vector<std::uint64_t> block_ends() const { return {}; }
    int number = ++made;
  };
  CHECK(found(check_source([] { return MoreOrLess{}; }, {.refuses_past_the_end = false}),
              "a source made alike has as many records"));
  struct OtherFields : Right {
    ps::Schema schema() const {
      return number % 2 == 0 ? Right::schema() : Right::schema().with({"n", ps::DType::i64, {1}});
    }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      refuse_past_the_end(i);
      x(i, out);
      out.emplace(1, out.schema()[1].shape).data[0] = std::byte{1};
    }
    int number = ++made;
  };
  CHECK(found(report_on<OtherFields>(), "a source made alike has the same schema"));
}

TEST_CASE("a source that can't be made twice is found") {
  int count = 0;
  const auto report = check_source([&count] {
    if (++count > 1) throw ps::Error(ps::Errc::io, "locked");
    return Right{};
  });
  CHECK(found_only(report, "another source over the same data can be made"));
}

TEST_CASE("keys and blocks that are wrong are found") {
  struct Changing : Right {
    std::string key(std::uint64_t i) const {
      refuse_past_the_end(i);
      return std::to_string(++*calls);
    }
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found(report_on<Changing>(), "a key is always the same"));
  struct Same : Right {
    std::string key(std::uint64_t i) const {
      refuse_past_the_end(i);
      return i < 18 ? Right::key(i) : "last";
    }
  };
  CHECK(report_on<Same>().text() == "");
  CHECK(found_only(check_source([] { return Same{}; }, {.unique_keys = true}), "every key is that of one record"));
  struct Keyless : Right {
    std::string key(std::uint64_t i) const {
      if (i > 3) throw ps::Error(ps::Errc::not_found, "no key");
      return Right::key(i);
    }
  };
  CHECK(found(report_on<Keyless>(), "every record has a key"));
  CHECK(found(report_on<Keyless>(), "a record can be described"));
  struct WithoutKeys : Right {
    bool has_keys() const { return false; }
    std::string key(std::uint64_t) const { throw ps::Error(ps::Errc::invalid_argument, "there are none"); }
  };
  CHECK(report_on<WithoutKeys>().text() == "");
  struct Wavering : Right {
    bool has_keys() const { return ++*calls % 2 == 0; }
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found(report_on<Wavering>(), "has_keys is always the same"));
  struct Descends : Right {
    std::vector<std::uint64_t> block_ends() const { return {12, 5, 20}; }
  };
  CHECK(found_only(report_on<Descends>(), "block_ends ascends"));
  struct Short : Right {
    std::vector<std::uint64_t> block_ends() const { return {5, 19}; }
  };
  CHECK(found_only(report_on<Short>(), "the last of block_ends is size"));
  struct Moves : Right {
    std::vector<std::uint64_t> block_ends() const { return {static_cast<std::uint64_t>(++*calls % 19), 20}; }
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found_only(report_on<Moves>(), "block_ends is always the same"));
  struct NoBlocks : Right {
    std::vector<std::uint64_t> block_ends() const { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<NoBlocks>(), "block_ends throws nothing"));
  struct GroupsDescend : Right {
    std::vector<ps::Group> groups() const { return {{"a", 12}, {"b", 5}, {"a", 20}}; }
  };
  CHECK(found_only(report_on<GroupsDescend>(), "the ends of groups ascend"));
  struct GroupsShort : Right {
    std::vector<ps::Group> groups() const { return {{"a", 5}, {"b", 19}}; }
  };
  CHECK(found_only(report_on<GroupsShort>(), "the last end of groups is size"));
  struct GroupsMove : Right {
    std::vector<ps::Group> groups() const { return {{std::to_string(++*calls), 20}}; }
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found_only(report_on<GroupsMove>(), "groups are always the same"));
  struct NoGroups : Right {
    std::vector<ps::Group> groups() const { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<NoGroups>(), "groups throws nothing"));
}

TEST_CASE("what is accepted past the end is found") {
  struct Endless : Right {
    void read(std::uint64_t, ps::SampleBuilder& out) const { Right::read(1, out); }
    std::string key(std::uint64_t i) const { return std::to_string(i); }
  };
  CHECK(found_only(report_on<Endless>(), "an index past the end is an Error"));
  CHECK(check_source([] { return Endless{}; }, {.refuses_past_the_end = false}).text() == "");
  struct Foreign : Right {
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      if (i >= 20) throw std::out_of_range("i");
      Right::read(i, out);
    }
  };
  CHECK(found_only(report_on<Foreign>(), "an index past the end is an Error"));
  struct Offended {
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      offended = offended || i >= 20;
      if (offended) throw ps::Error(ps::Errc::not_found, "never again");
      Right{}.read(i, out);
    }
    bool offended = false;
  };
  CHECK(found_only(report_on<Leased<Offended>>(), "a reader goes on after an Error"));
}

TEST_CASE("labels that reading doesn't give are found") {
  using Labels = std::optional<std::vector<std::int64_t>>;
  struct Knows : Right {
    Labels labels(std::string_view field) const {
      if (field != "n") return std::nullopt;
      std::vector<std::int64_t> all(20);
      for (std::int64_t i = 0; i < 20; ++i) all[static_cast<std::size_t>(i)] = i * i;
      return all;
    }
  };
  CHECK(report_on<Knows>().text() == "");
  struct Wrong : Knows {
    Labels labels(std::string_view field) const {
      Labels all = Knows::labels(field);
      if (all) all->at(7) = -1;
      return all;
    }
  };
  CHECK(found_only(report_on<Wrong>(), "a label is what reading gives"));
  struct Few : Knows {
    Labels labels(std::string_view field) const {
      Labels all = Knows::labels(field);
      if (all) all->pop_back();
      return all;
    }
  };
  CHECK(found_only(report_on<Few>(), "there is a label for each record"));
  struct Everything : Knows {
    Labels labels(std::string_view) const { return Knows::labels("n"); }
  };
  const auto everything = report_on<Everything>();
  CHECK(found(everything, "labels are of a scalar field of whole numbers"));
  CHECK(found(everything, "a field that isn't there has no labels"));
  struct Fails : Right {
    Labels labels(std::string_view) const { throw ps::Error(ps::Errc::io, "gone"); }
  };
  CHECK(found(report_on<Fails>(), "labels throws nothing for a field that is there"));
}

TEST_CASE("a source whose own model describes records wrongly is found") {
  class Describes final : public ps::detail::SourceModel {
   public:
    std::uint64_t size() const override { return 20; }
    ps::Schema schema() const override { return right_.schema(); }
    std::unique_ptr<ps::detail::ReaderModel> open_reader() const override { return right_.open_reader(); }
    bool has_keys() const noexcept override { return true; }
    std::string key(std::uint64_t i) const override { return right_.key(i); }
    void describe(std::uint64_t index, ps::Error& error) const override {
      error = ps::Error(error.code(), error.cause()).with_source("mine").with_index(index);
    }

   private:
    ps::detail::SourceOf<Right> right_{Right{}};
  };
  const auto report = check_source([] { return ps::AnySource(std::make_shared<Describes>()); });
  CHECK(found(report, "what an error says already stays"));
  CHECK(found(report, "describing a record leaves the index to the engine"));
  CHECK(found(report, "an error names the record's key"));
}

}  // namespace PENSTOCK_TEST_FILE
