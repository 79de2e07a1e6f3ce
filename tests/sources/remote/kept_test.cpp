// SPDX-License-Identifier: Apache-2.0
// What was found in a shard is kept, and found again.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sources/remote/memory_shard.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "webdataset/member_record.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::in_memory;

namespace {

// Members of each kind, among them ones that no sample can have.
std::string many_kinds(std::size_t samples) {
  const std::string deep = "d/" + std::string(150, 'e') + "/" + std::string(120, 'f');
  std::string tar = tar_member("./", "", '5') + tar_member(".hidden", "secret") + tar_member("no dot", "plain");
  for (std::size_t i = 0; i < samples; ++i) {
    const std::string key = "s" + std::to_string(i);
    tar += tar_member(key + ".txt", std::string(i % 3 * 700, 'a'));
    tar += i % 7 == 6 ? tar_member(key + ".cls", "", '2') : tar_member(key + ".cls", std::to_string(i));
  }
  tar += tar_member("x", pax_record("path", deep + ".txt"), 'x') + tar_member("short", "long name");
  tar += tar_member("x", pax_record("GNU.sparse.major", "1"), 'x') + tar_member("z.txt", "0\n", '0');
  tar += tar_member("y.txt", "what", '~') + tar_member("/absolute.txt", "out");
  return tar + tar_end;
}

void check_same(const OneShard& a, const OneShard& b) {
  CHECK(a.identity == b.identity);
  CHECK(a.schema == b.schema);
  const webdataset::ShardIndex &one = a.indices[0], &other = b.indices[0];
  CHECK(one.left_out == other.left_out);
  CHECK(one.has_end == other.has_end);
  CHECK(one.end == other.end);
  REQUIRE(a.size() == b.size());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    const auto text_of = [&](const OneShard& shard) {
      try {
        return sample_text(shard, i);
      } catch (const Error& error) {
        return std::string(error.what());
      }
    };
    CHECK(text_of(a) == text_of(b));
  }
}

}  // namespace

TEST_CASE("a shard streams once, and what was found in it is kept") {
  for (const std::size_t samples : {std::size_t{0}, std::size_t{5}, std::size_t{150}}) {
    CAPTURE(samples);
    const std::string tar = many_kinds(samples);
    const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
    WebDataset options{.path = "a.tar"};
    if (samples == 0) options.fields = two_fields.fields;
    const OneShard first(options, shard, nullptr);
    CHECK(shard->bytes_read == tar.size());  // also where the fields are inferred
    REQUIRE(shard->memory.size() == 1);
    CHECK(shard->memory.begin()->first == "members-1");
    CHECK(shard->memory.begin()->second.size() < 40 * (2 * samples + 10) + 600);
    shard->bytes_read = 0;
    const OneShard again(options, shard, nullptr);
    CHECK(shard->bytes_read == 0);
    check_same(first, again);
  }
}

TEST_CASE("an archive without members is kept") {
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar_end);
  const OneShard first(two_fields, shard, nullptr);
  shard->bytes_read = 0;
  const OneShard again(two_fields, shard, nullptr);
  CHECK(shard->bytes_read == 0);
  CHECK((again.size() == 0 && again.indices[0].has_end));
}

TEST_CASE("a shard that can't be read to its end keeps nothing") {
  const std::string tar = many_kinds(5);
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar.substr(0, 6000));
  CHECK(code_of([&] { const OneShard cut(two_fields, shard, nullptr); }) == Errc::corrupt);
  CHECK(shard->memory.empty());
}

TEST_CASE("what was kept is not used if it is damaged or of another shard") {
  const std::string tar = many_kinds(8);
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
  const OneShard first(two_fields, shard, nullptr);
  std::vector<std::byte>& kept = shard->memory.at("members-1");
  const std::vector<std::byte> good = kept;
  const auto is_streamed = [&] {
    shard->bytes_read = 0;
    const OneShard again(two_fields, shard, nullptr);
    return shard->bytes_read == tar.size() && again.identity == first.identity && kept == good;
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    kept = good;
    kept[at] ^= std::byte{1} << at % 8;
    REQUIRE(is_streamed());
    kept.assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
    REQUIRE(is_streamed());
  }
  kept.push_back(std::byte{0});
  CHECK(is_streamed());
  const auto longer = std::make_shared<const MemoryFile>("a.tar", tar + std::string(512, '\0'));
  longer->memory = shard->memory;
  const OneShard other(two_fields, longer, nullptr);
  CHECK(longer->bytes_read == tar.size() + 512);
}

TEST_CASE("numbers of a record that are not in its shard are refused, whatever its hash says") {
  using webdataset::MemberRecord;
  using webdataset::TarFault;
  using webdataset::TarMember;
  constexpr std::uint64_t bytes = 8192, huge = ~std::uint64_t{0};
  const auto member = [](std::uint64_t header, std::uint64_t offset, std::uint64_t size) {
    TarMember made;
    made.name = "a.txt";
    made.header = header, made.offset = offset, made.size = size;
    return made;
  };
  const auto taken = [&](const std::vector<TarMember>& members, MemberRecord::End end) {
    MemberRecord record;
    for (const TarMember& one : members) record.add(one);
    return MemberRecord::from_bytes(record.to_bytes(bytes, end), bytes).has_value();
  };
  CHECK(taken({member(0, 512, 7168)}, {7680, true}));
  CHECK(taken({member(0, 512, 100), member(1024, 2048, 6144)}, {8192, false}));
  CHECK_FALSE(taken({member(0, 511, 100)}, {1024, true}));
  CHECK_FALSE(taken({member(0, 512, 7681)}, {8192, true}));
  CHECK_FALSE(taken({member(0, 8192, 1)}, {8192, true}));
  CHECK_FALSE(taken({member(8192, 8704, 0)}, {8192, true}));
  CHECK_FALSE(taken({member(0, 512, 100)}, {8193, true}));
  CHECK_FALSE(taken({member(0, 512, 4096)}, {1024, true}));
  CHECK_FALSE(taken({member(0, 512, huge - 511)}, {1024, true}));
  CHECK_FALSE(taken({member(0, 512, 100), member(0, 512, 100)}, {1024, true}));
  CHECK_FALSE(taken({member(0, huge, 100)}, {1024, true}));
  TarMember faulty = member(0, 512, 100);
  faulty.fault = static_cast<TarFault>(4);
  CHECK_FALSE(taken({faulty}, {1024, true}));
}

}  // namespace PENSTOCK_TEST_FILE
