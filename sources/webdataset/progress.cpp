#include "progress.hpp"

#include <nlohmann/json.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::webdataset {

namespace {

using Json = nlohmann::ordered_json;  // written as it is read by people
// Whatever it says is found in a sorted map: the other is a list, gone through for each key.
using ReadJson = nlohmann::json;

constexpr std::string_view format_name = "penstock shards";
constexpr int format_version = 2;

}  // namespace

std::string to_json(const Progress& progress) {
  Json json;
  json["format"] = format_name;
  json["version"] = format_version;
  json["fields"] = progress.job.fields;
  json["extensions"] = progress.job.extensions;
  json["keys"] = progress.job.keys;
  json["job"] = progress.job.job;
  json["classes"] = progress.job.classes;
  json["samples"] = progress.job.samples;
  json["max_samples"] = progress.job.max_samples;
  json["max_bytes"] = progress.job.max_bytes;
  json["committed"] = {{"samples", progress.samples}, {"shard", progress.shard}, {"shard_bytes", progress.shard_bytes}};
  json["finishing"] = progress.finishing;
  return json.dump(1) + "\n";
}

Progress parse_progress(std::string_view text) {
  try {
    const ReadJson json = ReadJson::parse(text);
    if (json.at("format") != format_name || json.at("version") != format_version)
      throw Error(Errc::state_mismatch,
                  "the file that marks the unfinished shards is of another version of penstock, or not its own");
    Progress progress;
    progress.job.fields = json.at("fields").get<std::string>();
    progress.job.extensions = json.at("extensions").get<std::string>();
    progress.job.keys = json.at("keys").get<std::string>();
    progress.job.job = json.at("job").get<std::string>();
    progress.job.classes = json.at("classes").get<std::string>();
    progress.job.samples = json.at("samples").get<std::uint64_t>();
    progress.job.max_samples = json.at("max_samples").get<std::uint64_t>();
    progress.job.max_bytes = json.at("max_bytes").get<std::uint64_t>();
    const ReadJson& committed = json.at("committed");
    progress.samples = committed.at("samples").get<std::uint64_t>();
    progress.shard = committed.at("shard").get<std::uint64_t>();
    progress.shard_bytes = committed.at("shard_bytes").get<std::uint64_t>();
    progress.finishing = json.at("finishing").get<bool>();
    return progress;
  } catch (const ReadJson::exception& failed) {
    throw Error(Errc::state_mismatch, "the file that marks the unfinished shards is damaged (" +
                                          printable(failed.what(), 300) + "); delete it and the shards beside it");
  }
}

std::string difference(const SinkJob& there, const SinkJob& wanted) {
  if (there.fields != wanted.fields) return "its fields are " + there.fields;
  if (there.extensions != wanted.extensions) return "its extensions are " + there.extensions;
  if (there.keys != wanted.keys) return "its keys are \"" + there.keys + "\"";
  if (there.samples == unknown_size && there.samples != wanted.samples)
    return "how many samples it is to have was not known";
  if (there.samples != wanted.samples) return "it is to have " + std::to_string(there.samples) + " samples";
  if (there.max_samples != wanted.max_samples || there.max_bytes != wanted.max_bytes)
    return "its shards have at most " + std::to_string(there.max_samples) + " samples and " +
           std::to_string(there.max_bytes) + " bytes";
  if (there.classes != wanted.classes) return "its classes are others";
  if (there.job != wanted.job) return "it is of another job, \"" + there.job + "\"";
  return {};
}

}  // namespace penstock::webdataset
