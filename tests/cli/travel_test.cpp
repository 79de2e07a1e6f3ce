// SPDX-License-Identifier: Apache-2.0
// What a store knows is in the new one too, or the command says that it isn't.
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "cli/tool.hpp"
#include "sources/hdf5/files.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

void write_pets(const TempFolder& folder) {
  for (unsigned i = 0; i < 6; ++i)
    folder.write((i < 3 ? "images/cat/v1." : "images/dog/v1.") + std::to_string(i) + ".jpg", jpeg(i));
}

bool has_note(const Json& json, const std::string& words) {
  for (const auto& note : json["notes"])
    if (note.text().find(words) != std::string::npos) return true;
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
    from = converted.json()["store"].text();
    const auto classes = tool({"inspect", from, "--json"}).json()["classes"];
    REQUIRE(classes.size() == 2);
    CHECK(classes[0] == Json::parse(R"({"label": 0, "name": "cat", "records": 3})"));
    CHECK(classes[1] == Json::parse(R"({"label": 1, "name": "dog", "records": 3})"));
  }
  CHECK(text_in(folder / "b-classes.txt") == "cat\ndog\n");
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
  CHECK(has_note(from_folder, "passed over: 1 file ("));
}

TEST_CASE("convert and inspect refuse shards that name different classes") {
  const TempFolder folder;
  write_pets(folder);
  for (const std::string split : {"train", "val"})
    REQUIRE(tool({"pack", folder / "images", "--out", folder / (split + ".tar"), "-q"}).status == 0);
  const std::string both = folder / "{train,val}-000000.tar";
  const auto convert = [&](const std::string& out) {
    return tool({"convert", both, "--out", folder / out, "--keys", "position"});
  };
  CHECK(convert("a.lmdb").status == 0);
  CHECK(tool({"inspect", folder / "a.lmdb", "--json"}).json()["classes"][0]["name"] != "0");
  folder.write("val-classes.txt", "x\ny\nz\n");
  const std::string differ = "name different classes for the field \"label\"";
  CHECK(convert("b.lmdb").err.find(differ) != std::string::npos);
  CHECK(tool({"inspect", both}).err.find(differ) != std::string::npos);
  std::filesystem::remove(folder / "val-classes.txt");
  CHECK(convert("c.lmdb").err.find("val-classes.txt\", which is not there") != std::string::npos);
}

TEST_CASE("names and dtypes of fields travel through tar shards") {
  const TempFolder folder;
  folder.write("t.csv", "name,label,score,age\na,1,0.5,7\nb,2,1.5,8\n");
  REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / "a.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "a.lmdb", "--out", folder / "b.tar", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "b-000000.tar", "--out", folder / "c.lmdb", "-q"}).status == 0);
  const std::string schema = tool({"inspect", folder / "a.lmdb", "--json"}).json()["schema"].text();
  CHECK(schema == "{name: u8[?], label: i64[], score: f64[], age: i64[]}");
  CHECK(tool({"inspect", folder / "b-000000.tar", "--json"}).json()["schema"] == schema);
  CHECK(tool({"inspect", folder / "c.lmdb", "--json"}).json()["schema"] == schema);
}

namespace {

std::string webp_text(unsigned number) {
  const Bytes file = webp_file({9, 8}, {}, number);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

}  // namespace

TEST_CASE("a folder of several kinds of image becomes tar shards and is read back") {
  const TempFolder folder;
  for (unsigned i = 0; i < 6; ++i) folder.write("images/c/" + std::to_string(i) + ".jpg", jpeg(i));
  for (unsigned i = 0; i < 8; ++i) folder.write("images/c/w" + std::to_string(i) + ".webp", webp_text(i));
  folder.write("images/c/x.jpg", "no image");
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.tar", "-q"}).status == 0);
  const auto inspected = tool({"inspect", folder / "x-000000.tar", "--json"}).json();
  CHECK(inspected["records"] == 15);
  CHECK(inspected["schema"] == "{image: u8[?], label: i64[]}");
  CHECK(inspected["images"]["webp"] == 8);
  CHECK(inspected["unreadable"] == 0);
}

TEST_CASE("keys, values, classes and order travel from LMDB through HDF5 and tar shards, and back") {
  const TempFolder folder;
  write_images(folder, 3, 31);
  const std::string first = folder / "x.lmdb";
  REQUIRE(tool({"pack", folder / "images", "--out", first, "-q"}).status == 0);
  const auto seen = [](const std::string& store) {
    auto json = tool({"inspect", store, "--json"}).json();
    for (const char* const own : {"/store", "/kind", "/values", "/hint"}) json = json.without(own);
    return json;
  };
  std::string from = first;
  for (const std::string out : {"a.h5", "b.tar", "c.lmdb", "d.tar", "e.h5", "f.h5", "g.lmdb"}) {
    const ToolResult converted = tool({"convert", from, "--out", folder / out, "--json"});
    INFO(from << " to " << out << ": " << converted.err);
    REQUIRE(converted.status == 0);
    CHECK_FALSE(has_note(converted.json(), "keys"));
    from = converted.json()["store"].text();
    CHECK(seen(from) == seen(first));
    if (out.ends_with(".lmdb")) CHECK(content(from) == content(first));
  }
  // By the shortest ways from the folder as well.
  for (const std::string ending : {"h5", "tar"}) {
    const ToolResult packed = tool({"pack", folder / "images", "--out", folder / ("p." + ending), "--json"});
    const std::string back = folder / ("from_" + ending + ".lmdb");
    REQUIRE(tool({"convert", packed.json()["store"].text(), "--out", back, "-q"}).status == 0);
    CHECK(content(back) == content(first));
  }
}

TEST_CASE("a packed HDF5 file is trained on without naming its fields") {
  const TempFolder folder;
  write_images(folder, 3, 31);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "a.h5", "-q"}).status == 0);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "a.lmdb", "-q"}).status == 0);
  const auto hash = [&](const std::string& store, const std::string& stages) {
    const ToolResult result =
        tool({"bench", folder / store, "--stages", stages, "--epochs", "1", "--hash", "--json", "--threads", "2"});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return result.json()["runs"][0]["hash"];
  };
  for (const std::string split : {"", "split 0.5,0.5 part=1 by=key | ", "split 0.5,0.5 part=1 by=group | ",
                                  "split 0.5,0.5 by=index stratify=label | ", "split 1,1,1 by=key all_but=1 | "}) {
    const std::string stages = split + "decode_image | resize 8x8 | batch 4";
    CHECK(hash("a.h5", stages) == hash("a.lmdb", stages));
  }
}

TEST_CASE("lines of a table keep keys and order through LMDB and HDF5") {
  const TempFolder folder;
  folder.write("t.csv", "id,age,name\nz/1,7,\"a,b\"\ny/2,8,\nx/3,9,c\n");
  const auto keys = [](const std::string& store) {
    const auto json = tool({"inspect", store, "--json"}).json();
    return std::pair(json["first_key"].text(), json["last_key"].text());
  };
  const std::string table = folder / "t.csv";
  // By where they stand, and by a column.
  REQUIRE(tool({"convert", table, "--out", folder / "a.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "a.lmdb", "--out", folder / "a.h5", "-q"}).status == 0);
  CHECK(keys(folder / "a.h5") == std::pair<std::string, std::string>("t.csv:00000002", "t.csv:00000004"));
  REQUIRE(tool({"convert", table, "--key-field", "id", "--out", folder / "b.h5", "-q"}).status == 0);
  CHECK(keys(folder / "b.h5") == std::pair<std::string, std::string>("z/1", "x/3"));
  CHECK(tool({"inspect", folder / "b.h5", "--json"}).json()["schema"] == "{age: i64[], name: u8[?]}");
  REQUIRE(tool({"convert", folder / "b.h5", "--out", folder / "b.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", table, "--key-field", "id", "--out", folder / "direct.lmdb", "-q"}).status == 0);
  CHECK(content(folder / "b.lmdb") == content(folder / "direct.lmdb"));
  CHECK(tool({"inspect", folder / "b.lmdb", "--key-field", "id"}).status == 2);
  CHECK(tool({"inspect", table, "--key-field", "none"}).status == 1);
}

TEST_CASE("records with a field of the name key have their keys in HDF5 beside it") {
  const TempFolder folder;
  folder.write("t.csv", "key,key_\nb,1\na,2\n");
  REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / "a.h5", "-q"}).status == 0);
  const auto json = tool({"inspect", folder / "a.h5", "--json"}).json();
  CHECK(json["schema"] == "{key: u8[?], key_: i64[]}");
  CHECK(json["first_key"] == "t.csv:00000002");
  REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / "b.lmdb", "-q"}).status == 0);
  REQUIRE(tool({"convert", folder / "a.h5", "--out", folder / "a.lmdb", "-q"}).status == 0);
  CHECK(content(folder / "a.lmdb") == content(folder / "b.lmdb"));
}

TEST_CASE("a file that h5py wrote goes to every kind of store with the keys that are named") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'import h5py' 2>/dev/null").c_str()) != 0)
    PENSTOCK_SKIP("no h5py for /usr/bin/python3: a file of it was not converted");
  const TempFolder folder;
  folder.write(
      "make.py",
      "import sys, h5py, numpy as np\n"
      "with h5py.File(sys.argv[1], 'w') as f:\n"
      "    names = ['p%d/%d' % (9 - i % 5, i) for i in range(40)]\n"
      "    f.create_dataset('who/id', data=names, dtype=h5py.string_dtype())\n"
      "    f.create_dataset('fixed', data=np.array(names, 'S8'), chunks=(7,), compression='gzip')\n"
      "    f.create_dataset('x', data=np.arange(240, dtype='>i2').reshape(40, 6), chunks=(9, 6), compression='gzip')\n"
      "    f.create_dataset('label', data=np.arange(40) % 3)\n"
      "    f.attrs['unit'] = 'mm'\n");
  REQUIRE(std::system((std::string(python) + " " + (folder / "make.py") + " " + (folder / "o.h5")).c_str()) == 0);
  const std::string fields = "label,x";
  for (const std::string key : {"who/id", "fixed"}) {
    std::string from = folder / "o.h5";
    int step = 0;
    for (const std::string ending : {".lmdb", ".h5", ".tar", ".lmdb"}) {
      const std::string out = folder / ((key == "fixed" ? "f" : "w") + std::to_string(step++) + ending);
      std::vector<std::string> command{"convert", from, "--out", out, "--json"};
      if (step == 1) command.insert(command.end(), {"--key-field", key, "--fields", fields});
      const ToolResult converted = tool(command);
      INFO(converted.err);
      REQUIRE(converted.status == 0);
      if (step == 1) CHECK(has_note(converted.json(), "left out: 1 attribute: unit"));
      from = converted.json()["store"].text();
      const auto json = tool({"inspect", from, "--json"}).json();
      CHECK(json["records"] == 40);
      CHECK(json["schema"] == "{label: i64[], x: i16[6]}");
      // An LMDB puts them into the order of keys.
      CHECK(json["first_key"] == "p5/14");
      CHECK(json["last_key"] == "p9/5");
    }
    CHECK(content(from) == content(folder / ((key == "fixed" ? "f" : "w") + std::string("0.lmdb"))));
  }
  CHECK(content(folder / "f3.lmdb") == content(folder / "w3.lmdb"));
  // Without a word about keys they stay what they are.
  REQUIRE(tool({"convert", folder / "o.h5", "--out", folder / "n.lmdb", "-q"}).status == 0);
  const auto json = tool({"inspect", folder / "n.lmdb", "--json"}).json();
  CHECK(json["schema"] == "{fixed: u8[?], label: i64[], who/id: u8[?], x: i16[6]}");
  CHECK(json["first_key"] == "00000000");
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

}  // namespace PENSTOCK_TEST_FILE
