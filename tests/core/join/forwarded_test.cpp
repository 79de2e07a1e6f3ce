// SPDX-License-Identifier: Apache-2.0
// What joins say of records and blocks that are other sources'.
#include "support/catch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/windows.hpp>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

// Eight records, of four blocks with two each.
struct Facts {
  std::uint64_t base;  // tells it from another one
  std::uint64_t size() const { return 8; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  std::string name() const { return "facts"; }
  std::string key(std::uint64_t i) const { return std::to_string(base + i); }
  std::string file_of(std::uint64_t i) const { return "/file/" + key(i); }
  std::optional<std::vector<std::int64_t>> labels(std::string_view) const { return std::vector<std::int64_t>(8, 1); }
  std::uint64_t blocks() const { return 4; }
  std::uint64_t block_bytes(std::uint64_t block) const { return base + block; }
  bool can_do_without(std::uint64_t block) const { return (base + block) % 3 == 0; }
  std::optional<ps::BlockRows> rows_of(std::uint64_t block) const {
    return ps::BlockRows{.field = 0, .first = block * 2, .records = 2};
  }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 2); }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    bytes[0] = static_cast<std::byte>(block_bytes(block));
  }
  void read(std::uint64_t, std::span<const std::span<const std::byte>>, ps::SampleBuilder& out) const {
    out.scalar<std::int64_t>(0, 1);
  }
};

const Facts first{10}, second{50};

struct Place {
  const Facts& facts;
  std::uint64_t index;
  std::size_t block = 0;  // which of its blocks is checked
};

// That the facts at place_of(i) are those of record i and of one of its blocks.
void check(const ps::AnySource& join, const std::function<Place(std::uint64_t)>& place_of) {
  const ps::detail::SourceModel& model = *join.model();
  const ps::detail::BlockModel& blocks = *model.block_model();
  for (std::uint64_t i = 0; i < join.size(); ++i) {
    CAPTURE(model.name(), i);
    const auto [facts, index, number] = place_of(i);
    if (number == 0) CHECK(model.key(i) == facts.key(index));
    std::vector<std::uint64_t> ids;
    blocks.blocks_of(i, ids);
    REQUIRE(ids.size() > number);
    const std::uint64_t own = index / 2, block = ids[number];
    CHECK(blocks.block_bytes(block) == facts.block_bytes(own));
    CHECK(blocks.can_do_without(block) == facts.can_do_without(own));
    std::vector<std::byte> bytes(facts.block_bytes(own)), expected(bytes.size());
    blocks.load(block, bytes);
    facts.load(own, expected);
    CHECK(bytes == expected);
  }
}

}  // namespace

TEST_CASE("what is asked of a record or block of a join, the source that has it answers") {
  const auto same = [](std::uint64_t i) { return Place{first, i}; };
  check(ps::concat({first, second}), [](std::uint64_t i) { return Place{i < 8 ? first : second, i % 8}; });
  check(ps::interleave({first, second}), [](std::uint64_t i) { return Place{i % 2 == 0 ? first : second, i / 2}; });
  const ps::AnySource zipped = ps::zip({{first, "a"}, {second, "b"}}, {.by = ps::PairBy::position});
  check(zipped, same);
  check(zipped, [](std::uint64_t i) { return Place{second, i, 1}; });
  check(ps::windows(first, {.length = 3, .stride = 2}), [](std::uint64_t i) { return Place{first, i * 2}; });
  const ps::AnySource named = ps::name_classes(first, "x", {"no", "yes"});
  check(named, same);
  check(ps::map_classes(named, "x", {"yes", "no"}), same);
}

TEST_CASE("a source with other numbers for its classes is in the same files") {
  const ps::AnySource named = ps::name_classes(first, "x", {"no", "yes"});
  CHECK(named.model()->file_of(5) == "/file/15");
  CHECK(ps::map_classes(named, "x", {"yes", "no"}).model()->file_of(5) == "/file/15");
}

// Records of a client that fetches them.
struct Fetched {
  const void* client;
  std::uint64_t bytes;
  std::uint64_t size() const { return 8; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::int64_t>(0, 1); }
  ps::FetchCounts fetched() const { return {.bytes = bytes, .connections = 4, .counter = client}; }
};

TEST_CASE("what the parts of a join fetched is counted once for each client") {
  const int a = 0, b = 0;
  const Fetched one{&a, 10}, same{&a, 10}, other{&b, 5}, alone{nullptr, 3};
  const auto bytes = [](const ps::AnySource& join) {
    std::uint64_t sum = 0;
    for (const ps::FetchCounts& counts : join.model()->fetched()) sum += counts.bytes;
    return sum;
  };
  CHECK(bytes(ps::concat({one, same, other})) == 15);
  CHECK(bytes(ps::concat({alone, Fetched(alone), first})) == 6);
  CHECK(bytes(ps::concat({ps::concat({one, other}), same})) == 15);
  CHECK(bytes(ps::interleave({one, other})) == 15);
  CHECK(bytes(ps::zip({{one, "a"}, {same, "b"}, {other, "c"}}, {.by = ps::PairBy::position})) == 15);
  CHECK(bytes(ps::windows(one, {.length = 3, .stride = 2})) == 10);
  CHECK(bytes(ps::name_classes(one, "x", {"no", "yes"})) == 10);
  CHECK(ps::concat({first, second}).model()->fetched().empty());
}

TEST_CASE("what rows say of themselves, their windows don't say") {
  const ps::AnySource all = ps::windows(first, {.length = 3, .stride = 2});
  const ps::detail::SourceModel& model = *all.model();
  CHECK(!model.labels("x"));
  for (std::uint64_t block = 0; block < 4; ++block) CHECK(!model.block_model()->rows_of(block));
  ps::Error of_window(ps::Errc::corrupt, "as an example"), of_field = of_window;
  model.describe(1, of_window);
  model.describe_field(1, 0, of_field);
  for (const ps::Error& error : {of_window, of_field}) {
    CHECK(error.source() == "windows(facts)");
    CHECK(error.file() == "/file/12");
    CHECK(error.key() == "12");
  }
}

}  // namespace PENSTOCK_TEST_FILE
