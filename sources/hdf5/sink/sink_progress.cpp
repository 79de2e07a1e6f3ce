#include "sink/sink_progress.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::hdf5 {

namespace {

using Json = nlohmann::ordered_json;  // written as it is read by people
// Whatever it says is found in a sorted map: the other is a list, gone through for each key.
using ReadJson = nlohmann::json;

constexpr std::string_view format_name = "penstock hdf5";
constexpr int format_version = 1;

Json json_of(const SinkJob& job) {
  Json json;
  json["format"] = format_name;
  json["version"] = format_version;
  json["fields"] = job.fields;
  json["datasets"] = job.datasets;
  json["classes"] = job.classes;
  json["job"] = job.job;
  json["samples"] = job.samples;
  json["max_samples"] = job.max_samples;
  json["max_bytes"] = job.max_bytes;
  return json;
}

SinkJob job_of(const ReadJson& json) {
  if (json.at("format") != format_name || json.at("version") != format_version)
    throw Error(Errc::state_mismatch,
                "the file that marks the unfinished store is of another version of penstock, or not its own");
  SinkJob job;
  job.fields = json.at("fields").get<std::string>();
  job.datasets = json.at("datasets").get<std::string>();
  job.classes = json.at("classes").get<std::string>();
  job.job = json.at("job").get<std::string>();
  job.samples = json.at("samples").get<std::uint64_t>();
  job.max_samples = json.at("max_samples").get<std::uint64_t>();
  job.max_bytes = json.at("max_bytes").get<std::uint64_t>();
  return job;
}

std::uint64_t hash_of(const Json& json) {
  const std::string text = json.dump();
  return XXH3_64bits(text.data(), text.size());
}

// All but the hash.
Json json_of(const SinkProgress& progress) {
  Json json = json_of(progress.job);
  json["committed"] = {{"samples", progress.samples},           {"shard", progress.shard},
                       {"shard_bytes", progress.shard_bytes},   {"shard_rows", progress.shard_rows},
                       {"shard_values", progress.shard_values}, {"rows_file", progress.rows_file}};
  json["finishing"] = progress.finishing;
  return json;
}

}  // namespace

std::string to_json(const SinkJob& job) { return json_of(job).dump(); }

SinkJob parse_job(std::string_view text) {
  try {
    return job_of(ReadJson::parse(text));
  } catch (const std::exception&) {
    return {};
  }
}

std::string to_json(const SinkProgress& progress) {
  Json json = json_of(progress);
  json["hash"] = hash_of(json);
  return json.dump(1) + "\n";
}

SinkProgress parse_progress(std::string_view text) {
  try {
    ReadJson json = ReadJson::parse(text);
    SinkProgress progress;
    progress.job = job_of(json);
    const auto hash = json.at("hash").get<std::uint64_t>();
    const ReadJson& committed = json.at("committed");
    progress.samples = committed.at("samples").get<std::uint64_t>();
    progress.shard = committed.at("shard").get<std::uint64_t>();
    progress.shard_bytes = committed.at("shard_bytes").get<std::uint64_t>();
    progress.shard_rows = committed.at("shard_rows").get<std::uint64_t>();
    progress.shard_values = committed.at("shard_values").get<std::uint64_t>();
    progress.rows_file = committed.at("rows_file").get<unsigned>();
    progress.finishing = json.at("finishing").get<bool>();
    json.erase("hash");
    const Json written = json_of(progress);
    if (hash != hash_of(written) || json != ReadJson(written))
      throw Error(
          Errc::state_mismatch,
          "the file that marks the unfinished store is not as it was written; delete it and the files beside it");
    return progress;
  } catch (const ReadJson::exception& failed) {
    throw Error(Errc::state_mismatch, "the file that marks the unfinished store is damaged (" +
                                          printable(failed.what(), 300) + "); delete it and the files beside it");
  }
}

std::string difference(const SinkJob& there, const SinkJob& wanted) {
  if (there.fields != wanted.fields) return "its fields are " + there.fields;
  if (there.datasets != wanted.datasets) return "its datasets are " + there.datasets;
  if (there.classes != wanted.classes) return "its classes are " + there.classes;
  if (there.samples == unknown_size && there.samples != wanted.samples)
    return "how many samples it is to have was not known";
  if (there.samples != wanted.samples) return "it is to have " + std::to_string(there.samples) + " samples";
  if (there.max_samples != wanted.max_samples || there.max_bytes != wanted.max_bytes)
    return "its files have at most " + std::to_string(there.max_samples) + " samples and " +
           std::to_string(there.max_bytes) + " bytes";
  if (there.job != wanted.job) return "it is of another job, \"" + there.job + "\"";
  return {};
}

}  // namespace penstock::hdf5
