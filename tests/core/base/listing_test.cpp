// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/listing.hpp>

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<std::string> names_of(const TempFolder& folder, const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.substr((folder / "").size()));
  return names;
}

using Names = std::vector<std::string>;

// What this thread does as somebody whom permissions bind.
class AsNobody {
 public:
  AsNobody() {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0) ::setfsuid(nobody);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { ::setfsuid(::geteuid()); }
};

}  // namespace

TEST_CASE("names that a listing skips are hidden, or an operating system's in letters of either case") {
  for (const char* const name :
       {"Thumbs.db", "THUMBS.DB", "ehthumbs.db", "desktop.ini", "Desktop.ini", ".DS_Store", "._a.svs", "__MACOSX",
        "@eaDir", "#recycle", "lost+found", "System Volume Information", "$RECYCLE.BIN", ".nfs00000001", "Icon\r"}) {
    CAPTURE(name);
    CHECK(is_of_system(name));
    CHECK(is_skipped(name));
  }
  for (const char* const name : {".hidden.svs", ".ipynb_checkpoints"}) {
    CAPTURE(name);
    CHECK_FALSE(is_of_system(name));
    CHECK(is_skipped(name));
  }
  for (const char* const name : {"a.svs", "", "Thumbs.dbx", "my desktop.ini", "icon", "_a", "lost", "MACOSX"}) {
    CAPTURE(name);
    CHECK_FALSE(is_skipped(name));
  }
  CHECK(has_ending("A.TAR", ".tar"));
  CHECK(has_ending("a.tar", ".TAR"));
  CHECK_FALSE(has_ending("a.tar.gz", ".tar"));
  CHECK_FALSE(has_ending("tar", ".tar"));
}

TEST_CASE("what is passed over is counted by its endings, the most frequent ones first") {
  SkippedEntries none;
  CHECK(none.text().empty());
  SkippedEntries some;
  for (const char* const name : {"a.txt", "b.gz", "c.tar.GZ", "README", ".x", "dot.", "a long. ending with spaces"})
    some.add_file(name);
  CHECK(some.text() == "7 files (no ending 4, .gz 2, .txt 1)");
  CHECK(some.files() == 7);
  some.add_folder();
  CHECK(some.text() == "7 files (no ending 4, .gz 2, .txt 1), 1 folder");
  some.add(some);
  CHECK(some.text() == "14 files (no ending 8, .gz 4, .txt 2), 2 folders");
  SkippedEntries many;
  for (int i = 0; i < 5000; ++i) many.add_file("a." + std::to_string(i));
  CHECK(many.text() == "5000 files (.0 1, .1 1, .10 1, .100 1, .101 1, .102 1, .103 1, .104 1, others 4992)");
  SkippedEntries odd;
  odd.add_file("a.\x1b[2J");
  CHECK(odd.text() == "1 file (.\\x1b[2j 1)");
}

TEST_CASE(
    "a folder's listing has files that are asked for, links that lead nowhere among them, other files and folders") {
  const TempFolder folder;
  for (const char* const name : {"b.x", "a.X", "c.y", ".h.x", "Thumbs.db", "@eaDir/d.x", "f.x/g.x"})
    folder.write(name, "");
  std::filesystem::create_symlink("nothing", folder / "l.x");
  std::filesystem::create_directory_symlink("f.x", folder / "m.x");
  const auto takes = [](std::string_view name) { return has_ending(name, ".x"); };
  const FolderListing listing = list_files(folder.path().string(), takes, "test");
  CHECK(names_of(folder, listing.files) == Names{"a.X", "b.x", "l.x"});
  CHECK(listing.others == Names{"c.y"});
  CHECK(listing.folders == Names{"f.x", "m.x"});
  CHECK(error_of([&] { (void)list_files(folder / "none", takes, "test"); }).code() == Errc::not_found);
}

TEST_CASE("a listing tells files from folders without a look at each of them") {
  const TempFolder folder;
  folder.write("d/a.x", "");
  folder.write("d/b.x/c", "");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder / "d", std::filesystem::perms(0444));  // names can be read, nothing looked at
  FolderListing listing;
  {
    const AsNobody nobody;
    listing = list_files(
        folder / "d", [](std::string_view) { return true; }, "test");
  }
  std::filesystem::permissions(folder / "d", std::filesystem::perms(0755));
  CHECK(names_of(folder, listing.files) == Names{"d/a.x"});
  CHECK(listing.folders == Names{"b.x"});
}

TEST_CASE("entries of a folder are what their links lead to") {
  const TempFolder folder;
  folder.write("d/file", "");
  folder.write("d/folder/x", "");
  for (const std::string to : {"file", "folder", "nothing", "link to itself", "pipe"})
    std::filesystem::create_symlink(to, folder / ("d/link to " + (to.starts_with("link") ? "itself" : to)));
  REQUIRE(::mkfifo((folder / "d/pipe").c_str(), 0600) == 0);
  int failed = -1;
  std::map<std::string, std::pair<EntryKind, bool>> kinds;
  for (const FolderEntry& entry : entries_in_folder(folder / "d", failed))
    kinds[entry.name] = {entry.kind, entry.is_link};
  CHECK(failed == 0);
  CHECK(kinds == std::map<std::string, std::pair<EntryKind, bool>>{{"file", {EntryKind::file, false}},
                                                                   {"folder", {EntryKind::folder, false}},
                                                                   {"pipe", {EntryKind::other, false}},
                                                                   {"link to file", {EntryKind::file, true}},
                                                                   {"link to folder", {EntryKind::folder, true}},
                                                                   {"link to pipe", {EntryKind::other, true}},
                                                                   {"link to nothing", {EntryKind::none, true}},
                                                                   {"link to itself", {EntryKind::none, true}}});
  CHECK(entries_in_folder(folder / "none", failed).empty());
  CHECK(failed == ENOENT);
}

TEST_CASE("a folder that can't be read is named by the error of the pattern that it belongs to") {
  const TempFolder folder;
  folder.write("d/a/1.tar", "");
  folder.write("d/b/2.tar", "");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder / "d/b", std::filesystem::perms::none);
  const Error refused = error_of([&] {
    const AsNobody nobody;
    (void)files_of_pattern(folder / "d/*/*.tar", "test");
  });
  std::filesystem::permissions(folder / "d/b", std::filesystem::perms::owner_all);
  CHECK(refused.code() == Errc::io);
  CHECK(refused.file() == folder / "d/b");
  CHECK(refused.cause().find(folder / "d/*/*.tar") != std::string::npos);
  CHECK(refused.cause().find("Permission denied") != std::string::npos);
}

TEST_CASE("a path that is there stands for itself, and so do the folders of a pattern and a name's own characters") {
  const TempFolder folder;
  for (const char* const name : {"run[1]/x-0.tar", "run[1]/x-1.tar", "run1/x-0.tar", "run1/y.tar", "q?-0.tar",
                                 "qa-0.tar", "s*-0.tar", "st-0.tar", "{a,b}-0.tar", "b\\c-0.tar", "[z].tar", "z.tar",
                                 "Thumbs.db", "d/__MACOSX/x.tar", "d/e/x.tar", "d/.h/x.tar"})
    folder.write(name, "");
  const auto of = [&](const std::string& pattern, bool braces = false) {
    return names_of(folder, files_of_pattern(folder / pattern, "test", braces));
  };
  CHECK(of("run[1]/x-*.tar") == Names{"run[1]/x-0.tar", "run[1]/x-1.tar"});
  CHECK(of("run[1]/x-[01].tar") == Names{"run[1]/x-0.tar", "run[1]/x-1.tar"});
  CHECK(of("run[1-3]/*.tar") == Names{"run1/x-0.tar", "run1/y.tar"});
  CHECK(of("q?-*.tar") == Names{"q?-0.tar"});
  CHECK(of("q[a-c]-*.tar") == Names{"qa-0.tar"});
  CHECK(of("s*-*.tar") == Names{"s*-0.tar"});
  CHECK(of("{a,b}-*.tar", true) == Names{"{a,b}-0.tar"});
  CHECK(of("{q,s}a-*.tar", true) == Names{"qa-0.tar"});
  CHECK(of("b\\c-*.tar") == Names{"b\\c-0.tar"});
  CHECK(of("[z].tar") == Names{"[z].tar"});
  CHECK(of("[yz].tar") == Names{"z.tar"});
  CHECK(of("d/*/x.tar") == Names{"d/e/x.tar"});
  CHECK(of("d/__MACOSX/*.tar") == Names{"d/__MACOSX/x.tar"});
  CHECK(of("d/.h/*.tar") == Names{"d/.h/x.tar"});
  CHECK(error_of([&] { of("T*"); }).code() == Errc::not_found);
  CHECK(of("no such file") == Names{"no such file"});
  const Error none = error_of([&] { of("*.none"); });
  CHECK(none.code() == Errc::not_found);
  CHECK(none.file() == folder / "*.none");
}

}  // namespace PENSTOCK_TEST_FILE
