// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/files.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<std::string> keys_of(const FilesSource& source) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("files in class folders") {
  const TempFolder folder;
  folder.write("cat/img10.jpg", "ten");
  folder.write("cat/img2.JPG", "two");
  folder.write("bird/deep/er/x.png", "bird");
  folder.write("bird/readme.txt", "not an image");
  folder.write("bird/.x.jpg", "hidden");
  folder.write(".git/y.jpg", "hidden");
  std::filesystem::create_directories(folder / "ant");

  const FilesSource source({.root = folder.path().string()});
  CHECK(source.schema().to_string() == "{image: u8[?], label: i64[]}");
  CHECK(keys_of(source) == Keys{"bird/deep/er/x", "cat/img2", "cat/img10"});
  CHECK(source.schema().at("label").classes.names() == Keys{"ant", "bird", "cat"});
  CHECK(read_text(source, 2) == "ten");
  CHECK(read_label(source, 2) == 2);
  CHECK(read_label(source, 0) == 1);

  SECTION("in the order of bytes") {
    const FilesSource by_bytes({.root = folder.path().string(), .order = FilesOrder::bytes});
    CHECK(keys_of(by_bytes) == Keys{"bird/deep/er/x", "cat/img10", "cat/img2"});
    CHECK(read_text(by_bytes, 1) == "ten");
  }
  SECTION("with other extensions") {
    CHECK(keys_of(FilesSource({.root = folder.path().string(), .extensions = {"TXT"}})) == Keys{"bird/readme"});
    CHECK(FilesSource({.root = folder.path().string(), .extensions = {}}).size() == 4);
  }
  SECTION("fields have names") {
    const FilesSource named({.root = folder.path().string(), .field = "jpeg", .label = "class"});
    CHECK(named.schema().to_string() == "{jpeg: u8[?], class: i64[]}");
  }
}

TEST_CASE("natural order") {
  const TempFolder folder;
  const Keys expected{"a/01",
                      "a/1",
                      "a/1a",
                      "a/2",
                      "a/10/3",
                      "a/10",
                      "a/010b",
                      "a 1/0",
                      "b2/1",
                      "b10/1",
                      "c/99999999999999999999998",
                      "c/99999999999999999999999",
                      "cz/1",
                      "c\xc3\xa9/1"};
  for (const std::string& key : expected) folder.write(key + ".jpg", key);
  CHECK(keys_of(FilesSource({.root = folder.path().string()})) == expected);
}

TEST_CASE("files without classes") {
  const TempFolder folder;
  folder.write("b.jpg", "b");
  folder.write("a.jpg", "");
  const FilesSource source({.root = folder.path().string()});
  CHECK(source.schema().to_string() == "{image: u8[?]}");
  CHECK(read_text(source, 0).empty());
  CHECK(read_text(source, 1) == "b");

  folder.write("cat/c.jpg", "c");
  const Error error = error_of([&] { FilesSource({.root = folder.path().string()}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "2 files"));
}

TEST_CASE("a folder above the one that has the classes is told") {
  const TempFolder folder;
  for (const char* const file : {"train/cat/a.jpg", "train/dog/b.jpg", "test/cat/c.jpg"}) folder.write(file, "x");
  const std::vector<std::string> told{
      "all files lie in folders of their class's folder (test/cat/c.jpg): if those are the classes, the folder is one "
      "too high"};
  CHECK(FilesSource({.root = folder.path().string()}).notes() == told);
  CHECK(FilesSource({.root = folder / "train"}).notes().empty());
  folder.write("test/d.jpg", "x");
  CHECK(FilesSource({.root = folder.path().string()}).notes().empty());
}

TEST_CASE("an empty folder has no records, a missing one is an error") {
  const TempFolder folder;
  const FilesSource empty({.root = folder.path().string()});
  CHECK(empty.size() == 0);
  CHECK(empty.notes() == std::vector<std::string>{"there are no files in the folder"});
  // A loader says so at once.
  const auto refused = [&] {
    const Pipeline pipeline = from(Files{.root = folder.path().string()}) | ragged("image") | batch(4);
    const Error error = error_of([&] { const Loader loader(pipeline); });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.file() == folder.path().string());
    CHECK(pipeline.plan().find("\n        " + error.cause() + "\n") != std::string::npos);
    const Error shapeless = error_of([&] { (void)(from(Files{.root = folder.path().string()}) | batch(4)); });
    CHECK(mentions(shapeless, "; the source has no records"));
    return error.cause();
  };
  CHECK(refused() == "no batch can ever come: the source has no records; there are no files in the folder");
  folder.write("a/x.JPE", "x");
  folder.write("a/y.txt", "y");
  CHECK(refused() ==
        "no batch can ever come: the source has no records; 2 files (.jpe 1, .txt 1) are left out: `extensions` are "
        "jpg, jpeg, png, bmp, "
        "gif, tif, tiff, webp");
  const Error error = error_of([&] { FilesSource({.root = folder / "missing"}); });
  CHECK(error.code() == Errc::not_found);
  CHECK(error.file() == folder / "missing");
}

TEST_CASE("labels from a CSV file") {
  const TempFolder folder;
  folder.write("a.jpg", "a");
  folder.write("sub/b, \"b\".jpg", "b");
  folder.write("c.bin", "c");
  folder.write("d.jpg", "d");
  const std::string csv = folder / "labels.csv";
  const auto open = [&] { return FilesSource({.root = folder.path().string(), .labels = csv}); };

  SECTION("numbers") {
    folder.write("labels.csv",
                 "\xef\xbb\xbf"
                 "File,label\r\n./a.jpg,-3,more\r\n\r\n\"sub/b, \"\"b\"\".jpg\",7\r\nc.bin,12");
    const FilesSource source = open();
    CHECK(keys_of(source) == Keys{"a", "c.bin", "sub/b, \"b\""});
    CHECK(read_label(source, 0) == -3);
    CHECK(read_label(source, 1) == 12);
    CHECK(read_label(source, 2) == 7);
    CHECK(read_text(source, 2) == "b");
    CHECK(source.schema().at("label").classes.empty());
    CHECK(source.skipped() == 1);
  }
  SECTION("names") {
    folder.write("labels.csv", "a.jpg,zebra\nd.jpg,1\nc.bin,\"ant\n2\"\n");
    const FilesSource source = open();
    CHECK(source.schema().at("label").classes.names() == Keys{"1", "ant\n2", "zebra"});
    CHECK(read_label(source, 0) == 2);
    CHECK(read_label(source, 1) == 1);
    CHECK(read_label(source, 2) == 0);
    CHECK(source.mixed_labels_line() == 2);
  }
  SECTION("spaces and tabs around cells are no part of them, but in quotes") {
    folder.write("labels.csv", "file , label\n a.jpg,10 \nd.jpg\t,\t2\n \"c.bin\" ,\" 3\"\n");
    CHECK(open().schema().at("label").classes.names() == Keys{" 3", "10", "2"});
    folder.write("labels.csv", "file , label\n a.jpg,10 \nd.jpg\t,\t2\n \"c.bin\" , \"3\" \n");
    const FilesSource source = open();
    CHECK(source.schema().at("label").classes.empty());
    CHECK(read_label(source, 0) == 10);
    CHECK(read_label(source, 1) == 3);
    CHECK(read_label(source, 2) == 2);
  }
  SECTION("a note says that one label made names of all numbers") {
    folder.write("labels.csv", "a.jpg,10\nd.jpg,2\nc.bin,x\n");
    CHECK(from(open()).plan().find("labels are not all whole numbers (line 3 of ") != std::string::npos);
    folder.write("labels.csv", "a.jpg,10\nd.jpg,2\nc.bin,3\n");
    CHECK(from(open()).plan().find("labels are not all whole numbers") == std::string::npos);
  }
  SECTION("a first line that names no file is a heading, whatever its words") {
    const auto records = [&](const std::string& text) {
      folder.write("labels.csv", text);
      return open().size();
    };
    for (const std::string heading :
         {"img_name,diagnosis", "File,label", ",label", "image.path,class", "Bild", "d,e,f"})
      for (const std::string lines : {"a.jpg,1\nd.jpg,2\n", "a.jpg,ant\nd.jpg,bee\nc.bin,ant\n"}) {
        INFO(heading << "\n" << lines);
        CHECK(records(heading + "\n" + lines) == (lines.size() < 20 ? 2 : 3));
      }
    folder.write("labels", "a file of that name");
    CHECK(records("labels,0\na.jpg,1\n") == 2);
    CHECK(records("labels,ant\na.jpg,bee\n") == 2);
    CHECK(records("img,label\n") == 0);
    // A file that is missing is no heading.
    for (const std::string text : {"none,0\na.jpg,1\n", "none.JPG,bee\na.jpg,ant\n", "none,ant\na.jpg,bee\nd.jpg,ant\n",
                                   "none,1.5\na.jpg,2.5\n"}) {
      folder.write("labels.csv", text);
      const Error missing = error_of(open);
      INFO(text << missing.what());
      CHECK(missing.code() == Errc::not_found);
      CHECK(mentions(missing, "line 1"));
    }
  }
  SECTION("numbers and names mixed are told by line") {
    const auto line_of = [&](const std::string& text) {
      folder.write("labels.csv", text);
      return open().mixed_labels_line();
    };
    CHECK(line_of("file,label\na.jpg,1\nd.jpg,2\nc.bin,3x\n") == 4);
    CHECK(line_of("a.jpg,ant\nd.jpg,bee\nc.bin,3\n") == 3);
    CHECK(line_of("a.jpg,1\nd.jpg,1.5\n") == 2);
    CHECK(line_of("a.jpg,1.5\nd.jpg,2.5\n") == 1);
    CHECK(line_of("a.jpg,1\nd.jpg,-9223372036854775808\n") == 0);
    CHECK(line_of("a.jpg,ant\nd.jpg,3 bees\n") == 0);
  }
  SECTION("refused") {
    const auto refusal = [&](const std::string& text) {
      folder.write("labels.csv", text);
      return error_of(open);
    };
    const Error missing = refusal("a.jpg,1\nnone.jpg,2\n");
    CHECK(missing.code() == Errc::not_found);
    CHECK(missing.key() == "none.jpg");
    CHECK(mentions(missing, "line 2"));
    CHECK(refusal("sub,1\n").code() == Errc::not_found);
    CHECK(refusal("a.jpg,1\na.jpg,2\n").code() == Errc::invalid_argument);
    CHECK(refusal("a.jpg\n").code() == Errc::corrupt);
    CHECK(refusal("\"a.jpg,1\n").code() == Errc::corrupt);
    CHECK(refusal("\"a\".jpg,1\n").code() == Errc::corrupt);
    for (const std::string label : {"", " ", "99999999999999999999", "9223372036854775808", "-9223372036854775809"}) {
      const Error bad = refusal("a.jpg,1\nd.jpg," + label + "\n");
      INFO(bad.what());
      CHECK(bad.code() == Errc::invalid_argument);
      CHECK(mentions(bad, "line 2"));
      CHECK(bad.file() == csv);
    }
    CHECK(refusal("../x.jpg,1\n").code() == Errc::invalid_argument);
    CHECK(refusal("/etc/passwd,1\n").code() == Errc::invalid_argument);
    std::filesystem::remove(csv);
    CHECK(error_of(open).code() == Errc::not_found);
  }
}

TEST_CASE("what a stage can't do with a file is said with the file's name") {
  const TempFolder folder;
  folder.write("cat/a.png", "a");
  const auto fail = [](View<const std::uint8_t, 1>, View<std::uint8_t, 1>) { throw Error(Errc::corrupt, "planted"); };
  const Pipeline failing = from(Files{.root = folder.path().string()}) | map("image", fail);
  const Error error = error_of([&] { (void)failing.at(0); });
  CHECK(error.key() == "cat/a");
  CHECK(error.file() == folder / "cat/a.png");
  const Files again{.root = folder.path().string()};
  const auto of_zip = error_of([&] { (void)(from(zip({{again}, {again, "b_"}})) | map("image", fail)).at(0); });
  CHECK(of_zip.file() == folder / "cat/a.png");
  // Which part's file it is can't be known: all are named.
  folder.write("masks/a.png", "m");
  const Files pictures{.root = folder / "cat"}, masks{.root = folder / "masks"};
  const auto of_pair = error_of([&] {
    (void)(from(pair({{pictures}, {masks, "mask_"}})) | map("mask_image", fail)).at(0);
  });
  CHECK(of_pair.file() == (folder / "cat/a.png") + " and " + (folder / "masks/a.png"));
}

TEST_CASE("keys are paths without an image's ending, where no two files get the same") {
  const TempFolder folder;
  for (const char* name : {"a/1.jpg", "a/1.png", "a/2.png", "a/3.jpg.png", "a/3.jpg", "a/4.txt", "a/5", "a/5.gif",
                           "a.b/6", "a/.7.jpg", "a/8.tar.JPEG"})
    folder.write(name, name);
  const auto keys = [&](std::vector<std::string> extensions) {
    return keys_of(
        FilesSource({.root = folder.path().string(), .extensions = std::move(extensions), .order = FilesOrder::bytes}));
  };
  // a/3.jpg.png keeps its ending as long as a file has the key that it would get.
  CHECK(keys(Files{}.extensions) == Keys{"a/1.jpg", "a/1.png", "a/2", "a/3", "a/3.jpg.png", "a/5", "a/8.tar"});
  CHECK(keys({}) ==
        Keys{"a.b/6", "a/1.jpg", "a/1.png", "a/2", "a/3", "a/3.jpg.png", "a/4.txt", "a/5", "a/5.gif", "a/8.tar"});
  CHECK(keys({"png"}) == Keys{"a/1", "a/2", "a/3.jpg"});
  CHECK(keys({"txt"}) == Keys{"a/4"});
}

TEST_CASE("images and masks in two folders are paired by their names") {
  const TempFolder images, masks;
  for (const char* name : {"a", "b", "c"}) images.write(std::string(name) + ".jpg", name);
  for (const char* name : {"b", "c", "d"}) masks.write(std::string(name) + ".png", name);
  const auto root = [](const TempFolder& folder) { return folder.path().string(); };
  const Error error =
      error_of([&] { (void)zip(Files{.root = root(images)}, Files{.root = root(masks), .field = "mask"}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "record 0 is \"a\" in part 0 (files) and \"b\" in part 1 (files)"));
  const AnySource both =
      pair(Files{.root = root(images)}, Files{.root = root(masks), .field = "mask"}, {.unpaired = Unpaired::leave_out});
  REQUIRE(both.size() == 2);
  for (std::uint64_t i = 0; i < 2; ++i)
    CHECK(text_of(read_sample(both, i)["image"]) == text_of(read_sample(both, i)["mask"]));
  CHECK(both.model()->key(0) == "b");
}

TEST_CASE("a function of the path gives the labels") {
  const TempFolder folder;
  for (const char* name : {"cat_2.jpg", "cat_10.jpg", "sub/ant_1.jpg", "bee_3.png"}) folder.write(name, name);
  const auto open = [&](FileLabel label, std::string csv = {}) {
    return FilesSource({.root = folder.path().string(), .labels = std::move(csv), .label = std::move(label)});
  };
  const auto labels = [](const FilesSource& source) {
    std::vector<std::int64_t> read;
    for (std::uint64_t i = 0; i < source.size(); ++i) read.push_back(read_label(source, i));
    CHECK(source.labels("label") == read);
    CHECK(labels_of(source, "label") == read);
    return read;
  };
  const auto class_of = [](std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.substr(0, name.find('_'));
  };
  const FilesSource named = open(class_of);
  CHECK(named.schema().to_string() == "{image: u8[?], label: i64[]}");
  CHECK(named.schema().at("label").classes.names() == Keys{"ant", "bee", "cat"});
  CHECK(keys_of(named) == Keys{"bee_3", "cat_2", "cat_10", "sub/ant_1"});
  CHECK(labels(named) == std::vector<std::int64_t>{1, 2, 2, 0});
  const FilesSource numbered = open([](std::string_view path) { return static_cast<int>(path.size()) - 100; });
  CHECK(numbered.schema().at("label").classes.empty());
  CHECK(labels(numbered) == std::vector<std::int64_t>{-91, -91, -90, -87});
  CHECK(open({"kind", class_of}).schema().to_string() == "{image: u8[?], kind: i64[]}");
  CHECK(open(class_of).identity() == named.identity());
  CHECK(numbered.identity() != named.identity());
  const Error thrown = error_of([&] {
    open([](std::string_view path) -> int { throw std::runtime_error("no class in " + std::string(path)); });
  });
  CHECK(thrown.code() == Errc::user);
  CHECK(mentions(thrown, "no class in bee_3.png"));
  CHECK(thrown.file() == folder / "bee_3.png");
  CHECK(error_of([&] { open(class_of, folder / "labels.csv"); }).code() == Errc::invalid_argument);
  // What is no label is none here either.
  const Error empty =
      error_of([&] { open([](std::string_view path) { return std::string(path.starts_with("sub/") ? " " : "x"); }); });
  CHECK(empty.code() == Errc::invalid_argument);
  CHECK(mentions(empty, "empty"));
  CHECK(empty.file() == folder / "sub/ant_1.jpg");
  const Error large = error_of([&] { open([](std::string_view) { return std::uint64_t{1} << 63; }); });
  CHECK(large.code() == Errc::invalid_argument);
  CHECK(mentions(large, "9223372036854775808"));
  CHECK(open([](std::string_view) { return (std::uint64_t{1} << 63) - 1; }).labels("label")->front() == INT64_MAX);
  CHECK(named.ignored() == 0);
  folder.write("notes.txt", "");
  CHECK(open(class_of).ignored() == 1);
  // Drawn and split by class without a look at any file.
  for (const char* name : {"cat_2.jpg", "cat_10.jpg", "sub/ant_1.jpg", "bee_3.png"})
    std::filesystem::remove(folder / name);
  CHECK((from(named) | split({.shares = {1, 1}, .stratify = "label"}) | draw_balanced("label", {.count = 9})).size() ==
        9);
}

TEST_CASE("options that open a source stand for it in joins") {
  const TempFolder folder;
  folder.write("a.jpg", "a");
  folder.write("b.jpg", "b");
  const std::string root = folder.path().string();
  CHECK(concat(Files{.root = root}, Files{.root = root}).size() == 4);
  CHECK(interleave(Files{.root = root}, Files{.root = root}, {.block = 2}).size() == 4);
  CHECK(zip(Files{.root = root}, Files{.root = root, .field = "b"}, Files{.root = root, .field = "c"}).size() == 2);
  CHECK(zip({Files{.root = root}, {Files{.root = root}, "b_"}}).schema().size() == 2);
  CHECK(pair({{Files{.root = root}}, {Files{.root = root}, "b_"}}).size() == 2);
  CHECK(mix({{Files{.root = root}, 0.5}, {Files{.root = root}, 1}}, {.count = 7}).size() == 7);
  CHECK(share(Files{.root = root}).size() == 2);
  CHECK(mentions(error_of([&] { (void)windows(Files{.root = root}, {.length = 2}); }), "varies"));
  CHECK(error_of([&] { (void)concat(Files{.root = root}, Files{.root = root + "/none"}); }).code() == Errc::not_found);
}

TEST_CASE("names may be any bytes") {
  const TempFolder folder;
  const std::string odd = "cla\nss/\xff\xfe \t'\".jpg";
  folder.write(odd, "odd");
  const FilesSource source({.root = folder.path().string()});
  REQUIRE(source.size() == 1);
  CHECK(source.key(0) + ".jpg" == odd);
  CHECK(read_text(source, 0) == "odd");
  CHECK(source.schema().at("label").classes.names() == Keys{"cla\nss"});
}

TEST_CASE("links are followed, loops are not") {
  const TempFolder folder, elsewhere;
  folder.write("a/x.jpg", "x");
  elsewhere.write("y.jpg", "y");
  std::filesystem::create_directory_symlink(folder.path(), folder / "a/loop");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder / "b");
  std::filesystem::create_symlink(folder / "a/x.jpg", folder / "a/z.jpg");
  std::filesystem::create_symlink(folder / "nothing", folder / "a/dangling.jpg");
  REQUIRE(::mkfifo((folder / "a/pipe.jpg").c_str(), 0600) == 0);
  const FilesSource source({.root = folder.path().string()});
  CHECK(keys_of(source) == Keys{"a/x", "a/z", "b/y"});
  CHECK(read_text(source, 1) == "x");
  CHECK(read_text(source, 2) == "y");
  CHECK(source.broken_links() == 1);
}

TEST_CASE("a folder that two links lead to is two classes, or twice in one") {
  const TempFolder folder, elsewhere;
  elsewhere.write("x.jpg", "x");
  std::filesystem::create_directories(folder / "c");
  for (const char* name : {"a", "b", "c/one", "c/two"})
    std::filesystem::create_directory_symlink(elsewhere.path(), folder / name);
  const FilesSource source({.root = folder.path().string()});
  CHECK(keys_of(source) == Keys{"a/x", "b/x", "c/one/x", "c/two/x"});
  CHECK(source.schema().at("label").classes.names() == Keys{"a", "b", "c"});
}

TEST_CASE("links to folders of links are refused before they are too many ways") {
  const TempFolder folder, elsewhere;
  for (int i = 0; i < 20; ++i) {
    const std::string step = elsewhere / ("step" + std::to_string(i)),
                      next = elsewhere / ("step" + std::to_string(i + 1));
    std::filesystem::create_directories(step);
    for (const char* name : {"/a", "/b"}) std::filesystem::create_directory_symlink(next, step + name);
  }
  elsewhere.write("step20/x.jpg", "x");
  std::filesystem::create_directory_symlink(elsewhere / "step0", folder / "class");
  const Error refused = error_of([&] { FilesSource({.root = folder.path().string()}); });
  CHECK(refused.code() == Errc::limit_exceeded);
  CHECK(refused.cause().find("links lead to the same folders") != std::string::npos);
  CHECK(refused.file() == folder.path().string());
}

TEST_CASE("a file that is gone, or is no file any more") {
  const TempFolder folder;
  folder.write("a/x.jpg", "x");
  folder.write("a/y.jpg", "y");
  const FilesSource source({.root = folder.path().string()});
  std::filesystem::remove(folder / "a/x.jpg");
  const Error gone = error_of([&] { read_sample(source, 0); });
  CHECK(gone.code() == Errc::not_found);
  CHECK(gone.key() == "a/x");
  CHECK(gone.file() == folder / "a/x.jpg");
  CHECK(gone.index() == 0);
  std::filesystem::remove(folder / "a/y.jpg");
  REQUIRE(::mkfifo((folder / "a/y.jpg").c_str(), 0600) == 0);
  CHECK(error_of([&] { read_sample(source, 1); }).code() == Errc::io);
  CHECK(error_of([&] { read_sample(source, 2); }).code() == Errc::not_found);
}

TEST_CASE("identity of files depends on names, sizes and labels") {
  const TempFolder one, two;
  for (const TempFolder* folder : {&one, &two}) {
    folder->write("a/x.jpg", "123");
    folder->write("b/y.jpg", "45");
  }
  const auto identity = [](const TempFolder& folder) {
    return FilesSource({.root = folder.path().string()}).identity();
  };
  CHECK(identity(one) == identity(two));
  two.write("b/y.jpg", "456");
  CHECK(identity(one) != identity(two));
  two.write("b/y.jpg", "45");
  two.write("ab/.keep", "");
  CHECK(identity(one) != identity(two));
}

TEST_CASE("a file that is gone is left to the policy, not met by the identity") {
  const TempFolder folder;
  for (const char* name : {"a/x.jpg", "a/y.jpg", "b/z.jpg"}) folder.write(name, "123");
  const auto whole = FilesSource({.root = folder.path().string()}).identity();
  const FilesSource source({.root = folder.path().string()});
  std::filesystem::remove(folder / "a/y.jpg");
  CHECK(source.identity() != whole);
  folder.write("a/y.jpg", "");
  CHECK(source.identity() != FilesSource({.root = folder.path().string()}).identity());
  std::filesystem::remove(folder / "a/y.jpg");

  const auto length = [](View<const std::uint8_t, 1> in, View<std::int64_t, 0> out) { *out.data() = in.extent(0); };
  Loader loader(
      from(source) | on_error({.policy = OnError::mask}) | map("image", length, {.shape = Shape{}}) | batch(3),
      {.threads = 1});
  std::vector<int> mask;
  for (Batch& b : loader.epoch())
    for (const auto row : b.mask()) mask.push_back(row);
  CHECK(mask == std::vector<int>{1, 0, 1});
  CHECK(loader.report().errors == 1);
}

TEST_CASE("a file larger than a sample may be is refused before memory is taken for it") {
  const TempFolder folder;
  folder.write("a.jpg", "a");
  folder.write("big.jpg", "b");
  std::filesystem::resize_file(folder / "big.jpg", std::uintmax_t{1} << 38);
  const Pipeline files = from(Files{.root = folder.path().string()});
  CHECK(text_of(files.at(0)["image"]) == "a");
  const Error error = error_of([&] { files.at(1); });
  CHECK(error.code() == Errc::limit_exceeded);
  CHECK(error.sample_scoped());
  CHECK(error.stage() == "read");
  CHECK(error.key() == "big");
  CHECK(error.index() == 1);
  CHECK(mentions(error, "max_sample_bytes"));
  std::filesystem::resize_file(folder / "big.jpg", 1000);
  CHECK(files.at(1)["image"].bytes() == 1000);
  CHECK(error_of([&] { (files | check({.max_sample_bytes = 999})).at(1); }).code() == Errc::limit_exceeded);
}

TEST_CASE("classes are numbered as somebody says") {
  const TempFolder folder;
  for (const char* const file : {"test/ant/1.jpg", "test/cow/2.jpg", "flat/3.jpg", "flat/4.jpg"})
    folder.write(file, "x");
  const ClassNames trained{"ant", "bee", "cow"};
  const FilesSource source(Files{.root = folder / "test", .classes = trained});
  CHECK(source.schema().at("label").classes == trained);
  CHECK(read_label(source, 0) == 0);
  CHECK(read_label(source, 1) == 2);
  CHECK(source.labels("label") == std::vector<std::int64_t>{0, 2});
  CHECK(source.identity() != FilesSource(Files{.root = folder / "test"}).identity());
  const Error other = error_of([&] { FilesSource(Files{.root = folder / "test", .classes = {"ant", "bee"}}); });
  CHECK(other.code() == Errc::invalid_argument);
  CHECK(mentions(other, "there is a class \"cow\"; `classes` are the 2 classes: 0 ant, 1 bee"));
  CHECK(mentions(error_of([&] {
                   FilesSource(Files{.root = folder / "test", .classes = {"ant", "cow", "ant"}});
                 }),
                 "name \"ant\" twice"));

  const auto of_file = [](std::string_view path) { return path.front() - '3'; };
  const auto of_name = [](std::string_view path) { return path.front() == '3' ? "cow" : "ant"; };
  const FilesSource numbered(Files{.root = folder / "flat", .label = of_file, .classes = {"x", "y"}});
  CHECK(numbered.schema().at("label").classes == ClassNames{"x", "y"});
  CHECK(read_label(numbered, 1) == 1);
  CHECK(mentions(error_of([&] { FilesSource(Files{.root = folder / "flat", .label = of_file, .classes = {"x"}}); }),
                 "\"4.jpg\" has the label 1"));
  CHECK(read_label(FilesSource(Files{.root = folder / "flat", .label = of_name, .classes = trained}), 0) == 2);
  CHECK(code_of([&] { FilesSource(Files{.root = folder / "flat", .classes = trained}); }) == Errc::invalid_argument);
  folder.write("labels.csv", "3.jpg,cow\n4.jpg,ant\n");
  CHECK(read_label(FilesSource(Files{.root = folder / "flat", .labels = folder / "labels.csv", .classes = trained}),
                   0) == 2);
}
