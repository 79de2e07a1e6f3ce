// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::string noise(std::size_t bytes, unsigned seed) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>((i * 131 + seed * 7919 + (i >> 8)) & 0xff);
  return out;
}

std::string sample(const std::string& key, unsigned seed, std::size_t bytes = 700) {
  return tar_member(key + ".jpg", noise(bytes, seed)) + tar_member(key + ".cls", std::to_string(seed));
}

std::vector<std::string> keys_of(const WebDatasetSource& source) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

const std::vector<WebDatasetField> image_and_label{{"image", "jpg;jpeg;png"}, {"label", "cls"}};

}  // namespace

TEST_CASE("samples are read as WebDataset names them") {
  const TempFolder folder;
  folder.write("a.tar", sample("dir.v1/0001", 1) + tar_member("dir.v1/", "", '5') + tar_member("README", "none") +
                            tar_member("dir.v1/.hidden.jpg", "x") + tar_member("__meta__", "x") + sample("./0002", 2) +
                            tar_member("0003.JPEG", "three") + tar_member("0003.cls", " -7\n") +
                            tar_member("0003.seg.png", "mask") + tar_end);
  const WebDatasetSource source({.path = folder / "a.tar", .fields = image_and_label});
  CHECK(source.schema() == Schema{{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}});
  CHECK(keys_of(source) == std::vector<std::string>{"dir.v1/0001", "0002", "0003"});
  CHECK(read_text(source, 0) == noise(700, 1));
  CHECK(read_label(source, 0) == 1);
  CHECK(read_text(source, 1) == noise(700, 2));
  CHECK(read_text(source, 2) == "three");
  CHECK(read_label(source, 2) == -7);
  CHECK(source.name() == "webdataset");
  CHECK(source.file() == folder / "a.tar");
  CHECK(source.without_end() == 0);
  CHECK(error_of([&] { static_cast<void>(source.key(3)); }).code() == Errc::not_found);
  CHECK(error_of([&] { read_text(source, 3); }).code() == Errc::not_found);

  const WebDatasetSource masks({.path = folder / "a.tar", .fields = {{"mask", "seg.png"}}});
  CHECK(read_text(masks, 2, "mask") == "mask");
  const Error missing = error_of([&] { read_text(masks, 1, "mask"); });
  CHECK(missing.code() == Errc::corrupt);
  CHECK(missing.sample_scoped());
  CHECK(missing.key() == "0002");
  CHECK(missing.file() == folder / "a.tar");
  CHECK(missing.index() == 1u);
  CHECK(mentions(missing, "seg.png"));
}

TEST_CASE("fields are told from the first samples") {
  const TempFolder folder;
  std::string shard;
  for (unsigned i = 0; i < 9; ++i) shard += sample("k" + std::to_string(i), i);
  shard += tar_member("k9.jpg", "no label here") + tar_member("k9.txt", "rare");
  folder.write("a.tar", shard + tar_end);
  const WebDatasetSource source({.path = folder / "a.tar"});
  CHECK(source.schema() == Schema{{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}});
  CHECK(read_text(source, 8) == noise(700, 8));
  CHECK(error_of([&] { read_text(source, 9); }).code() == Errc::corrupt);

  folder.write("b.tar", tar_member("0.a", "") + tar_member("1.b", "") + tar_member("2.c", "") + tar_end);
  const Error error = error_of([&] { WebDatasetSource({.path = folder / "b.tar"}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "a, b, c"));

  // A sample counts once, however often it has an extension.
  folder.write("c.tar", tar_member("0.txt", "") + tar_member("0.txt", "") + tar_member("0.txt", "") +
                            tar_member("0.jpg", "x") + tar_member("0.txt", "") + tar_member("1.jpg", "y") +
                            tar_member("2.jpg", "z") + tar_member("3.jpg", "") + tar_end);
  CHECK(WebDatasetSource({.path = folder / "c.tar"}).schema() == Schema{{"image", DType::u8, {dynamic}}});

  folder.write("empty.tar", tar_end);
  CHECK(WebDatasetSource({.path = folder / "empty.tar"}).size() == 0);
}

TEST_CASE("extensions become names, one for images of several kinds") {
  const TempFolder folder;
  using Extensions = std::vector<std::string>;
  const auto names = [&](const std::vector<Extensions>& samples) {
    std::string shard, text;
    for (std::size_t i = 0; i < samples.size(); ++i)
      for (const std::string& extension : samples[i])
        shard += tar_member("k" + std::to_string(i) + "." + extension, "1");
    folder.write("a.tar", shard + tar_end);
    const WebDatasetSource source({.path = folder / "a.tar"});
    for (const WebDatasetField& field : source.fields())
      text += field.name + "=" + field.extensions.substr(0, field.extensions.find(';')) + " ";
    return text;
  };
  CHECK(names({Extensions{"jpg", "cls"}, Extensions{"png", "cls"}, Extensions{"webp", "cls"},
               Extensions{"jpeg", "cls"}}) == "image=jpg label=cls ");
  CHECK(names({Extensions{"png", "seg.png", "id"}}) == "image=png seg=seg.png id=id ");
  CHECK(names({Extensions{"png", "jpg"}, Extensions{"jpg", "png"}}) == "png=png image=jpg ");    // two images
  CHECK(names({Extensions{"left.jpg", "left.cls"}}) == "left.jpg=left.jpg left.cls=left.cls ");  // one name for two
  CHECK(names({Extensions{"jpg", "image.cls"}}) == "image=jpg image.cls=image.cls ");
  CHECK(names({Extensions{"image", "jpg"}}) == "image=image jpg=jpg ");
  CHECK(names({Extensions{"cls", "cls.cls"}}) == "label=cls cls=cls.cls ");
  CHECK(names({Extensions{"json", "txt", "bin"}}) == "json=json txt=txt bin=bin ");
}

TEST_CASE("classes are read from a file beside the shards, and what no field takes is counted") {
  const TempFolder folder;
  const std::string shard = sample("a", 1) + tar_member("b.jpg", "x") + tar_member("b.cls", "1") +
                            tar_member("b.txt", "x") + tar_member("README", "x") + tar_end;
  for (const std::string name : {"t-0.tar", "t-1.tar", "u-0.tar"}) folder.write(name, shard);
  const auto classes = [&](const std::string& path) {
    return WebDatasetSource({.path = folder / path}).schema().at("label").classes.names();
  };
  using Names = std::vector<std::string>;
  CHECK(classes("*.tar").empty());
  folder.write("classes.txt", "x\r\ny\r\nz");
  CHECK(classes("*.tar") == Names{"x", "y", "z"});
  folder.write("t-classes.txt", "cat\n\ndog\n");
  CHECK(classes("t-*.tar") == Names{"cat", "", "dog"});
  CHECK(classes("u-0.tar") == Names{"x", "y", "z"});
  for (const char* const others : {"", "bird\n"}) {
    if (*others != '\0') folder.write("u-classes.txt", others);
    const Error differ = error_of([&] { classes("*.tar"); });
    CHECK(differ.code() == Errc::schema_mismatch);
    CHECK(mentions(differ, "t-classes.txt"));
    CHECK(mentions(differ, "u-classes.txt"));
    CHECK(mentions(differ, "concat"));
  }
  CHECK(WebDatasetSource({.path = folder / "*.tar", .classes = {"p", "q"}}).schema().at("label").classes ==
        ClassNames{"p", "q"});
  CHECK(code_of([&] {
          WebDatasetSource({.path = folder / "u-0.tar", .fields = {{"image", "jpg"}}, .classes = {"p"}});
        }) == Errc::invalid_argument);
  folder.write("u-classes.txt", "cat\n\ndog\n");
  CHECK(classes("*.tar") == Names{"cat", "", "dog"});

  CHECK(WebDatasetSource({.path = folder / "t-*.tar"}).left_out() ==
        std::map<std::string, std::uint64_t>{{"", 2}, {"txt", 2}});
  CHECK(WebDatasetSource({.path = folder / "t-0.tar", .fields = {{"label", "cls"}}}).left_out() ==
        std::map<std::string, std::uint64_t>{{"", 1}, {"jpg", 2}, {"txt", 1}});
}

TEST_CASE("what is wrong with one sample is that sample's error") {
  const TempFolder folder;
  folder.write("a.tar", sample("good", 1) + tar_member("twice.jpg", "1") + tar_member("twice.JPG", "2") +
                            tar_member("twice.cls", "0") + tar_member("link.jpg", "", '1') +
                            tar_member("link.cls", "0") + tar_member("word.jpg", "x") + tar_member("word.cls", "cat") +
                            tar_member("huge.jpg", "x") + tar_member("huge.cls", "9223372036854775808") +
                            tar_member("none.jpg", "x") + tar_member("none.cls", " \n") + tar_member("long.jpg", "x") +
                            tar_member("long.cls", std::string(70, ' ') + "1") + tar_member("min.jpg", "") +
                            tar_member("min.cls", "-9223372036854775808") + sample("last", 3) + tar_end);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const WebDatasetSource source({.path = folder / "a.tar", .fields = image_and_label, .access = access});
    REQUIRE(source.size() == 9);
    const auto code = [&](std::uint64_t i) { return error_of([&] { read_text(source, i); }).code(); };
    CHECK(read_text(source, 0) == noise(700, 1));
    CHECK(code(1) == Errc::corrupt);
    CHECK(mentions(error_of([&] { read_text(source, 1); }), "two members"));
    CHECK(code(2) == Errc::unsupported);
    CHECK(mentions(error_of([&] { read_text(source, 2); }), "--hard-dereference"));
    for (const std::uint64_t i : {3u, 4u, 5u, 6u}) CHECK(code(i) == Errc::corrupt);
    CHECK(mentions(error_of([&] { read_text(source, 3); }), "\"cat\""));
    // A sample before it, of 700 bytes and one; six members of a byte, or none; its own image; its header.
    CHECK(error_of([&] { read_text(source, 3); }).offset() == 512u * (3 + 2 + 6 + 1 + 2 + 2 + 1));
    CHECK(read_text(source, 7).empty());
    CHECK(read_label(source, 7) == std::numeric_limits<std::int64_t>::min());
    CHECK(read_text(source, 8) == noise(700, 3));
  }
}

TEST_CASE("shards are found by file, folder, range, list and wildcard") {
  const TempFolder folder;
  for (const unsigned i : {0u, 1u, 2u, 9u, 10u, 11u})
    folder.write("set/t-" + std::to_string(i) + ".tar", sample("k" + std::to_string(i), i) + tar_end);
  folder.write("set/t-3.tar.partial", "x");
  folder.write("set/.t-4.tar", "x");
  folder.write("b/p-08.tar", sample("k8", 8) + tar_end);
  folder.write("b/p-09.tar", sample("k9", 9) + tar_end);
  folder.write("b/p-10.tar", sample("k10", 10) + tar_end);
  const auto keys = [&](const std::string& pattern) {
    return keys_of(WebDatasetSource({.path = folder / pattern, .fields = image_and_label}));
  };
  using Keys = std::vector<std::string>;
  CHECK(keys("set") == Keys{"k0", "k1", "k2", "k9", "k10", "k11"});
  CHECK(keys("set/t-*.tar") == Keys{"k0", "k1", "k2", "k9", "k10", "k11"});
  CHECK(keys("set/t-?.tar") == Keys{"k0", "k1", "k2", "k9"});
  CHECK(keys("set/t-{9..11}.tar") == Keys{"k9", "k10", "k11"});
  CHECK(keys("b/p-{08..10}.tar") == Keys{"k8", "k9", "k10"});
  CHECK(keys("{b/p-10,set/t-1,b/p-08}.tar") == Keys{"k10", "k1", "k8"});
  CHECK(keys("{set,b}/*1*.tar") == Keys{"k1", "k10", "k11", "k10"});
  folder.write("{odd}.tar", sample("odd", 1) + tar_end);
  CHECK(keys("{odd}.tar") == Keys{"odd"});

  const auto code = [&](const std::string& pattern) { return error_of([&] { keys(pattern); }).code(); };
  CHECK(code("set/t-{2..3}.tar") == Errc::not_found);
  CHECK(code("set/u-*.tar") == Errc::not_found);
  CHECK(code("nowhere") == Errc::not_found);
  CHECK(code("set/t-{2..1}.tar") == Errc::invalid_argument);
  CHECK(code("set/t-{1.tar") == Errc::invalid_argument);
  CHECK(code("set/t-1}.tar") == Errc::invalid_argument);
  CHECK(code("set/t-{1,{2,3}}.tar") == Errc::invalid_argument);
  CHECK(code("set/t-{a..c}.tar") == Errc::invalid_argument);
  CHECK(code("set/t-{0..99999999999999}.tar") == Errc::invalid_argument);
  CHECK(code("{0..9999}{0..9999}.tar") == Errc::invalid_argument);
  CHECK(code("set/{t-1,t-1}.tar") == Errc::invalid_argument);
  CHECK(code("{set/,set//}t-1.tar") == Errc::invalid_argument);
  folder.write("none/x.txt", "x");
  CHECK(code("none") == Errc::not_found);
  CHECK(error_of([&] { keys("none"); }).cause().find("only 1 file (.txt 1)") != std::string::npos);
  CHECK(WebDatasetSource({.path = folder / "set"}).notes().empty());
  std::filesystem::rename(folder / "set/t-11.tar", folder / "set/t-11.TAR");
  for (const char* const passed : {"set/x.tar.gz", "set/README", "set/sub/t-5.tar"}) folder.write(passed, "x");
  for (const char* const skipped : {"set/Thumbs.db", "set/__MACOSX/t-0.tar", "set/t.tar-classes.txt"})
    folder.write(skipped, "a\n");
  CHECK(keys("set") == Keys{"k0", "k1", "k2", "k9", "k10", "k11"});
  const std::string plan = (from(WebDataset{.path = folder / "set"}) | ragged("image") | batch(1)).plan();
  CHECK(plan.find("passed over: 2 files (.gz 1, no ending 1), 1 folder") != std::string::npos);
  CHECK(code("{set/t-1,none/../set/t-1}.tar") == Errc::invalid_argument);
  CHECK(error_of([&] { WebDatasetSource({.path = ""}); }).code() == Errc::invalid_argument);
}

TEST_CASE("what a wildcard finds is ordered as people count, folder by folder") {
  const TempFolder folder;
  const std::vector<std::string> expected{"a/00001", "a/0001", "a/001", "a/01",  "a/1",   "a/2",  "a/10",
                                          "a-b/1",   "a2/1",   "a10/1", "b/x9z", "b/x10", "bz/1", "b\xc3\xa9/1"};
  for (const std::string& key : expected) folder.write("in/" + key + ".tar", sample(key, 1) + tar_end);
  CHECK(keys_of(WebDatasetSource({.path = folder / "in/*/*.tar", .fields = image_and_label})) == expected);
}

TEST_CASE("identity follows content and fields, not place or time") {
  const TempFolder folder;
  const std::string content = sample("a", 1) + sample("b", 2) + tar_end;
  folder.write("x/1.tar", content);
  folder.write("y/1.tar", content);
  folder.write("y/2.tar", content);
  folder.write("z/1.tar", sample("a", 1) + sample("c", 2) + tar_end);
  const auto identity = [&](const std::string& path, const std::vector<WebDatasetField>& fields = image_and_label) {
    return WebDatasetSource({.path = folder / path, .fields = fields}).identity();
  };
  CHECK(identity("x/1.tar") == identity("y/1.tar"));
  CHECK(identity("x/1.tar") != identity("y/2.tar"));
  CHECK(identity("x/1.tar") != identity("y"));
  CHECK(identity("x/1.tar") != identity("z/1.tar"));
  CHECK(identity("x/1.tar") != identity("x/1.tar", {{"image", "jpg"}, {"label", "cls"}}));
  CHECK(identity("x/1.tar") !=
        identity("x/1.tar", {{"image", "jpg;jpeg;png"}, {"label", "cls", WebDatasetKind::bytes}}));
}

TEST_CASE("an error tells no name that no member has") {
  const TempFolder folder;
  folder.write("a.tar", tar_member("0.jpg", "x") + tar_member("0.png", "y") + tar_member("1.jpg", "", '1') +
                            tar_member("2.cls", "1") + tar_end);
  const WebDatasetSource source({.path = folder / "a.tar", .fields = {{"image", "jpg;png"}}});
  for (const std::uint64_t i : {0u, 1u, 2u}) {
    const Error error = error_of([&] { read_text(source, i); });
    INFO(error.what());
    CHECK(mentions(error, "jpg, png"));
    CHECK(mentions(error, "\"image\""));
    CHECK_FALSE(mentions(error, "|"));
    CHECK(error.key() == std::to_string(i));
  }
  const WebDatasetSource one({.path = folder / "a.tar", .fields = {{"image", "jpg"}}});
  CHECK(mentions(error_of([&] { read_text(one, 1); }), "\"1.jpg\""));
}

TEST_CASE("fields that can't work are refused") {
  const TempFolder folder;
  folder.write("a.tar", sample("a", 1) + tar_end);
  const auto code = [&](const std::vector<WebDatasetField>& fields) {
    return error_of([&] { WebDatasetSource({.path = folder / "a.tar", .fields = fields}); }).code();
  };
  CHECK(code({{"a", "jpg"}, {"a", "cls"}}) == Errc::invalid_argument);
  CHECK(code({{"a", "jpg"}, {"b", "png;JPG"}}) == Errc::invalid_argument);
  CHECK(code({{"a", ""}}) == Errc::invalid_argument);
  CHECK(code({{"a", "jpg;"}}) == Errc::invalid_argument);
  CHECK(code({{"a", ".jpg"}}) == Errc::invalid_argument);
  CHECK(code({{"", "jpg"}}) == Errc::invalid_argument);
  CHECK(code({{"a", "jpg", WebDatasetKind::array}}) == Errc::invalid_argument);
}

TEST_CASE("arrays of numbers are read from .npy members") {
  const TempFolder folder;
  const auto npy = [](const std::string& header, const std::string& data) {
    const std::string text = header + "\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
  };
  const std::string six(24, '\x3f');
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  folder.write(
      "a.tar",
      tar_member("0.npy", npy(good, six)) +
          tar_member("1.npy", npy("{'shape':(3,3),'descr':\"<f4\",'fortran_order':False}", std::string(36, '\x40'))) +
          tar_member("2.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", six)) +
          tar_member("3.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", six)) +
          tar_member("4.npy", npy(good, six + "x")) +
          tar_member("5.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", six)) +
          tar_member("6.npy", "\x93NUMPY") + tar_member("7.npy", npy(good.substr(0, 40), six)) +
          tar_member("8.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, "
                                  "4611686018427387904), }",
                                  six)) +
          tar_member("9.npy", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", six)) + tar_end);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const WebDatasetSource source({.path = folder / "a.tar", .access = access});
    CHECK(source.schema() == Schema{{"npy", DType::f32, {dynamic, 3}}});
    CHECK(read_text(source, 0, "npy") == six);
    CHECK(read_sample(source, 1)["npy"].shape == Shape{3, 3});
    CHECK(read_text(source, 1, "npy") == std::string(36, '\x40'));
    const auto code = [&](std::uint64_t i) { return error_of([&] { read_text(source, i, "npy"); }).code(); };
    for (const std::uint64_t i : {2u, 3u, 9u}) CHECK(code(i) == Errc::unsupported);
    for (const std::uint64_t i : {4u, 5u, 6u, 7u, 8u}) CHECK(code(i) == Errc::corrupt);
  }
  // Where none can be read it is told why.
  folder.write("big.tar",
               tar_member("0.jpg", "x") +
                   tar_member("0.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", six)) +
                   tar_end);
  const Error big = error_of([&] { WebDatasetSource({.path = folder / "big.tar"}); });
  CHECK(big.code() == Errc::invalid_argument);
  CHECK(mentions(big, ">f4"));
  CHECK(mentions(big, "`bytes`"));
}

TEST_CASE("GNU tar's and Python's formats are read alike") {
  const TempFolder folder;
  const std::string deep = std::string(90, 'd') + "/" + std::string(60, 'e');
  const std::string deeper = deep + "/" + std::string(150, 'f') + "/" + std::string(80, 'g');
  const std::string words = "k\xc3\xa9y \xe4\xb8\xad";
  std::map<std::string, std::string> wanted;
  unsigned seed = 0;
  for (const std::string& key : {std::string("a/0001"), std::string("a/0002"), deep + "/0001", words})
    ++seed, wanted[key] = noise(std::size_t{513} * seed, seed);
  std::map<std::string, std::string> all = wanted;
  all[deeper + "/0001"] = noise(10, 99);

  const auto check = [&](const std::string& shard, const std::map<std::string, std::string>& expected) {
    const WebDatasetSource source({.path = shard});
    REQUIRE(source.size() == expected.size());
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      INFO(shard << ": " << source.key(i));
      REQUIRE(expected.contains(source.key(i)));
      CHECK(read_text(source, i, "bin") == expected.at(source.key(i)));
    }
  };
  std::string names;
  for (const auto& [key, data] : all) {
    folder.write("files/" + key + ".bin", data);
    if (wanted.contains(key)) names += " '" + key + ".bin'";
  }
  std::size_t checked = 0;
  if (runs("tar --version | grep -q GNU")) {
    const std::string cd = "cd " + (folder / "files") + " && ";
    for (const std::string format : {"gnu", "pax", "ustar", "v7", "oldgnu"}) {
      const bool long_names = format != "v7" && format != "ustar";
      const std::string shard = folder / (format + ".tar");
      const std::string what = format == "v7" ? " a '" + words + ".bin'" : long_names ? " ." : names;
      std::string command = cd;
      command.append("tar --format=").append(format).append(" -cf ").append(shard).append(what);
      REQUIRE(runs(command));
      std::map<std::string, std::string> expected = long_names ? all : wanted;
      if (format == "v7") expected.erase(deep + "/0001");
      check(shard, expected);
      ++checked;
    }
  }
  if (runs(std::string(python) + " -c 'import tarfile'")) {
    for (const std::string format : {"USTAR_FORMAT", "GNU_FORMAT", "PAX_FORMAT"}) {
      const bool long_names = format != "USTAR_FORMAT";
      const std::string shard = folder / (format + ".tar");
      std::string list;
      for (const auto& [key, data] : long_names ? all : wanted) list += "'" + key + ".bin',";
      std::ofstream(folder / "make.py") << "import os, sys, tarfile\nos.chdir('" << (folder / "files") << "')\n"
                                        << "with tarfile.open('" << shard << "', 'w', format=tarfile." << format
                                        << ") as tar:\n    for name in [" << list << "]:\n        tar.add(name)\n";
      REQUIRE(runs(std::string(python) + " " + (folder / "make.py")));
      check(shard, long_names ? all : wanted);
      ++checked;
    }
  }
  if (checked == 0) PENSTOCK_SKIP("neither GNU tar nor Python: 8 comparisons were not made");
}

TEST_CASE("shards are the blocks of a shuffle") {
  const TempFolder folder;
  const std::vector<unsigned> sizes{6, 0, 9, 1, 4};
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::string shard;
    for (unsigned i = 0; i < sizes[s]; ++i) shard += sample("k" + std::to_string(i), i, 20);
    folder.write("t-" + std::to_string(s) + ".tar", shard + tar_end);
  }
  const WebDatasetSource source({.path = folder.path().string(), .fields = image_and_label});
  const Pipeline shuffled = from(source) | shuffle({.seed = 3, .blocks = true, .window_blocks = 1});
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    std::vector<std::uint64_t> order(source.size());
    shuffled.fill(epoch, 0, order);
    std::vector<std::size_t> shards;
    for (const std::uint64_t index : order)
      if (shards.empty() || shards.back() != source.shard_of(index)) shards.push_back(source.shard_of(index));
    orders.insert(shards);
    std::sort(shards.begin(), shards.end());
    CHECK(shards == std::vector<std::size_t>{0, 2, 3, 4});
    std::sort(order.begin(), order.end());
    for (std::uint64_t i = 0; i < source.size(); ++i) CHECK(order[i] == i);
  }
  CHECK(orders.size() > 5);
  folder.write("empty.tar", tar_end);
  CHECK((from(WebDatasetSource({.path = folder / "empty.tar", .fields = image_and_label})) | shuffle({.blocks = true}))
            .size() == 0);
}

TEST_CASE("a loader reads shards, shuffled, in any number of threads") {
  const TempFolder folder;
  constexpr unsigned shards = 5, samples = 40;
  for (unsigned s = 0; s < shards; ++s) {
    std::string shard;
    for (unsigned i = 0; i < samples; ++i) shard += sample("k" + std::to_string(i), s * samples + i, 300);
    folder.write("t-" + std::to_string(s) + ".tar", shard + tar_end);
  }
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const WebDatasetSource source({.path = folder / "t-{0..4}.tar", .fields = image_and_label, .access = access});
    REQUIRE(source.size() == shards * samples);
    const auto fixed = [](View<const std::uint8_t, 1> in, View<std::uint8_t, 1> out) {
      std::copy_n(in.data(), out.size(), out.data());
    };
    for (const unsigned threads : {1u, 4u}) {
      Loader loader(
          from(source) | shuffle({.seed = 3}) | map("image", fixed, {.name = "fixed", .shape = Shape{300}}) | batch(16),
          {.threads = threads});
      std::vector<int> seen(source.size());
      for (Batch& batch : loader.epoch()) {
        const auto images = batch.view<std::uint8_t, 2>("image");
        const auto labels = batch.view<std::int64_t, 1>("label");
        for (std::uint64_t row = 0; row < batch.size(); ++row) {
          const std::uint64_t index = batch.indices()[row];
          ++seen[index];
          CHECK(labels(row) == static_cast<std::int64_t>(index));
          const std::string wanted = noise(300, static_cast<unsigned>(index));
          CHECK(std::equal(wanted.begin(), wanted.end(), &images(row, 0),
                           [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }));
        }
      }
      CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    }
  }
}
