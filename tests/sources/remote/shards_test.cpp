// SPDX-License-Identifier: Apache-2.0
// Tar shards on a server give the batches of the same shards on this machine, whatever happens on the way.
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>

#include "sources/remote/shards.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;

TEST_CASE("shards on a server are the shards on this machine, to the fingerprint") {
  const Shards shards;
  const WebDatasetSource here(shards.here()), there(shards.there(quick_client()));
  CHECK(there.size() == samples);
  CHECK(there.schema() == here.schema());
  CHECK(there.identity() == here.identity());
  CHECK(there.block_ends() == here.block_ends());
  CHECK(there.shards()[1] == shards.server.url("train-000001.tar"));
  CHECK(there.blocks() > 50);
  CHECK(here.blocks() == 0);
  for (std::uint64_t i = 0; i < samples; ++i) {
    CHECK(there.key(i) == here.key(i));
    const OwnedSample a = read_sample(here, i), b = read_sample(there, i);
    for (const char* field : {"bin", "box", "label"}) {
      REQUIRE(a[field].shape == b[field].shape);
      CHECK((a[field].bytes() == 0 || std::memcmp(a[field].data, b[field].data, a[field].bytes()) == 0));
    }
  }
  // A state of one continues with the other.
  Loader one(batches(from(shards.here()) | shuffle({.seed = 4})), {.threads = 2});
  const std::string whole = bytes_of(one);
  Loader begun(batches(from(shards.here()) | shuffle({.seed = 4})), {.threads = 2});
  for (int i = 0; i < 4; ++i) (void)begun.next();
  Loader other(batches(from(shards.there(quick_client())) | shuffle({.seed = 4})), {.threads = 2});
  other.resume(begun.state());
  const std::string rest = bytes_of(other);
  CHECK((!rest.empty() && whole.ends_with(rest)));
}

TEST_CASE("batches from a server are the local ones under faults, orders, threads and little memory") {
  const Shards shards;
  const ServerJson well = ServerJson::array();
  const ServerJson faults = ServerJson::array({{{"do", "close"}, {"after", 9000}, {"chance", 0.1}, {"seed", 1}},
                                               {{"do", "reset"}, {"after", 4000}, {"chance", 0.05}, {"seed", 2}},
                                               {{"do", "status"}, {"code", 503}, {"chance", 0.1}, {"seed", 3}},
                                               {{"do", "short"}, {"by", 100}, {"chance", 0.1}, {"seed", 4}},
                                               {{"do", "slow"}, {"first_byte", 0.02}, {"chance", 0.2}, {"seed", 5}}});
  const std::vector<std::pair<const char*, std::function<Pipeline(const Pipeline&)>>> orders{
      {"in order", [](const Pipeline& p) { return p; }},
      {"shuffled", [](const Pipeline& p) { return p | shuffle({.seed = 9}); }},
      {"by shards", [](const Pipeline& p) { return p | shuffle({.seed = 9, .blocks = true, .window_blocks = 2}); }}};
  for (const auto& [name, order] : orders) {
    INFO(name);
    Loader local(batches(order(from(shards.here()))), {.threads = 1});
    const std::string first = bytes_of(local), second = bytes_of(local);
    for (const ServerJson& rules : {well, faults})
      for (const unsigned threads : {1u, 3u}) {
        if (name != orders.front().first && (threads == 1) != rules.empty()) continue;
        shards.server.plan(rules);
        CAPTURE(threads, rules.size());
        const std::size_t memory = threads == 1 ? 400 << 10 : 64 << 20;
        Loader loader(batches(order(from(shards.there(quick_client())))),
                      {.threads = threads, .max_block_bytes = memory});
        CHECK((bytes_of(loader) == first));
        // Left in its middle, and continued by another loader.
        for (int i = 0; i < 3; ++i) (void)loader.next();
        const State state = loader.state();
        Loader rest(batches(order(from(shards.there(quick_client())))), {.threads = 2, .max_block_bytes = memory});
        rest.resume(state);
        Loader whole(batches(order(from(shards.here()))), {.threads = 1});
        (void)bytes_of(whole);
        CHECK((bytes_of(rest) == bytes_of(whole, 3)));
      }
  }
}

TEST_CASE("names of classes beside shards on a server are those of the local shards") {
  const Shards shards;
  std::string lines;
  for (std::uint64_t i = 0; i < samples; ++i) lines += "class " + std::to_string(i) + "\n";
  for (const char* file : {"classes.txt", "train-classes.txt"}) {
    shards.folder.write(file, file + ("\n" + lines));
    WebDataset keyed = shards.there(quick_client());
    keyed.path = "http://user:secret@127.0.0.1:" + std::to_string(shards.server.port()) +
                 "/train-{000000..000002}.tar?key=secret";
    const WebDatasetSource here(shards.here()), there(keyed);
    CHECK(there.schema() == here.schema());
    CHECK(there.schema()[*there.schema().find("label")].classes[0] == file);
    CHECK(there.identity() == here.identity());
  }
  bool asked = false;
  for (const ServerJson& request : shards.server.requests())
    if (request.at("path") == "/train-classes.txt") asked = request.at("query") == "key=secret";
  CHECK(asked);
  // Two stores with different names.
  shards.folder.write("other-classes.txt", "x\n" + lines);
  std::filesystem::copy_file(shards.folder.path() / "train-000000.tar", shards.folder.path() / "other-000000.tar");
  WebDataset both = shards.there(quick_client());
  both.path =
      "http://user:secret@127.0.0.1:" + std::to_string(shards.server.port()) + "/{train,other}-000000.tar?key=secret";
  const Error error = error_of([&] { const WebDatasetSource source(both); });
  CHECK(error.code() == Errc::schema_mismatch);
  CHECK(mentions(error, "other-classes.txt"));
  CHECK(!mentions(error, "secret"));
}

TEST_CASE("a file of classes is asked for with the query of a shard in its folder, and of no other") {
  const Shards shards;
  const Server other(shards.folder);
  std::filesystem::create_directories(shards.folder.path() / "sub");
  std::filesystem::copy_file(shards.folder.path() / "train-000001.tar", shards.folder.path() / "sub/train-000001.tar");
  shards.folder.write("set.txt",
                      shards.server.url("train-000000.tar?key=A\n") + shards.server.url("train-000002.tar?key=A2\n") +
                          shards.server.url("sub/train-000001.tar?key=S\n") + other.url("train-000000.tar?key=B\n") +
                          other.url("train-000001.tar#part\n") + other.url("sub/train-000001.tar\n"));
  WebDataset options{.path = shards.folder / "set.txt"};
  options.client = quick_client();
  const WebDatasetSource source(options);
  REQUIRE(source.size() != 0);
  using Asked = std::map<std::string, std::set<std::string>>;
  const auto queries = [](const Server& server) {
    Asked asked;
    for (const ServerJson& request : server.requests())
      if (const auto path = request.at("path").get<std::string>(); path.find("classes") != std::string::npos)
        asked[path].insert(request.value("query", ""));
    return asked;
  };
  const auto all = [](const std::string& folder, const std::string& query) {
    Asked asked;
    for (const char* file : {"train-classes.txt", "classes.txt"}) asked[folder + file] = {query};
    return asked;
  };
  Asked one = all("/", "key=A"), two = all("/", "key=B");
  one.merge(all("/sub/", "key=S")), two.merge(all("/sub/", ""));
  CHECK(queries(shards.server) == one);
  CHECK(queries(other) == two);
}

TEST_CASE("in order, each range of a server's shards is fetched once, ahead of its use") {
  const Shards shards;
  const auto client = quick_client();
  const WebDatasetSource source(shards.there(client));
  shards.server.plan(ServerJson::array());
  const Pipeline p = batches(from(source));
  const RemoteCounts opened = client->counts();
  Loader loader(p, {.threads = 2, .epochs = 1});
  (void)bytes_of(loader);
  const RemoteCounts counts = client->counts();
  std::uint64_t bytes = 0;
  const WebDatasetSource here(shards.here());
  for (const std::string& shard : here.shards()) bytes += std::filesystem::file_size(shard);
  CHECK(shards.server.bytes() == bytes);
  CHECK(counts.reads - opened.reads == source.blocks());
  CHECK(counts.announced_reads - opened.announced_reads == source.blocks());
  CHECK(shards.server.requests().size() == source.blocks());
}

TEST_CASE("a loader that waits for a server is bound by the network, and says what its connections brought") {
  const Shards shards;
  Remote remote;
  remote.range_bytes = 64 << 10;
  remote.cache_bytes = 0;
  remote.connections = 2;
  const WebDatasetSource source(shards.there(std::make_shared<const RemoteClient>(remote)));
  CHECK(source.fetched().connections == 2);
  CHECK(WebDatasetSource(shards.here()).fetched().connections == 0);
  shards.server.plan(ServerJson::array({{{"do", "status"}, {"code", 503}, {"times", 2}}}),
                     {{"bytes_per_s_a_connection", 2e6}});
  Loader loader(batches(from(source)), {.threads = 2, .epochs = 1});
  (void)bytes_of(loader);
  const Report r = loader.report();
  CAPTURE(r.text());
  CHECK(r.bound == Bound::network);
  REQUIRE(r.fetched);
  CHECK(r.fetched->connections == 2);
  CHECK(r.fetched->bytes > 3'000'000);
  CHECK(r.fetched->retries == 2);
  CHECK(r.text().find("; 2 requests failed and were repeated\n") != std::string::npos);
  CHECK(r.fetched->full_share > 0.5);
  CHECK(r.fetched->connection_bytes_per_s < 2.4e6);
  CHECK(r.fetched->connection_bytes_per_s > 0.4e6);
  CHECK(r.verdict.find("With 4, at most about ") != std::string::npos);
}

TEST_CASE("a server that fails ends the run under each policy, and no sample is left out for it") {
  const Shards shards;
  for (const OnError policy : {OnError::fail, OnError::replace, OnError::mask, OnError::drop})
    for (const char* what : {"refuse", "fail", "change"}) {
      CAPTURE(static_cast<int>(policy), what);
      shards.server.plan(ServerJson::array());
      Remote remote;
      remote.range_bytes = 64 << 10;
      remote.cache_bytes = 0;
      remote.retries = 2;
      remote.first_pause = std::chrono::milliseconds(1);
      const WebDatasetSource source(shards.there(std::make_shared<const RemoteClient>(remote)));
      const Pipeline pipeline = batches(from(source)) | on_error({.policy = policy});
      Loader loader(pipeline, {.threads = 2, .max_block_bytes = 256 << 10, .epochs = 1});
      REQUIRE(loader.next());
      ServerJson rule{{"do", "status"}, {"code", std::string(what) == "refuse" ? 403 : 503}};
      if (std::string(what) == "change") rule = {{"do", "etag"}, {"value", "\"other\""}};
      shards.server.plan(ServerJson::array({rule}));
      const Error error = error_of([&] {
        while (loader.next()) {
        }
      });
      CHECK(error.code() == Errc::network);
      CHECK(error.file().starts_with(shards.server.url("train-")));
      // The server is back: the same loader goes on where it was.
      shards.server.plan(ServerJson::array());
      loader.resume(loader.state());
      std::uint64_t samples = 0;
      while (const auto batch = loader.next()) samples += batch->size();
      CHECK(samples > 0);
    }
}

TEST_CASE("a shard that is missing, changed or damaged on a server names its URL") {
  const Shards shards;
  const auto client = quick_client();
  WebDataset missing = shards.there(client);
  missing.path = shards.server.url("train-{000002..000003}.tar?key=secret");
  const Error gone = error_of([&] { const WebDatasetSource source(missing); });
  CHECK(gone.code() == Errc::not_found);
  CHECK(gone.file() == shards.server.url("train-000003.tar"));
  CHECK(!mentions(gone, "secret"));

  // No secret is in what a source or a pipeline says, or in an error.
  WebDataset keyed = shards.there(client);
  keyed.path += "?key=secret";
  const WebDatasetSource with_key(keyed);
  CHECK(with_key.file() == shards.server.url("train-{000000..000002}.tar"));
  CHECK(batches(from(with_key)).plan().find("secret") == std::string::npos);
  for (const char* path : {"http://u:secret@h/train-{2..0}.tar?secret", "http://u:secret@h/train-{0..1.tar?secret"}) {
    keyed.path = path;
    const Error wrong = error_of([&] { const WebDatasetSource none(keyed); });
    CHECK(wrong.code() == Errc::invalid_argument);
    CHECK(!mentions(wrong, "secret"));
  }
  CHECK(!mentions(error_of([&] { (void)with_key.key(1000); }), "secret"));
  CHECK(!mentions(error_of([&] { (void)read_sample(with_key, 1000); }), "secret"));
  keyed.path = shards.server.url("train-000000.tar?key=secret");
  keyed.fields = {{"a", "jpg"}, {"a", "png"}};
  CHECK(!mentions(error_of([&] { const WebDatasetSource none(keyed); }), "secret"));
  std::filesystem::copy_file(shards.folder.path() / "train-000000.tar", shards.folder.path() / "my set.tar");
  WebDataset spaced = shards.there(client);
  spaced.path = shards.server.url("my%20set.tar");
  CHECK(WebDatasetSource(spaced).identity() == WebDatasetSource({.path = shards.folder / "my set.tar"}).identity());

  const WebDatasetSource source(shards.there(client));
  shards.folder.write("train-000001.tar", "another file");
  const Error changed = error_of([&] { read_sample(source, 90); });
  CHECK(changed.code() == Errc::network);
  CHECK(mentions(changed, "has changed on the server"));
  CHECK(changed.file() == shards.server.url("train-000001.tar"));
  CHECK(code_of([&] { const WebDatasetSource damaged(shards.there(client)); }) == Errc::corrupt);
  WebDataset twice = shards.there(client);
  twice.path = shards.server.url("train-{000000,000000}.tar");
  CHECK(code_of([&] { const WebDatasetSource both(twice); }) == Errc::invalid_argument);
}

}  // namespace PENSTOCK_TEST_FILE
