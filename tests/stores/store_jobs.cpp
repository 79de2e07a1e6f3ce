// SPDX-License-Identifier: Apache-2.0
#include "store_jobs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include <penstock/extend/store_files.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/files_sink.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_cache.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/source_checks.hpp"
#include "support/text_in.hpp"
#ifdef PENSTOCK_TEST_TILES
#include "tiles_job.hpp"
#endif

namespace penstock_test {

namespace {

using namespace penstock;

constexpr std::uint64_t records = 40, slides = 4;
const Schema schema{{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}};

std::string key_of(std::uint64_t i) {
  char text[32];
  std::snprintf(text, sizeof text, "class%d/%04d", static_cast<int>(i / 20), static_cast<int>(i));
  return text;
}

struct Records {
  std::shared_ptr<std::atomic<std::uint64_t>> reads = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t size() const { return records; }
  Schema schema() const { return penstock_test::schema; }
  std::string name() const { return "records"; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    ++*reads;
    std::uint8_t byte = static_cast<std::uint8_t>(i);
    for (std::uint8_t& to : out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(1 + i * 977 % 3000)}).flat())
      to = byte = static_cast<std::uint8_t>(byte * 5 + 17);
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

// What `write` does with a sink, on this thread.
template <class S>
std::uint64_t write_all(S&& sink, const HowToWrite& how) {
  std::uint64_t written = 0;
  sink.open({schema, records});
  for (std::uint64_t i = 0; i < records; ++i) {
    const SinkItem item{.position = i, .index = i, .key = key_of(i)};
    if (!sink.has(item)) {
      OwnedSample sample(schema);
      SampleBuilder out = sample.builder();
      Records().read(i, out);
      Sample view = sample.sample();
      sink.put(item, view);
      ++written;
    }
    if (i % how.commit_every == how.commit_every - 1) sink.commit();
  }
  sink.commit();
  sink.finish();
  return written;
}

template <class S>
std::string content_of(const S& source) {
  const AnySource any = share(source);
  std::string content;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    content += any.model()->key(i) + ":";  // none of some
    for (std::size_t slot = 0; slot < source.schema().size(); ++slot) {
      const TensorView value = sample[source.schema()[slot].name];
      content += value.shape.to_string();
      content.append(reinterpret_cast<const char*>(value.data), value.bytes());
    }
    content += "\n";
  }
  return content;
}

std::vector<std::string> files_of(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void put_features(FeatureSink& sink, std::uint64_t slide) {
  constexpr std::int64_t rows = 70, dimension = 12;
  std::vector<float> features;
  std::vector<std::int64_t> coords;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t d = 0; d < dimension; ++d)
      features.push_back(static_cast<float>(i * d) + static_cast<float>(slide));
    coords.push_back(i);
    coords.push_back(static_cast<std::int64_t>(slide));
  }
  sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {rows, dimension}},
           {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {rows, 2}});
}

std::uint64_t write_features(const std::string& folder, const HowToWrite& how) {
  FeatureSink sink({.folder = folder + "/out", .job = "features", .sync = how.sync});
  std::uint64_t written = 0;
  for (std::uint64_t slide = 0; slide < slides; ++slide) {
    const std::string name = "slide" + std::to_string(slide);
    if (sink.has(name)) continue;
    try {
      sink.begin(name, {{"patch_size", 256}});
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      continue;  // another one is at it, or was
    }
    put_features(sink, slide);
    sink.end();
    ++written;
  }
  return written;
}

// The lines of the list, sorted, and the rows of each slide that it has.
std::string features_in(const std::string& folder) {
  std::ifstream list(folder + "/out/metadata.csv");
  std::vector<std::string> lines;
  for (std::string line; std::getline(list, line);) {
    if (list.eof()) throw Error(Errc::corrupt, "the last line of the list is cut off");
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  if (lines.size() != slides + 1) throw Error(Errc::corrupt, std::to_string(lines.size()) + " lines in the list");
  std::string content;
  for (const std::string& line : lines) {
    content += line + "\n";
    if (line.starts_with("slide_id")) continue;
    content += content_of(Hdf5Source({.path = folder + "/out/h5_files/" + line.substr(0, line.find(',')) + ".h5"}));
  }
  return content;
}

// The values of every record, in order.
std::string batches_of(const Pipeline& pipeline) {
  std::string bytes;
  Loader loader(pipeline | ragged("image") | batch(1), {.threads = 1});
  for (Batch& batch : loader.epoch()) {
    const TensorView image = batch.ragged("image")[0], label = batch["label"];
    for (const TensorView& value : {image, label}) {
      bytes += value.shape.to_string();
      bytes.append(reinterpret_cast<const char*>(value.data), value.bytes());
    }
  }
  return bytes;
}

// How many records it made and was the one to keep.
std::uint64_t run_with_cache(const std::string& folder, const HowToWrite& how) {
  const Records source;
  LmdbCacheOptions options{.sync = how.sync};
  options.allows.unversioned = true;
  const Pipeline cached = from(source) | cache(folder + "/cache", options);
  if (batches_of(cached) != batches_of(from(Records{}))) throw std::logic_error("the batches differ");
  const Loader loader(cached | ragged("image") | batch(1), {.threads = 1});
  for (const std::string& note : loader.report().notes)
    if (note.find("another process writes") != std::string::npos) return 0;
  return std::min<std::uint64_t>(*source.reads, records);  // the loader has begun the next epoch
}

StoreJob job(std::string name, auto write, auto content) { return {std::move(name), write, content, records}; }

std::vector<StoreJob> all_jobs() {
  std::vector<StoreJob> jobs;
  jobs.push_back(job(
      "lmdb",
      [](const std::string& folder, const HowToWrite& how) {
        return write_all(LmdbSink({.path = folder + "/store", .job = "test", .sync = how.sync, .map_bytes = 100'000}),
                         how);
      },
      [](const std::string& folder) { return content_of(LmdbSource({.path = folder + "/store"})); }));
  jobs.push_back(job(
      "lmdb raw",
      [](const std::string& folder, const HowToWrite& how) {
        return write_all(LmdbSink({.path = folder + "/store.lmdb",
                                   .records = LmdbRecords::raw,
                                   .job = "test",
                                   .single_file = true,
                                   .sync = how.sync}),
                         how);
      },
      [](const std::string& folder) {
        return content_of(LmdbSource({.path = folder + "/store.lmdb", .values = LmdbValues::raw}));
      }));
  jobs.push_back(job(
      "webdataset",
      [](const std::string& folder, const HowToWrite& how) {
        return write_all(WebDatasetSink({.path = folder + "/part", .max_samples = 13, .job = "test", .sync = how.sync}),
                         how);
      },
      [](const std::string& folder) { return content_of(WebDatasetSource({.path = folder + "/part-*.tar"})); }));
  const auto hdf5 = [&](const char* name, const char* file, bool single_file) {
    jobs.push_back(job(
        name,
        [=](const std::string& folder, const HowToWrite& how) {
          return write_all(Hdf5Sink({.path = folder + file,
                                     .single_file = single_file,
                                     .keys = "key",
                                     .max_samples = 15,
                                     .job = "test",
                                     .sync = how.sync}),
                           how);
        },
        [=](const std::string& folder) { return content_of(Hdf5Source({.paths = files_of(folder, ".h5")})); }));
  };
  hdf5("hdf5", "/part", false);
  hdf5("hdf5 file", "/whole.h5", true);
  jobs.push_back(job(
      "files",
      [](const std::string& folder, const HowToWrite& how) {
        return write_all(FilesSink({.path = folder + "/out", .job = "test", .sync = how.sync}), how);
      },
      [](const std::string& folder) {
        const std::string table = folder + "/out/records.csv";
        return content_of(FilesSource({.root = folder + "/out", .labels = table})) + text_in(table);
      }));
  jobs.push_back(job("features", write_features, features_in));
  jobs.back().items = slides;
  jobs.back().shared = true;
  jobs.push_back(job("cache", run_with_cache,
                     [](const std::string& folder) { return content_of(LmdbSource({.path = folder + "/cache"})); }));
  jobs.back().cache = true;
#ifdef PENSTOCK_TEST_TILES
  jobs.push_back(tiles_job());
#endif
  return jobs;
}

}  // namespace

const std::vector<StoreJob>& store_jobs() {
  static const std::vector<StoreJob> jobs = all_jobs();
  return jobs;
}

std::vector<StoreJob> chosen_jobs() {
  std::vector<StoreJob> jobs = store_jobs();
  if (const char* const wanted = std::getenv("PENSTOCK_STORE"))
    std::erase_if(jobs, [&](const StoreJob& job) { return job.name != wanted; });
  return jobs;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

RunningChild::RunningChild(const std::function<std::string()>& act) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    ::close(ends[0]);
    std::string said;
    int code = 0;
    try {
      said = act();
    } catch (const std::exception& error) {
      said = error.what();
      code = 1;
    }
    static_cast<void>(!::write(ends[1], said.data(), std::min<std::size_t>(said.size(), 60'000)));
    ::_exit(code);
  }
  ::close(ends[1]);
  from_ = ends[0];
}

RunningChild::RunningChild(RunningChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), from_(std::exchange(other.from_, -1)) {}

RunningChild::~RunningChild() {
  if (pid_ > 0) end();
}

ChildEnd RunningChild::end() {
  ChildEnd end;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(from_, part, sizeof part)) > 0;)
    end.said.append(part, static_cast<std::size_t>(got));
  ::close(from_);
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

ChildEnd run_child(const std::function<std::string()>& act) { return RunningChild(act).end(); }

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace penstock_test
