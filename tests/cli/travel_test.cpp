// What a store knows is in the new one too, or the command says that it isn't.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <vector>

#include "cli/tool.hpp"
#include "sources/hdf5/files.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_pets(const TempFolder& folder) {
  for (unsigned i = 0; i < 6; ++i)
    folder.write((i < 3 ? "images/cat/v1." : "images/dog/v1.") + std::to_string(i) + ".jpg", jpeg(i));
}

bool has_note(const nlohmann::json& json, const std::string& words) {
  for (const auto& note : json["notes"])
    if (note.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("names of classes travel through every kind of store") {
  const TempFolder folder;
  write_pets(folder);
  std::string from = folder / "images";
  for (const std::string out : {"a.lmdb", "b.tar", "c.h5", "d.tar", "e.lmdb", "f.tar", "g.mdb"}) {
    const ToolResult converted = tool({"convert", from, "--out", folder / out, "--json"});
    INFO(out << converted.err);
    REQUIRE(converted.status == 0);
    from = converted.json()["store"];
    const auto classes = tool({"inspect", from, "--json"}).json()["classes"];
    REQUIRE(classes.size() == 2);
    CHECK(classes[0] == nlohmann::json({{"label", 0}, {"name", "cat"}, {"records", 3}}));
    CHECK(classes[1] == nlohmann::json({{"label", 1}, {"name", "dog"}, {"records", 3}}));
  }
  CHECK(read_file(folder / "b-classes.txt") == "cat\ndog\n");
}

TEST_CASE("convert says what tar shards and HDF5 can't hold") {
  const TempFolder folder;
  write_pets(folder);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "-q"}).status == 0);
  const ToolResult tar = tool({"convert", folder / "x.lmdb", "--out", folder / "x.tar", "--json"});
  CHECK(has_note(tar.json(), "changed: 6 keys"));
  CHECK(has_note(tar.json(), "cat/v1.0 is cat/v1_0"));
  CHECK(has_note(tar.json(), "checksums"));
  CHECK(tool({"convert", folder / "x.lmdb", "--out", folder / "y.tar"}).out.find("changed: 6 keys") !=
        std::string::npos);
  CHECK(has_note(tool({"convert", folder / "x.lmdb", "--out", folder / "x.h5", "--json"}).json(), "checksums"));
  CHECK(tool({"convert", folder / "x.lmdb", "--out", folder / "z.lmdb", "--json"}).json()["notes"].empty());
}

TEST_CASE("convert says what of tar shards, of HDF5 and of a folder is no record") {
  const TempFolder folder;
  std::string shard = tar_member("readme", "hello");
  for (unsigned i = 0; i < 4; ++i) {
    const std::string key = "k" + std::to_string(i);
    shard += tar_member(key + ".jpg", jpeg(i)) + tar_member(key + ".cls", "1");
    if (i == 1) shard += tar_member(key + ".json", "{}");
  }
  folder.write("s.tar", shard + tar_end);
  const auto from_tar = tool({"convert", folder / "s.tar", "--out", folder / "s.lmdb", "--json"}).json();
  CHECK(has_note(from_tar, "left out: 2 files in the shards that no field takes: 1 without a key, 1 .json"));

  H5Data x{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {6, 4}};
  x.dense = true;
  write_h5(folder / "a.h5", {.data = {x}});
  {
    const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t data = H5Dopen2(file, "x", H5P_DEFAULT);
    const hid_t attribute = H5Acreate2(data, "patch_size", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    const int size = 256;
    H5Awrite(attribute, H5T_NATIVE_INT, &size);
    H5Aclose(attribute);
    const hsize_t six = 6;  // references, which no field has
    const hid_t row = H5Screate_simple(1, &six, nullptr);
    H5Dclose(H5Dcreate2(file, "odd", H5T_STD_REF_OBJ, row, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(row);
    H5Dclose(H5Dcreate2(file, "scale", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
  }
  const auto from_hdf5 = tool({"convert", folder / "a.h5", "--out", folder / "h.lmdb", "--json"}).json();
  CHECK(has_note(from_hdf5, "left out: 1 attribute: patch_size of"));
  CHECK(has_note(from_hdf5, "left out: the field odd, because it can't be read: "));
  CHECK(has_note(from_hdf5, "left out: the field scale, because it has no dimension that counts records"));
  const auto untrusted =
      tool({"convert", folder / "a.h5", "--out", folder / "u.lmdb", "--fields", "x", "--isolate", "--json"}).json();
  CHECK_FALSE(has_note(untrusted, "left out: the field"));  // nobody wanted them

  write_pets(folder);
  folder.write("images/cat/readme.txt", "x");
  const auto from_folder = tool({"convert", folder / "images", "--out", folder / "f.lmdb", "--json"}).json();
  CHECK(has_note(from_folder, "left out: 1 file whose names don't end"));
}

TEST_CASE("convert and inspect say where shards name different classes") {
  const TempFolder folder;
  write_pets(folder);
  for (const std::string split : {"train", "val"})
    REQUIRE(tool({"pack", folder / "images", "--out", folder / (split + ".tar"), "-q"}).status == 0);
  const std::string both = folder / "{train,val}-000000.tar";
  const auto convert = [&](const std::string& out) {
    return tool({"convert", both, "--out", folder / out, "--keys", "position", "--json"}).json();
  };
  CHECK_FALSE(has_note(convert("a.lmdb"), "classes"));
  CHECK(tool({"inspect", folder / "a.lmdb", "--json"}).json()["classes"][0]["name"] != "0");
  folder.write("val-classes.txt", "x\ny\nz\n");
  CHECK(has_note(convert("b.lmdb"), "left out: the names of classes, "));
  CHECK(tool({"inspect", both}).out.find("the same label may mean different classes") != std::string::npos);
  std::filesystem::remove(folder / "val-classes.txt");
  CHECK(has_note(convert("c.lmdb"), "left out: the names of classes, "));
}

TEST_CASE("names and dtypes of fields travel through tar shards") {
  const TempFolder folder;
  folder.write("t.csv", "name,label,score,age\na,1,0.5,7\nb,2,1.5,8\n");
  REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / "a.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "a.lmdb", "--out", folder / "b.tar", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "b-000000.tar", "--out", folder / "c.lmdb", "-q"}).status == 0);
  const std::string schema = tool({"inspect", folder / "a.lmdb", "--json"}).json()["schema"];
  CHECK(schema == "{name: u8[?], label: i64[], score: f64[], age: i64[]}");
  CHECK(tool({"inspect", folder / "b-000000.tar", "--json"}).json()["schema"] == schema);
  CHECK(tool({"inspect", folder / "c.lmdb", "--json"}).json()["schema"] == schema);
}

TEST_CASE("a folder of several kinds of image becomes tar shards and is read back") {
  const TempFolder folder;
  for (unsigned i = 0; i < 6; ++i) folder.write("images/c/" + std::to_string(i) + ".jpg", jpeg(i));
  for (unsigned i = 0; i < 8; ++i)
    folder.write("images/c/w" + std::to_string(i) + ".webp",
                 "RIFF" + std::string(4, '\1') + "WEBPVP8 " + std::to_string(i));
  folder.write("images/c/x.jpg", "no image");
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.tar", "-q"}).status == 0);
  const auto inspected = tool({"inspect", folder / "x-000000.tar", "--json"}).json();
  CHECK(inspected["records"] == 15);
  CHECK(inspected["schema"] == "{image: u8[?], label: i64[]}");
  CHECK(inspected["images"]["webp"] == 8);
  CHECK(inspected["unreadable"] == 0);
}

TEST_CASE("lines of a table keep their order on the way through an LMDB") {
  const TempFolder folder;
  std::string text = "x\n";
  for (int i = 0; i < 120; ++i) text += std::to_string(i) + "\n";
  folder.write("t.csv", text);
  const ToolResult first = tool({"convert", folder / "t.csv", "--out", folder / "t.lmdb", "--json"});
  REQUIRE(first.status == 0);
  CHECK(first.json()["order_kept"] == true);
  CHECK(first.json()["notes"].empty());
  const auto inspected = tool({"inspect", folder / "t.lmdb", "--json"}).json();
  CHECK(inspected["first_key"] == "t.csv:00000002");
  CHECK(inspected["last_key"] == "t.csv:00000121");
  REQUIRE(tool({"convert", folder / "t.lmdb", "--out", folder / "t.h5", "--quiet"}).status == 0);
  const H5Id file(H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const H5Id data(H5Dopen2(file, "x", H5P_DEFAULT));
  std::vector<std::int64_t> values(120), all(120);
  h5_must(H5Dread(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  std::iota(all.begin(), all.end(), 0);
  CHECK(values == all);
}

TEST_CASE("an LMDB that puts records into another order says so, unless their keys are numbered") {
  const TempFolder folder;
  std::string shard;
  for (int i = 1; i <= 12; ++i) shard += tar_member(std::to_string(i) + ".cls", std::to_string(i));
  folder.write("s.tar", shard + tar_end);
  const auto sorted = tool({"convert", folder / "s.tar", "--out", folder / "a.lmdb", "--json"}).json();
  CHECK(sorted["order_kept"] == false);
  CHECK(has_note(sorted, "changed: the order"));
  CHECK(has_note(sorted, "record 9, 10, stands before record 8, 9"));
  CHECK(has_note(sorted, "--keys position"));
  CHECK(tool({"convert", folder / "s.tar", "--out", folder / "b.lmdb"}).out.find("changed: the order") !=
        std::string::npos);
  const auto kept =
      tool({"convert", folder / "s.tar", "--out", folder / "c.lmdb", "--keys", "position", "--json"}).json();
  CHECK(kept["order_kept"] == true);
  CHECK_FALSE(has_note(kept, "the order"));
  CHECK(tool({"convert", folder / "s.tar", "--out", folder / "d.tar", "--json"}).json()["order_kept"] == true);
  std::int8_t label = 1;
  for (const auto& [key, value] : content(folder / "c.lmdb")) CHECK(value[0] == label++);
}

TEST_CASE("pack says where keys sort otherwise than files") {
  const TempFolder folder;
  folder.write("images/a/x.jpg", jpeg(1));
  folder.write("images/a/x-1.jpg", jpeg(2));
  const auto packed = tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--json"}).json();
  CHECK(packed["order_kept"] == false);
  CHECK(has_note(packed, "record 1, a/x, stands before record 0, a/x-1"));
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.tar", "--json"}).json()["order_kept"] == true);
}
