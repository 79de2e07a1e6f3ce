// SPDX-License-Identifier: Apache-2.0
// Manifests: text files that name shards, on this machine and on servers.
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_index.hpp>

#include "sources/remote/shards.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;

TEST_CASE("a manifest gives the shards that it names, in its order") {
  const Shards shards;
  std::filesystem::create_directories(shards.folder.path() / "lists");
  std::filesystem::copy_file(shards.folder.path() / "train-000002.tar", shards.folder.path() / "lists/last.tar");
  const WebDatasetSource here(shards.here());
  const std::string host = shards.server.url("");
  const std::string root = host.substr(0, host.size() - 1);
  struct Case {
    const char* name;
    std::string text;
    bool on_disk, on_server;  // where the manifest may be
  };
  for (const auto& [name, text, on_disk, on_server] :
       {Case{"URLs", host + "train-000000.tar\n" + host + "train-000001.tar\n" + host + "train-000002.tar\n", true,
             true},
        Case{"URLs with braces and queries", host + "train-{000000..000002}.tar?key=secret", true, true},
        Case{"relative", "../train-000000.tar\r\n# train-000009.tar\r\n\r\n  \t\r\n../train-{000001,000002}.tar\r\n",
             true, true},
        Case{"a byte order mark", "\xef\xbb\xbf../train-000000.tar\n../train-{000001..000002}.tar", true, true},
        Case{"paths of the server", "/train-000000.tar\n/train-000001.tar\n/train-000002.tar\n", false, true},
        Case{"paths of the disk",
             shards.folder / "train-000000.tar\n" + shards.folder / "train-000001.tar\n" +
                 shards.folder / "train-000002.tar",
             true, false},
        Case{"relative and URLs", "../train-000000.tar\n" + host + "train-000001.tar\n/train-000002.tar\n", false,
             true}}) {
    INFO(name);
    shards.folder.write("lists/set.txt", text);
    for (const bool served : {false, true}) {
      if (served ? !on_server : !on_disk) continue;
      CAPTURE(served);
      WebDataset options{.path = served ? root + "/lists/set.txt?key=secret#part" : shards.folder / "lists/set.txt"};
      options.client = quick_client();
      const WebDatasetSource source(options);
      CHECK(source.identity() == here.identity());
      CHECK(source.block_ends() == here.block_ends());
      CHECK(source.file() == (served ? root + "/lists/set.txt" : shards.folder / "lists/set.txt"));
      CHECK((source.blocks() != 0) == (served || text.find("http") == 0));
      for (const std::string& shard : source.shards()) CHECK(shard.find("secret") == std::string::npos);
    }
  }
  // Batches, and a state of the one that goes on with the other.
  shards.folder.write("set.txt", "train-000000.tar\ntrain-000001.tar\ntrain-000002.tar\n");
  WebDataset listed{.path = root + "/set.txt"};
  listed.client = quick_client();
  Loader one(batches(from(WebDataset{.path = shards.folder / "set.txt"}) | shuffle({.seed = 4})), {.threads = 2});
  const std::string whole = bytes_of(one);
  Loader begun(batches(from(shards.here()) | shuffle({.seed = 4})), {.threads = 2});
  for (int i = 0; i < 4; ++i) (void)begun.next();
  Loader other(batches(from(listed) | shuffle({.seed = 4})), {.threads = 2});
  other.resume(begun.state());
  const std::string rest = bytes_of(other);
  CHECK((!rest.empty() && whole.ends_with(rest)));
  // Index files are written of its shards, and read from beside them.
  CHECK(write_index_files({.shards = {shards.folder / "set.txt"}}).written == 3);
  shards.server.plan(ServerJson::array());
  listed.fields = {{"bin", "bin"}};
  CHECK(WebDatasetSource(listed).size() == samples);
  CHECK(shards.server.bytes() < 20'000);
  // Another order gives other batches.
  shards.folder.write("set.txt", "train-000001.tar\ntrain-000000.tar\ntrain-000002.tar\n");
  CHECK(WebDatasetSource({.path = shards.folder / "set.txt"}).identity() != here.identity());
}

TEST_CASE("a manifest that is wrong is an error with its line, and without secrets") {
  const Shards shards;
  const std::string host = shards.server.url("");
  std::string many = "a-{1..600000}.tar\n";
  many += "# more\nb-{1..600000}.tar\n";
  const std::string long_name(3900, 'x'), medium_name(390, 'x');
  std::string long_lines;
  for (int i = 0; i < 8; ++i) long_lines += medium_name + std::to_string(i) + "{1..100000}.tar\n";
  struct Case {
    const char* name;
    std::string text;
    Errc code;
    std::string says;
  };
  for (const auto& [name, text, code, says] :
       {Case{"empty", "", Errc::invalid_argument, "names no shards"},
        Case{"comments alone", "# a.tar\n\n \n", Errc::invalid_argument, "names no shards"},
        Case{"braces", "\ntrain-{2..0}.tar\n", Errc::invalid_argument, "line 2"},
        Case{"braces of a URL", host + "train-{2..0}.tar?secret", Errc::invalid_argument, "line 1"},
        Case{"mixed", "train-000000.tar\n\n" + host + "train-000001.tar?secret", Errc::invalid_argument, "line 3"},
        Case{"mixed the other way", host + "train-000001.tar?secret\ntrain-000000.tar\n", Errc::invalid_argument,
             "line 2"},
        Case{"twice", host + "train-000001.tar?secret\n" + host + "train-{000000..000002}.tar?secret\n",
             Errc::invalid_argument, "also in line 1"},
        Case{"twice by another path", "train-000000.tar\n./train-000000.tar\n", Errc::invalid_argument, "twice"},
        Case{"too many", many, Errc::invalid_argument, "line 3"},
        Case{"few bytes that stand for many", long_name + "{1..999999}.tar\n", Errc::invalid_argument, "256 MiB"},
        Case{"the same, after braces", "{1..999999}" + long_name, Errc::invalid_argument, "256 MiB"},
        Case{"the same, of URLs", host + long_name + "{1..99999}.tar?secret", Errc::invalid_argument, "line 1"},
        Case{"the same, by long choices", "{1..1000}{" + long_name + "," + long_name + "}{1..500}",
             Errc::invalid_argument, "256 MiB"},
        Case{"the same, in several lines", long_lines, Errc::invalid_argument, "line 7"},
        Case{"many empty choices", "a{" + std::string(2'000'000, ',') + "}", Errc::invalid_argument, "a million"},
        Case{"too many in one line", "a-{1..2000000}.tar", Errc::invalid_argument, "line 1"},
        Case{"a zero byte", std::string("train\0.tar", 10), Errc::invalid_argument, "line 1"},
        Case{"a folder", host + "\n", Errc::invalid_argument, "can't be listed"},
        Case{"a wildcard", host + "train-000000.tar\n" + host + "train-*.tar?secret\n", Errc::invalid_argument,
             "line 2"},
        Case{"no URL", host + "train-000000.tar\nhttp://u:secret@/x.tar\n", Errc::invalid_argument, "line 2"},
        Case{"missing on the server", host + "train-000000.tar?secret\n" + host + "none.tar?secret\n", Errc::not_found,
             "line 2"},
        Case{"missing on the disk", "train-000000.tar\nnone.tar\n", Errc::not_found, "none.tar"}}) {
    INFO(name);
    shards.folder.write("set.txt", text);
    WebDataset options{.path = shards.folder / "set.txt"};
    options.client = quick_client();
    const Error error = error_of([&] { const WebDatasetSource source(options); });
    INFO(error.what());
    CHECK(error.code() == code);
    CHECK(mentions(error, says));
    CHECK(mentions(error, "set.txt"));
    CHECK(!mentions(error, "secret"));
  }
  // The same shard by another URL, in a list and in a pattern.
  const std::string port = std::to_string(shards.server.port());
  for (const std::string& again :
       {host + "./train-000000.tar", host + "train-000000.tar#x", "HTTP://127.0.0.1:" + port + "/train-000000.tar",
        host + "%74rain-000000.tar", host + "lists/../train-000000.tar", host + "train-00000{0,%30}.tar",
        "http://u:secret@127.0.0.1:" + port + "/train-000000.tar"}) {
    CAPTURE(again);
    shards.folder.write("set.txt", host + "train-000000.tar\n" + again + "\n");
    WebDataset listed{.path = shards.folder / "set.txt"};
    listed.client = quick_client();
    const Error twice = error_of([&] { const WebDatasetSource source(listed); });
    CHECK(twice.code() == Errc::invalid_argument);
    CHECK(mentions(twice, "line 2"));
    CHECK(mentions(twice, "twice"));
  }
  for (const char* pattern : {"{,./}train-000000.tar", "train-000000.tar#{1,2}", "{t,%74}rain-000000.tar?secret"}) {
    CAPTURE(pattern);
    WebDataset listed{.path = host + pattern};
    listed.client = quick_client();
    const Error twice = error_of([&] { const WebDatasetSource source(listed); });
    CHECK(twice.code() == Errc::invalid_argument);
    CHECK((mentions(twice, "twice") && !mentions(twice, "secret")));
  }
  WebDataset options{.path = shards.server.url("none.txt?secret")};
  options.client = quick_client();
  const Error missing = error_of([&] { const WebDatasetSource source(options); });
  CHECK(missing.code() == Errc::not_found);
  CHECK(!mentions(missing, "secret"));
  CHECK(code_of([&] { const WebDatasetSource source({.path = shards.folder / "none.txt"}); }) == Errc::not_found);
  shards.folder.write("set.txt", "//host/a.tar\n");
  options.path = shards.server.url("set.txt?secret");
  const Error slashes = error_of([&] { const WebDatasetSource source(options); });
  CHECK((slashes.code() == Errc::invalid_argument && mentions(slashes, "line 1") && !mentions(slashes, "secret")));
  shards.folder.write("set.txt", host + "train-000000.tar");
  CHECK(code_of([&] { write_index_files({.shards = {shards.folder / "set.txt"}}); }) == Errc::unsupported);
  // A list on a server does not decide who gets a token.
  const Server other(shards.folder);
  shards.folder.write("far.txt", other.url("train-000001.tar") + "\n");
  shards.folder.write("set.txt", "train-000000.tar\n" + other.url("train-000001.tar?secret") + "\n");
  for (const bool has_token : {true, false}) {
    Remote remote;
    remote.cache_bytes = 0;
    if (has_token)
      remote.token = [] { return std::string("secret"); };
    else
      remote.headers = {"X-Key: secret"};
    const auto client = std::make_shared<const RemoteClient>(remote);
    CHECK(client->sends_secrets());
    const std::size_t before = other.requests().size();
    const Error refused =
        error_of([&] { const WebDatasetSource source({.path = shards.server.url("set.txt"), .client = client}); });
    CHECK(refused.code() == Errc::invalid_argument);
    CHECK((mentions(refused, "another server") && mentions(refused, "line 2") && !mentions(refused, "secret")));
    CHECK(other.requests().size() == before);
    // The user's own list does.
    CHECK(WebDatasetSource({.path = shards.folder / "far.txt", .client = client}).size() != 0);
  }
  CHECK(!quick_client()->sends_secrets());
  CHECK(WebDatasetSource({.path = shards.server.url("set.txt"), .client = quick_client()}).shards().size() == 2);
  // A folder may have any name.
  std::filesystem::create_directory(shards.folder.path() / "folder.txt");
  std::filesystem::copy_file(shards.folder.path() / "train-000000.tar", shards.folder.path() / "folder.txt/a.tar");
  CHECK(WebDatasetSource({.path = shards.folder / "folder.txt"}).size() == 60);
}

}  // namespace PENSTOCK_TEST_FILE
