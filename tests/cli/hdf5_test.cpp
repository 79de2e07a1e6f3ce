#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cli/tool.hpp"
#include "sources/hdf5_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

// 60 images and their labels; images in compressed chunks of 8 with checksums.
void write_images(const std::string& path, hsize_t user_block = 0) {
  H5Data images{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {60, 10, 12}};
  images.layout = H5D_CHUNKED;
  images.chunk = {8, 10, 12};
  images.filters = {H5Filter::deflate, H5Filter::fletcher32};
  images.dense = true;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 60; ++i) labels.push_back(i % 3);
  H5Data label{.path = "label", .type = h5_type<std::int64_t>(), .shape = {60}};
  label.values = bytes_of(labels);
  write_h5(path, {.data = {images, label}, .user_block = user_block});
}

}  // namespace

TEST_CASE("inspect, verify, convert and bench take HDF5 files") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  const ToolResult inspected = tool({"inspect", folder / "a.h5", "--json"});
  REQUIRE(inspected.status == 0);
  const auto json = inspected.json();
  CHECK(json["kind"] == "hdf5");
  CHECK(json["records"] == 60);
  CHECK(json["schema"] == "{label: i64[], x: u8[10, 12]}");
  CHECK(json["classes"][0]["records"] == 20);
  CHECK(json["unreadable"] == 0);
  CHECK(tool({"inspect", folder / "a.h5"}).out.find("chunks of [8, 10, 12], deflate + fletcher32") !=
        std::string::npos);
  CHECK(tool({"verify", folder / "a.h5"}).status == 0);
  CHECK(tool({"bench", folder / "a.h5", "--stages", "batch 4", "--epochs", "1"}).status == 0);
  CHECK(tool({"convert", folder / "a.h5", "--out", folder / "a.lmdb", "--quiet"}).status == 0);
  const auto converted = tool({"inspect", folder / "a.lmdb", "--json"}).json();
  CHECK(converted["records"] == 60);
  CHECK(converted["schema"] == json["schema"]);
  CHECK(converted["first_key"] == "00000000");
}

TEST_CASE("HDF5 files that are not trusted give the tool the same") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  const auto with = [&](std::vector<std::string> arguments) {
    const ToolResult result = tool(std::move(arguments));
    CHECK(result.status == 0);
    return result.json();
  };
  CHECK(with({"inspect", folder / "a.h5", "--untrusted", "--json"}) == with({"inspect", folder / "a.h5", "--json"}));
  const std::vector<std::string> run{"bench", folder / "a.h5", "--stages", "batch 4", "--epochs",
                                     "1",     "--hash",        "--json"};
  std::vector<std::string> untrusted = run;
  untrusted.emplace_back("--untrusted");
  const auto hash = [](const auto& json) { return json["runs"][0]["hash"]; };
  CHECK(hash(with(untrusted)) == hash(with(run)));
  CHECK(tool({"convert", folder / "a.h5", "--out", folder / "a.lmdb", "--quiet", "--untrusted"}).status == 0);
  CHECK(tool({"inspect", folder / "a.h5", "--untrusted"}).out.find("another process") != std::string::npos);
  // verify does not trust, unless it is told to.
  ::setenv("PENSTOCK_HDF5_READER", "/nowhere", 1);
  CHECK(tool({"verify", folder / "a.h5", "--trust"}).status == 0);
  const ToolResult refused = tool({"verify", folder / "a.h5"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("/nowhere") != std::string::npos);
  ::unsetenv("PENSTOCK_HDF5_READER");
}

TEST_CASE("an HDF5 file is known by its content too, also behind what a user put before it") {
  const TempFolder folder;
  for (const hsize_t user_block : {hsize_t{0}, hsize_t{2048}}) {
    write_images(folder / "without_a_name", user_block);
    CHECK(tool({"inspect", folder / "without_a_name", "--json"}).json()["kind"] == "hdf5");
  }
  folder.write("no.h5", "this is something else");
  const ToolResult refused = tool({"inspect", folder / "no.h5"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("no HDF5 file") != std::string::npos);
  CHECK(one_line(refused.err));
}

TEST_CASE("verify lists the records of a damaged chunk of HDF5") {
  const TempFolder folder;
  write_images(folder / "a.h5");
  std::ifstream file(folder / "a.h5", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  // Dense chunks of 960 bytes fill the file: somewhere in one of them.
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder.write("b.h5", bytes);
  const ToolResult verified = tool({"verify", folder / "b.h5", "--json"});
  CHECK(verified.status == 3);
  const auto bad = verified.json()["bad"];
  REQUIRE(bad.size() == 8);
  CHECK(bad[0]["key"] == std::to_string(bad[0]["index"].get<int>()));
  const std::string cause = bad[0]["cause"].get<std::string>();
  CHECK(cause.find("'x'") != std::string::npos);
  CHECK(cause.find("chunk") != std::string::npos);
}
