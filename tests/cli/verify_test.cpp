// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include <penstock/transforms/encode_jpeg.hpp>

#include "cli/tool.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("verify finds nothing in a good store") {
  const TempFolder folder;
  write_images(folder, 2, 20);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  const ToolResult verified = tool({"verify", folder / "x.lmdb", "--json"});
  CHECK(verified.status == 0);
  CHECK(verified.json()["records"] == 20);
  CHECK(verified.json()["decoded"] == 20);
  CHECK(verified.json()["bad"].empty());
  CHECK(verified.json()["checksums"] == true);
  CHECK(verified.json()["not_checked"] == 0);
  CHECK(tool({"verify", folder / "x.lmdb", "--no-decode"}).out.find("none is bad") != std::string::npos);
  CHECK(tool({"verify", folder / "images", "--field", "image"}).status == 0);
}

TEST_CASE("verify lists bad JPEGs among good ones and exits with 3") {
  const TempFolder folder;
  write_images(folder, 2, 20);
  folder.write("images/class_0/0004.jpg", jpeg(4).substr(0, jpeg(4).size() / 2));  // cut in half
  folder.write("images/class_1/0007.jpg", "this is no image at all");
  folder.write("images/class_1/0009.jpg", "");
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  for (const std::string store : {"x.lmdb", "images"}) {
    const ToolResult verified = tool({"verify", folder / store, "--json"});
    CHECK(verified.status == 3);
    const auto bad = verified.json()["bad"];
    REQUIRE(bad.size() == 3);
    CHECK(bad[0]["key"] == "class_0/0004");
    CHECK(bad[0]["code"] == "corrupt");
    CHECK(bad[0]["index"] == 2);
    CHECK(bad[1]["key"] == "class_1/0007");
    CHECK(bad[2]["key"] == "class_1/0009");
    for (const auto& b : bad) CHECK_FALSE(b["cause"].text().empty());
  }
  const ToolResult text = tool({"verify", folder / "x.lmdb"});
  CHECK(text.status == 3);
  CHECK(text.out.find("key class_1/0007") != std::string::npos);
}

TEST_CASE("verify notices a changed byte by its checksum") {
  const TempFolder folder;
  write_images(folder, 2, 20);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  std::fstream file(folder / "x.lmdb/data.mdb", std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string record = jpeg(12);
  const std::size_t at =
      bytes.find(record.substr(record.size() / 2, 40));  // in the scan, where a decoder sees no error
  REQUIRE(at != std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(bytes[at] ^ 0x10));
  file.close();
  const ToolResult verified = tool({"verify", folder / "x.lmdb", "--json", "--no-decode"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["key"] == "class_0/0012");
}

TEST_CASE("verify stopped by Ctrl-C tells what it has found, how far it came, and exits with 130") {
  const TempFolder folder;
  // Few bytes that take long to decode.
  const std::vector<std::uint8_t> grey(std::size_t{3000} * 3000 * 3, 128);
  const auto bytes = penstock::encode_jpeg({grey.data(), std::ptrdiff_t{3000} * 3, {3000, 3000, 3}});
  const std::string slow(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Pairs pairs;
  for (std::uint64_t i = 0; i < 600; ++i) pairs[decimal_key(i)] = slow;
  pairs[decimal_key(0)] = slow.substr(0, 100);
  RawLmdb{folder / "x"}.write(pairs);
  for (const bool json : {false, true}) {
    std::vector<std::string> arguments{"verify", folder / "x", "--threads", "1", "--quiet"};
    if (json) arguments.back() = "--json";
    RunningTool running(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    running.send(SIGINT);
    const ToolResult result = running.wait();
    INFO(result.out << result.err);
    REQUIRE(result.status == 130);
    CHECK(one_line(result.err));
    CHECK(result.err.find("stopped: ") != std::string::npos);
    CHECK(result.err.find(" of 600 records were read, among them all of the first ") != std::string::npos);
    if (!json) {
      CHECK(result.out.find("bad: index 0, key ") != std::string::npos);
      continue;
    }
    CHECK(result.json()["finished"] == false);
    CHECK(result.json()["read"].whole() > 0);
    CHECK(result.json()["read"].whole() < 600);
    CHECK(result.json()["bad"].size() == 1);
  }
}
