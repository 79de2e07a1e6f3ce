// SPDX-License-Identifier: Apache-2.0
// Block sources that break one promise each, and what the suite says of them.
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/block_source.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_block_source;

namespace {

using Blocks = std::span<const std::span<const std::byte>>;

// Records of 6 bytes, ten to a block of 60; every third record has its second half from the next block.
struct Right {
  std::uint64_t size() const { return 40; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {6}}}; }
  std::uint64_t blocks() const { return 5; }
  std::uint64_t block_bytes(std::uint64_t block) const { return block == 4 ? 30 : 60; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
    if (i >= 40) throw ps::Error(ps::Errc::not_found, "there are 40 records");
    ids.push_back(i / 10);
    if (i % 3 == 0) ids.push_back(i / 10 + 1);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    if (block >= 5) throw ps::Error(ps::Errc::not_found, "there are 5 blocks");
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(block * 50 + k);
  }
  void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
    if (i % 3 != 0) return out.view(0, blocks[0].data() + i % 10 * 6 % 54, {6});
    const auto to = out.emplace<std::byte, 1>(0, {6});
    std::memcpy(to.data(), blocks[0].data() + 20, 3);
    std::memcpy(to.data() + 3, blocks[1].data() + 10, 3);
  }
};

template <class S>
ps::testing::Report report_on() {
  return check_block_source([] { return S{}; });
}

std::atomic<int> made{0};

}  // namespace

TEST_CASE("a block source that is right passes") {
  const auto report = report_on<Right>();
  CHECK(report.text() == "");
  CHECK(report.passed());
}

TEST_CASE("blocks that are not what they were are found") {
  constexpr std::string_view contract = "a block is decoded to the same bytes each time";
  struct Partly : Right {
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      Right::load(block, bytes.first(bytes.size() - 1));
    }
  };
  CHECK(found(report_on<Partly>(), contract));
  struct Counts : Right {
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      Right::load(block, bytes);
      bytes[0] = static_cast<std::byte>(++made);
    }
  };
  CHECK(found(report_on<Counts>(), contract));
  struct Beyond : Right {
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      Right::load(block, bytes);
      bytes.data()[bytes.size()] = std::byte{1};
    }
  };
  CHECK(found_only(report_on<Beyond>(), "nothing is written outside of a block's bytes"));
  struct Resized : Right {
    std::uint64_t block_bytes(std::uint64_t) const { return 60 + static_cast<std::uint64_t>(++made % 2); }
  };
  CHECK(found(report_on<Resized>(), "block_bytes is always the same"));
  struct Huge : Right {
    std::uint64_t block_bytes(std::uint64_t block) const { return block == 3 ? ~std::uint64_t{0} : 60; }
  };
  CHECK(found(report_on<Huge>(), "every block can be loaded"));
  struct Broken : Right {
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      if (block == 2) throw ps::Error(ps::Errc::corrupt, "damaged");
      Right::load(block, bytes);
    }
  };
  CHECK(found(report_on<Broken>(), "every block can be loaded"));
}

TEST_CASE("lists of blocks that are wrong are found") {
  struct Replaces : Right {
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      ids.clear();
      Right::blocks_of(i, ids);
    }
  };
  CHECK(found(report_on<Replaces>(), "blocks_of appends"));
  struct Changes : Right {
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      Right::blocks_of(i, ids);
      ids.push_back(static_cast<std::uint64_t>(++made % 5));
    }
  };
  CHECK(found(report_on<Changes>(), "blocks_of is always the same"));
  struct Refuses : Right {
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      if (i == 9) throw ps::Error(ps::Errc::corrupt, "no list of blocks");
      Right::blocks_of(i, ids);
    }
  };
  CHECK(found_only(report_on<Refuses>(), "blocks_of throws nothing for a record that is there"));
  struct Missing : Right {
    std::uint64_t blocks() const { return 4; }
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      if (block >= 4) throw ps::Error(ps::Errc::not_found, "there are 4 blocks");
      Right::load(block, bytes);
    }
  };
  CHECK(found(report_on<Missing>(), "a record needs blocks that are there"));
  struct Shrinks : Right {
    std::uint64_t blocks() const { return ++made % 2 == 0 ? 5 : 6; }
  };
  CHECK(found(report_on<Shrinks>(), "size, schema and blocks are always the same"));
  struct Other : Right {
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      Right::blocks_of(i, ids);
      if (number % 2 == 0) ids.push_back(0);
    }
    int number = ++made;
  };
  CHECK(found_only(report_on<Other>(), "a source made alike is the same"));
}

TEST_CASE("records that are not made of their blocks are found") {
  struct Remembers : Right {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      // The first block it ever saw for this record, wherever it is by now.
      auto& kept = (*seen)[i];
      if (kept.empty()) kept.assign(blocks[0].begin(), blocks[0].end());
      kept[0] = static_cast<std::byte>(std::to_integer<int>(kept[0]) + 1);
      std::memcpy(out.emplace<std::byte, 1>(0, {6}).data(), kept.data(), 6);
    }
    std::shared_ptr<std::vector<std::vector<std::byte>>> seen =
        std::make_shared<std::vector<std::vector<std::byte>>>(40);
  };
  CHECK(
      found(check_block_source([] { return Remembers{}; }, {.threads = 1}), "a record follows from its blocks alone"));
  struct Writes : Right {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      Right::read(i, blocks, out);
      const_cast<std::byte&>(blocks[0][0]) = std::byte{0xfe};
    }
  };
  CHECK(found_only(report_on<Writes>(), "reading a record leaves its blocks as they are"));
  struct Refuses : Right {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      if (i == 7) throw ps::Error(ps::Errc::corrupt, "damaged");
      Right::read(i, blocks, out);
    }
  };
  CHECK(found_only(report_on<Refuses>(), "every record can be read from its blocks"));
  struct Buffer : Right {
    void read(std::uint64_t i, Blocks, ps::SampleBuilder& out) const {
      thread_local std::byte buffer[6];
      std::memset(buffer, static_cast<int>(i), 6);
      out.view(0, buffer, {6});
    }
  };
  CHECK(found_only(report_on<Buffer>(), "a view stays as long as its blocks"));
  struct PerThread : Right {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      if (std::this_thread::get_id() != first) i = (i + 3) % 40 / 3 * 3;
      Right::read(i, blocks, out);
    }
    std::thread::id first = std::this_thread::get_id();
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { Right::blocks_of(i / 3 * 3, ids); }
  };
  CHECK(found(report_on<PerThread>(), "blocks and records are the same on any thread"));
  struct Endless : Right {
    void blocks_of(std::uint64_t, std::vector<std::uint64_t>& ids) const { ids.push_back(0), ids.push_back(1); }
    void load(std::uint64_t block, std::span<std::byte> bytes) const { Right::load(block % 5, bytes); }
  };
  CHECK(found_only(report_on<Endless>(), "an index past the end is an Error"));
  struct Silent : Right {
    std::uint64_t size() const { throw ps::Error(ps::Errc::io, "gone"); }
  };
  CHECK(found_only(report_on<Silent>(), "size, schema and blocks throw nothing"));
}

TEST_CASE("blocks that are said to be rows are") {
  // Four records of 6 bytes to a block.
  struct Rows {
    std::uint64_t size() const { return 20; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {6}}, {"y", ps::DType::u8, {}}}; }
    std::uint64_t blocks() const { return 5; }
    std::uint64_t block_bytes(std::uint64_t) const { return 24; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      if (i >= 20) throw ps::Error(ps::Errc::not_found, "there are 20 records");
      ids.push_back(i / 4);
    }
    std::optional<ps::BlockRows> rows_of(std::uint64_t block) const { return ps::BlockRows{0, block * 4, 4}; }
    void load(std::uint64_t block, std::span<std::byte> bytes) const {
      if (block >= 5) throw ps::Error(ps::Errc::not_found, "there are 5 blocks");
      for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(block * 50 + k);
    }
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      out.view(0, blocks[0].data() + i % 4 * 6, {6});
      out.scalar<std::uint8_t>(1, static_cast<std::uint8_t>(i));
    }
  };
  CHECK(report_on<Rows>().text() == "");
  struct Backwards : Rows {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      Rows::read(i, blocks, out);
      out.view(0, blocks[0].data() + (3 - i % 4) * 6, {6});
    }
  };
  CHECK(found_only(report_on<Backwards>(), "a block of rows is the values of its field, one after the other"));
  struct Elsewhere : Rows {
    std::optional<ps::BlockRows> rows_of(std::uint64_t block) const { return ps::BlockRows{0, block * 4 + 1, 4}; }
  };
  CHECK(found(report_on<Elsewhere>(), "a block of rows has those of the records that need it"));
  // The last block is decoded whole, but two of its rows are of no record.
  struct Shorter : Rows {
    std::uint64_t size() const { return 18; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      if (i >= 18) throw ps::Error(ps::Errc::not_found, "there are 18 records");
      ids.push_back(i / 4);
    }
  };
  CHECK(found_only(report_on<Shorter>(), "a block of rows has those of records that are there"));
  struct Silent : Shorter {
    std::optional<ps::BlockRows> rows_of(std::uint64_t block) const {
      return block == 4 ? std::nullopt : Shorter::rows_of(block);
    }
  };
  CHECK(report_on<Silent>().text() == "");
  struct Neighbour : Rows {
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      out.view(0, blocks[0].data() + i % 4 * 6, {6});
      out.scalar<std::uint8_t>(1, std::to_integer<std::uint8_t>(blocks[0][(i + 1) % 4 * 6]));
    }
  };
  CHECK(found_only(report_on<Neighbour>(), "a record reads no row of a block of rows but its own"));
}

TEST_CASE("a record without blocks that it can do without is the same") {
  // Each half of a record that has no block is made for it alone.
  struct Spare : Right {
    bool can_do_without(std::uint64_t block) const { return block != 2; }
    virtual std::byte at(std::uint64_t block, std::uint64_t k) const { return static_cast<std::byte>(block * 50 + k); }
    virtual ~Spare() = default;
    void read(std::uint64_t i, Blocks blocks, ps::SampleBuilder& out) const {
      const auto to = out.emplace<std::byte, 1>(0, {6});
      for (std::uint64_t k = 0; k < 6; ++k) {
        const bool second = i % 3 == 0 && k >= 3;
        const std::span<const std::byte> block = blocks[second ? 1 : 0];
        const std::uint64_t from = i % 3 != 0 ? i % 10 * 6 % 54 + k : second ? 10 + k - 3 : 20 + k;
        to.data()[k] = block.empty() ? at(i / 10 + (second ? 1 : 0), from) : block[from];
      }
    }
  };
  CHECK(report_on<Spare>().text() == "");
  struct Other : Spare {
    std::byte at(std::uint64_t block, std::uint64_t k) const override {
      return block == 3 ? std::byte{7} : Spare::at(block, k);
    }
  };
  CHECK(found_only(report_on<Other>(), "a record is the same without blocks that it can do without"));
  struct Needs : Spare {
    std::byte at(std::uint64_t, std::uint64_t) const override { throw ps::Error(ps::Errc::corrupt, "no block"); }
  };
  CHECK(found_only(report_on<Needs>(), "a record is the same without blocks that it can do without"));
  struct Unsure : Spare {
    bool can_do_without(std::uint64_t) const { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<Unsure>(), "can_do_without throws nothing for a block that is there"));
}

}  // namespace PENSTOCK_TEST_FILE
