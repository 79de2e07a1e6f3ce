// SPDX-License-Identifier: Apache-2.0
// inspect, verify, bench and convert read tar shards from a server as they read local ones, and show no secret of URLs.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/tool.hpp"
#include "sources/remote/server.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

constexpr const char* pattern = "train-{000000..000002}.tar";

// Three shards of 50 pictures. Names of classes are looked for only beside local shards, so there are none.
struct Shards {
  Shards() {
    ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    write_images(images, 3, 50);
    REQUIRE(tool({"convert", images / "images", "--out", folder / "train.tar", "--shard-samples", "20"}).status == 0);
    fs::remove(folder.path() / "train-classes.txt");
  }
  std::string here() const { return folder / pattern; }
  std::string there() const { return server.url(pattern); }
  std::string with_secrets(const std::string& name) const {
    return "http://user:secret@127.0.0.1:" + std::to_string(server.port()) + "/" + name + "?key=secret";
  }
  TempFolder images, folder, out, cache;
  Server server{folder};
};

Json without(Json json, const std::vector<std::string>& names) {
  for (const std::string& name : names) json = json.without("/" + name);
  return json;
}

// Returns the first file below the folder that has the text in it; empty: none has.
std::string file_with(const std::string& text, const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().string().find(text) != std::string::npos ||
        (entry.is_regular_file() && text_in(entry.path().string()).find(text) != std::string::npos))
      return entry.path().string();
  return {};
}

bool has_secret(const ToolResult& result) { return (result.out + result.err).find("secret") != std::string::npos; }

}  // namespace

TEST_CASE("shards on a server are inspected, verified, measured and converted like local ones") {
  const Shards shards;
  const ToolResult local = tool({"inspect", shards.here(), "--json"}),
                   far = tool({"inspect", shards.there(), "--json"});
  INFO(far.err);
  REQUIRE(far.status == 0);
  CHECK(far.json()["store"] == shards.there());
  CHECK(without(far.json(), {"store"}) == without(local.json(), {"store"}));
  CHECK(tool({"inspect", shards.there()}).out.starts_with(shards.there() + " (webdataset): 50 records of "));
  const auto labels = [](const std::string& store) {
    return without(tool({"inspect", store, "--fields", "label", "--all", "--json"}).json(), {"store"});
  };
  CHECK(labels(shards.there()) == labels(shards.here()));

  const auto verified = [](const std::string& store) {
    const ToolResult result = tool({"verify", store, "--json", "--threads", "3"});
    CHECK(result.status == 0);
    return without(result.json(), {"store", "seconds"});
  };
  CHECK(verified(shards.there()) == verified(shards.here()));

  const auto hash = [](const std::string& store) {
    const ToolResult result = tool({"bench", store, "--json", "--hash", "--epochs", "2", "--threads", "2", "--stages",
                                    "shuffle blocks=true | decode_image | random_resized_crop 32 | batch 16"});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return std::pair(result.json()["runs"][0]["hash"], result.json()["runs"][0]["states_hash"]);
  };
  CHECK(hash(shards.there()) == hash(shards.here()));

  REQUIRE(tool({"convert", shards.here(), "--out", shards.out / "here.lmdb"}).status == 0);
  REQUIRE(tool({"convert", shards.there(), "--out", shards.out / "there.lmdb"}).status == 0);
  CHECK(content(shards.out / "there.lmdb").size() == 50);
  CHECK(content(shards.out / "there.lmdb") == content(shards.out / "here.lmdb"));
  REQUIRE(tool({"inspect", shards.there(), "--png", shards.out / "there.png"}).status == 0);
  REQUIRE(tool({"inspect", shards.here(), "--png", shards.out / "here.png"}).status == 0);
  CHECK(text_in(shards.out / "there.png") == text_in(shards.out / "here.png"));
}

TEST_CASE("a list of shards is read from a server and from this machine, and names either's shards") {
  const Shards shards;
  shards.folder.write("local.txt", "# three shards\n" + std::string(pattern) + "\n");
  shards.folder.write("far.txt", shards.with_secrets(pattern) + "\n");
  shards.folder.write("wrong.txt", "no shard\n");
  const auto inspected = [](const std::string& store, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"inspect", store, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ToolResult result = tool(arguments);
    INFO(result.err);
    CHECK(result.status == 0);
    CHECK_FALSE(has_secret(result));
    return without(result.json(), {"store"});
  };
  const Json local = inspected(shards.here());
  CHECK(inspected(shards.folder / "local.txt") == local);
  CHECK(inspected(shards.server.url("local.txt")) == local);
  CHECK(inspected(shards.folder / "far.txt", {"--connections", "2"}) == local);
  const auto hash = [](const std::string& store) {
    const ToolResult result = tool({"bench", store, "--json", "--hash", "--epochs", "1", "--stages",
                                    "shuffle blocks=true | decode_image | random_resized_crop 32 | batch 16"});
    CHECK_FALSE(has_secret(result));
    return result.json()["runs"][0]["hash"];
  };
  CHECK(hash(shards.folder / "far.txt") == hash(shards.here()));
  REQUIRE(tool({"verify", shards.folder / "far.txt"}).status == 0);
  const ToolResult converted = tool({"convert", shards.folder / "far.txt", "--out", shards.out / "far.lmdb"});
  CHECK(converted.status == 0);
  CHECK_FALSE(has_secret(converted));
  CHECK(file_with("secret", shards.out.path()).empty());

  const ToolResult wrong = tool({"inspect", shards.folder / "wrong.txt"});
  CHECK(wrong.status != 0);
  CHECK(wrong.err.find("(line 1 of " + shards.folder.path().string() + "/wrong.txt") != std::string::npos);
  const ToolResult cold = tool({"bench", shards.folder / "far.txt", "--cold", "--stages", "decode_image | batch 4"});
  CHECK(cold.status != 0);
  CHECK_FALSE(has_secret(cold));
}

TEST_CASE("verify names the bad records of shards on a server, and transfers each shard once") {
  const Shards shards;
  // A byte in the middle of each picture of a shard.
  std::string tar = text_in(shards.folder / "train-000001.tar");
  for (std::size_t at = tar.find("\xff\xd8\xff"); at != std::string::npos; at = tar.find("\xff\xd8\xff", at + 3))
    for (std::size_t i = 600; i < 640; ++i) tar[at + i] = static_cast<char>(0xff);
  shards.folder.write("train-000001.tar", tar);
  const ToolResult local = tool({"verify", shards.here(), "--json"});
  REQUIRE(local.status == 3);
  shards.server.plan(ServerJson::array());
  const ToolResult far = tool({"verify", shards.there(), "--json"});
  CHECK(far.status == 3);
  CHECK(far.json()["bad"].size() == local.json()["bad"].size());
  CHECK(far.json()["bad"][0]["key"] == local.json()["bad"][0]["key"]);
  CHECK(far.json()["bad"][0]["cause"] == local.json()["bad"][0]["cause"]);
  std::uint64_t bytes = 0;
  for (const char* shard : {"train-000000.tar", "train-000001.tar", "train-000002.tar"})
    bytes += fs::file_size(shards.folder.path() / shard);
  // A byte to ask for each size, and the texts that say that there are no index files.
  CHECK(shards.server.bytes() < bytes + 200);
  const ToolResult without_cache = tool({"verify", shards.there(), "--json", "--cache-bytes", "0"});
  CHECK(without(without_cache.json(), {"seconds"}) == without(far.json(), {"seconds"}));
  CHECK(shards.server.bytes() > 2 * bytes);
  CHECK(tool({"verify", shards.there(), "--cache", shards.cache / "mine", "--cache-bytes", "1G"}).status == 3);
  CHECK(fs::exists(shards.cache.path() / "mine" / "v1" / "CACHEDIR.TAG"));
}

TEST_CASE("a conversion from a server is continued by another URL of the same data, and not after a change") {
  const Shards shards;
  const std::string out = shards.out / "x.lmdb";
  REQUIRE(tool({"convert", shards.with_secrets(pattern), "--out", out}).status == 0);
  const ToolResult again = tool({"convert", shards.there() + "?key=another", "--out", out});
  CHECK(again.status == 0);
  CHECK(again.out.find("is finished already") != std::string::npos);
  // The same bytes, written anew.
  const std::string shard = shards.folder / "train-000001.tar";
  fs::last_write_time(shard, fs::last_write_time(shard) + std::chrono::seconds(10));
  const ToolResult changed = tool({"convert", shards.there(), "--out", out});
  CHECK(changed.status == 1);
  CHECK(one_line(changed.err));
  CHECK(changed.err.find("state of the data") != std::string::npos);
  CHECK(file_with("secret", shards.out.path()).empty());
  CHECK(file_with("secret", shards.cache.path()).empty());
}

TEST_CASE("no secret of a URL is in a message, a result or a file") {
  const Shards shards;
  shards.folder.write("damaged.tar", "no shard" + std::string(2000, 'x'));
  const ServerJson well = ServerJson::array(),
                   refused = ServerJson::array({{{"do", "status"}, {"code", 403}, {"body", "secret"}}});
  struct Case {
    std::string what, url;
    ServerJson rules;
    bool works;
  };
  const std::vector<Case> cases{
      {"good", shards.with_secrets(pattern), well, true},
      {"404", shards.with_secrets("train-{000002..000003}.tar"), well, false},
      {"403", shards.with_secrets(pattern), refused, false},
      {"damaged", shards.with_secrets("damaged.tar"), well, false},
      {"no server", "http://user:secret@127.0.0.1:1/x.tar?key=secret", well, false},
      {"wrong braces", shards.with_secrets("train-{2..0}.tar"), well, false},
      {"no host", "http://user:secret@/x.tar?key=secret", well, false},
      {"another scheme", "s3://user:secret@bucket/x.tar?key=secret", well, false},
      {"HDF5", shards.with_secrets("x.h5"), well, false},
      {"a folder", shards.with_secrets("train/"), well, false},
  };
  for (const auto& [what, url, rules, works] : cases) {
    shards.server.plan(rules);
    const std::string out = shards.out / what;
    fs::create_directory(out);
    const auto file = [&](const char* name) { return out + "/" + name; };
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"inspect", url, "--json", file("inspect.json"), "--png", file("sheet.png")},
             {"verify", url, "--json", file("verify.json")},
             {"bench", url, "--json", file("bench.json"), "--trace", file("trace.json"), "--epochs", "1", "--threads",
              "1", "--stages", "decode_image | random_resized_crop 32 | batch 16"},
             {"convert", url, "--json", file("convert.json"), "--out", file("x.lmdb")},
             {"convert", url, "--out", file("y.tar")}}) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"--retries", "0"});
      const ToolResult result = tool(all);
      CAPTURE(what, arguments.front(), result.out, result.err);
      CHECK((result.status == 0) == works);
      CHECK(!has_secret(result));
      if (!works) CHECK(one_line(result.err));
      CHECK(file_with("secret", out).empty());
      CHECK(file_with("secret", shards.cache.path()).empty());
    }
    if (works) {
      const ToolResult page = tool({"report", file("bench.json"), "--html", file("bench.html")});
      CHECK(page.status == 0);
      CHECK(!has_secret(page));
      CHECK(file_with("secret", out).empty());
      CHECK(Json::parse(text_in(file("bench.json")))["store"] == shards.there());
    }
  }
}

TEST_CASE("what is wrong with a command line is said without secrets of its URLs") {
  const Shards shards;
  const std::string url = shards.with_secrets(pattern), here = shards.here(), out = shards.out / "x.lmdb";
  ::setenv("PENSTOCK_TEST_EMPTY", "", 1);
  ::setenv("PENSTOCK_TEST_LINE", "secret without a colon", 1);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{url},
                                             {"--json=" + url, "inspect", here},
                                             {"inspect", here, url},
                                             {"inspect", url, "--json=" + url},
                                             {"inspect", url, "--jsn=" + url},
                                             {"inspect", url, "--access", url},
                                             {"inspect", url, "--fields", url},
                                             {"inspect", url, "--png", url},
                                             {"inspect", url, "--mpp", "1"},
                                             {"inspect", url, "--values", "raw"},
                                             {"inspect", url, "--isolate"},
                                             {"inspect", url, "--key-field", "secret-" + url},
                                             {"inspect", url, "--token-env", "secret"},
                                             {"inspect", url, "--token-env", "PENSTOCK_TEST_EMPTY"},
                                             {"inspect", url, "--header-env", "secret"},
                                             {"inspect", url, "--connections", "0"},
                                             {"inspect", here, "--connections", "3"},
                                             {"inspect", here, "--cache-bytes", "0"},
                                             {"inspect", url, "--cache", url},
                                             {"inspect", url, "--cache-bytes", url},
                                             {"verify", url, "--cold"},
                                             {"verify", here, "--token-env", "PENSTOCK_TEST_LINE"},
                                             {"verify", url, "--field", url},
                                             {"bench", url, "--cold"},
                                             {"bench", url, "--threads", url},
                                             {"bench", url, "--stages", url},
                                             {"bench", url, "--stages", "batch " + url},
                                             {"bench", "--compare", url, url},
                                             {"convert", url},
                                             {"convert", here, "--out", url},
                                             {"convert", url, "--out", out, "--classes", url},
                                             {"pack", url, "--out", out},
                                             {"pack", shards.images / "images", "--out", out, "--labels", url},
                                             {"tile", url, "--out", out},
                                             {"index", url, "--out", out},
                                             {"merge", url, url, "--out", out},
                                             {"report", url}}) {
    std::string line;
    for (const std::string& word : arguments) line += word + " ";
    const ToolResult result = tool(arguments);
    CAPTURE(line, result.out, result.err);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
    CHECK(result.out.empty());
    CHECK(result.err.find(":secret@") == std::string::npos);
    CHECK(result.err.find("key=secret") == std::string::npos);
    CHECK(result.err.find("\"secret\"") == std::string::npos);
  }
  const ToolResult lines = tool({"inspect", url, "--header-env", "PENSTOCK_TEST_LINE"});
  CHECK(lines.status == 1);
  CHECK(lines.err.find("each of --header-env is \"Name: value\"") != std::string::npos);
  CHECK(!has_secret(lines));
  CHECK(fs::is_empty(shards.out.path()));
  CHECK(!fs::exists("http:"));
}

TEST_CASE("shards on a server are kept in the folder that --cache names, unless --cache-bytes is 0") {
  const Shards shards;
  const std::string folder = shards.out / "cache";
  const auto transferred = [&](const std::vector<std::string>& more) {
    shards.server.plan(ServerJson::array());
    std::vector<std::string> arguments{"inspect", shards.there()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CHECK(tool(arguments).status == 0);
    return shards.server.bytes();
  };
  CHECK(transferred({"--cache-bytes", "0", "--cache", folder}) > 50'000);
  CHECK(!fs::exists(folder));
  CHECK(fs::is_empty(shards.cache.path()));
  CHECK(transferred({"--cache", folder}) > 50'000);
  CHECK(fs::exists(folder));
  CHECK(transferred({"--cache", folder, "--cache-bytes", "1GiB"}) < 200);  // to ask for sizes and index files
  CHECK(fs::is_empty(shards.cache.path()));
  CHECK(transferred({}) > 50'000);
  CHECK(transferred({}) < 200);
}

TEST_CASE("the token and headers of the environment reach the server, and nothing else") {
  const Shards shards;
  ::setenv("PENSTOCK_TEST_TOKEN", "secret-token", 1);
  ::setenv("PENSTOCK_TEST_HEADERS", "X-One: secret-1\nX-Two: secret-2\r\n\n", 1);
  shards.server.plan(ServerJson::array({{{"do", "auth"}, {"token", "secret-token"}}}));
  const ToolResult refused = tool({"inspect", shards.there()});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("see --token-env and --header-env") != std::string::npos);
  shards.server.plan(ServerJson::array({{{"do", "auth"}, {"token", "secret-token"}}}));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"inspect"},
                                             {"verify"},
                                             {"bench", "--epochs", "1", "--stages", "batch 16", "--fields", "label"},
                                             {"convert", "--out", shards.out / "x.tar"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--token-env", "PENSTOCK_TEST_TOKEN", "--header-env", "PENSTOCK_TEST_HEADERS",
                                       "--connections", "2", shards.there()});
    const ToolResult result = tool(arguments);
    CAPTURE(command.front(), result.err);
    CHECK(result.status == 0);
    CHECK(!has_secret(result));
  }
  const ServerJson requests = shards.server.requests();
  CHECK(requests.size() >= 4 * 3);
  for (const ServerJson& request : requests) {
    CHECK(request["headers"]["authorization"] == "Bearer secret-token");
    CHECK(request["headers"]["x-one"] == "secret-1");
    CHECK(request["headers"]["x-two"] == "secret-2");
  }
  CHECK(shards.server.totals()["most_connections"] <= 2 + 1);  // and the one that asks for the log
  CHECK(file_with("secret", shards.out.path()).empty());
}

}  // namespace PENSTOCK_TEST_FILE
