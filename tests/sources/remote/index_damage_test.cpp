// SPDX-License-Identifier: Apache-2.0
// Index files with changed bytes, in memory: a sample is the shard's, or an error.
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/remote/memory_shard.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "webdataset/index_file.hpp"
#include "webdataset/tar_scan.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::in_memory;

namespace {

// A shard in memory, as the scan and the index file's writer see it.
class TextShard final : public webdataset::ShardBytes {
 public:
  explicit TextShard(const std::string& bytes) : bytes_(bytes) {}
  const std::string& path() const noexcept override { return path_; }
  std::uint64_t bytes() const noexcept override { return bytes_.size(); }
  void read(char* to, std::size_t count, std::uint64_t offset) const override {
    std::memcpy(to, bytes_.data() + offset, count);
  }

 private:
  const std::string& bytes_;
  const std::string path_ = "a.tar";
};

std::string index_of(const std::string& tar) {
  const TextShard shard(tar);
  webdataset::TarScan scan(shard);
  return webdataset::index_text(scan).text;
}

std::string shard_of(std::size_t samples) {
  std::string tar;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::string key = "s" + std::to_string(1000 + i);
    tar += tar_member(key + ".txt", std::string(i % 5 * 300, static_cast<char>('a' + i % 26)));
    if (i % 3 == 0) tar += tar_member(key + ".json", "{}");
    tar += tar_member(key + ".cls", std::to_string(i));
  }
  return tar + tar_end;
}

}  // namespace

TEST_CASE("a changed index file gives the shard's samples or an error, 20,000 times") {
  const std::string tar = shard_of(8), index = index_of(tar);
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
  const OneShard plain(two_fields, shard, nullptr);
  std::map<std::string, std::string> right;  // of each key
  for (std::uint64_t i = 0; i < plain.size(); ++i) right[plain.key(i)] = sample_text(plain, i);
  std::uint64_t opened = 0, read = 0, wrong = 0, refused = 0, refused_samples = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(7, 1, {0, seed});
    std::string text = index;
    for (std::uint64_t changes = 1 + rng.below(2); changes-- > 0;) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(6)) {
        case 0:
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ 1u << rng.below(8));
          break;
        case 1:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 2:
          text.erase(at, 1 + rng.below(20));
          break;
        case 3:
          text.insert(at, text.substr(rng.below(text.size()), rng.below(30)));
          break;
        case 4:
          text[at] = "0123456789 \n.-"[rng.below(14)];
          break;
        default:
          text.resize(at);
      }
      if (text.empty()) text = "v";
    }
    std::optional<OneShard> source;
    try {
      source.emplace(two_fields, shard, std::make_shared<const MemoryFile>("a.idx", text));
    } catch (const Error& error) {
      if (error.code() != Errc::corrupt && error.code() != Errc::unsupported) FAIL(error.what());
      ++refused;
      continue;
    }
    ++opened;
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      try {
        ++read;
        const std::string sample = sample_text(*source, i);
        const auto known = right.find(source->key(i));
        if (known != right.end() && known->second == sample) continue;
        if (wrong++ < 5) {
          CAPTURE(text);
          FAIL_CHECK("a sample that the shard does not have");
        }
      } catch (const Error& error) {
        if (error.code() != Errc::corrupt && error.code() != Errc::unsupported) FAIL(error.what());
        ++refused_samples;
      }
    }
  }
  CHECK(wrong == 0);
  CAPTURE(opened, read, refused, refused_samples);
  CHECK(opened > 4'000);
  CHECK(refused > 4'000);
  CHECK(refused_samples > 1'000);
}

TEST_CASE("an index file that leaves members out is an error of the sample after them") {
  const std::string tar = shard_of(6), index = index_of(tar);
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
  // Each line left out alone, and the number of samples made to fit.
  std::vector<std::string> lines;
  for (std::size_t at = index.find('\n') + 1; at < index.size(); at = index.find('\n', at) + 1)
    lines.push_back(index.substr(at, index.find('\n', at) + 1 - at));
  REQUIRE(lines.size() == 6);
  for (std::size_t out = 0; out < lines.size(); ++out) {
    CAPTURE(out);
    std::string text = "v1.2 5\n";
    for (std::size_t i = 0; i < lines.size(); ++i) text += i == out ? "" : lines[i];
    const OneShard source(two_fields, shard, std::make_shared<const MemoryFile>("a.idx", text));
    REQUIRE(source.size() == 5);
    std::size_t failed = 0;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      try {
        (void)sample_text(source, i);
      } catch (const Error& error) {
        ++failed;
        CHECK(i == std::min<std::size_t>(out, 4));
        CHECK(mentions(error, "which the index file does not list"));
      }
    }
    CHECK(failed == 1);
  }
}

TEST_CASE("an index file that leaves out a link or the like is an error of the sample after it") {
  struct Member {
    std::string name, data;
  };
  const std::vector<Member> members{{"a.txt", "one"}, {"a.cls", "1"}, {"b.txt", "two"}, {"b.cls", "2"}};
  for (const char type : {'1', '2', '3', '4', '6', 'S', '~', 'Z'}) {
    for (std::size_t at = 0; at <= members.size(); ++at) {
      for (const char* name : {"b.txt", "z.cls", "z.other"}) {
        CAPTURE(type, at, name);
        std::string tar, index = "v1.2 2";
        for (std::size_t i = 0; i <= members.size(); ++i) {
          if (i == at) tar += tar_member(name, type == '~' ? "bytes" : "", type);
          if (i == members.size()) break;
          index += (i % 2 == 0 ? "\n" : " ") + members[i].name.substr(2) + " " + std::to_string(tar.size() + 512) +
                   " " + std::to_string(members[i].data.size()) + " " + members[i].name;
          tar += tar_member(members[i].name, members[i].data);
        }
        const OneShard source(two_fields, std::make_shared<const MemoryFile>("a.tar", tar + tar_end),
                              std::make_shared<const MemoryFile>("a.idx", index + "\n"));
        const std::uint64_t bad = at < 2 ? 0 : 1;
        if (bad == 1) CHECK(sample_text(source, 0).starts_with("a:one,"));
        const Error error = error_of([&] { (void)sample_text(source, bad); });
        CHECK(error.code() == Errc::corrupt);
        CHECK(mentions(error, "which the index file does not list"));
      }
    }
  }
}

TEST_CASE("an index file whose members that no field reads hide samples is an error of the sample after them") {
  const WebDataset one_field{.path = "a.tar", .fields = {{"txt", "txt"}}};
  std::string tar;
  std::vector<std::size_t> at;  // where each member's data begin
  for (const char* name : {"a.txt", "a.json", "b.txt", "b.json", "c.txt", "c.json", "d.txt", "d.json"}) {
    at.push_back(tar.size() + 512);
    tar += tar_member(name, "1");
  }
  const auto entry = [&](const char* name, std::size_t member, std::size_t bytes = 1) {
    const std::string text = name;
    return text.substr(2) + " " + std::to_string(at[member]) + " " + std::to_string(bytes) + " " + text;
  };
  const auto open = [&](const std::string& lines) {
    const auto count = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
    return OneShard(one_field, std::make_shared<const MemoryFile>("a.tar", tar + tar_end),
                    std::make_shared<const MemoryFile>("a.idx", "v1.2 " + std::to_string(count) + "\n" + lines));
  };
  const std::string a = entry("a.txt", 0) + " " + entry("a.json", 1) + "\n",
                    b = entry("b.txt", 2) + " " + entry("b.json", 3) + "\n",
                    c = entry("c.txt", 4) + " " + entry("c.json", 5) + "\n",
                    d = entry("d.txt", 6) + " " + entry("d.json", 7) + "\n";
  const OneShard right = open(a + b + c + d);
  REQUIRE(right.size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(sample_text(right, i) == right.key(i) + ":1,");
  struct Case {
    const char* name;
    std::string lines;
    std::uint64_t bad;
  };
  for (const auto& [name, lines, bad] :
       {Case{"it is said to be larger", entry("a.txt", 0) + " " + entry("a.json", 1, at[3] - at[1]) + "\n" + c + d, 1},
        Case{"it has another's place", entry("a.txt", 0) + " " + entry("a.json", 2) + "\n" + c + d, 1},
        Case{"it is not there", entry("a.txt", 0) + " " + entry("a.cls", 1) + "\n" + b + c + d, 1},
        Case{"it is left out", entry("a.txt", 0) + "\n" + b + c + d, 1},
        Case{"at the end", a + b + entry("c.txt", 4) + " " + entry("c.json", 5, at[7] - at[5]) + "\n", 2},
        Case{"the last one is left out", a + b + c + entry("d.txt", 6) + "\n", 3}}) {
    INFO(name);
    const OneShard source = open(lines);
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      if (i != bad) {
        CHECK_NOTHROW(sample_text(source, i));
        continue;
      }
      const Error error = error_of([&] { (void)sample_text(source, i); });
      CHECK(error.code() == Errc::corrupt);
      CHECK(mentions(error, "not as its index file says"));
    }
  }
}

TEST_CASE("large members that no field reads are not transferred") {
  const std::string large(1 << 20, 'x');
  std::string tar;
  for (const char* key : {"a", "b", "c"})
    tar += tar_member(std::string(key) + ".txt", key) + tar_member(std::string(key) + ".bin", large);
  tar += tar_end;
  const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
  const OneShard source({.path = "a.tar", .fields = {{"txt", "txt"}}}, shard,
                        std::make_shared<const MemoryFile>("a.idx", index_of(tar)));
  REQUIRE(source.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(sample_text(source, i) == source.key(i) + ":" + source.key(i) + ",");
  CHECK(shard->bytes_read < 50'000);
}

TEST_CASE("an index file is read in time that grows with its lines") {
  const auto seconds_of = [](std::size_t samples) {
    const std::string tar = shard_of(samples), index = index_of(tar);
    const auto shard = std::make_shared<const MemoryFile>("a.tar", tar);
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto file = std::make_shared<const MemoryFile>("a.idx", index);
      const std::uint64_t before = shard->bytes_read;
      const auto begin = std::chrono::steady_clock::now();
      const OneShard source(two_fields, shard, file);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      REQUIRE(source.size() == samples);
      REQUIRE(shard->bytes_read == before);
    }
    return best;
  };
  (void)seconds_of(1000);
  const double one = seconds_of(4'000), four = seconds_of(16'000);
  CAPTURE(one, four);
  CHECK(four < 9 * one);
}

}  // namespace PENSTOCK_TEST_FILE
