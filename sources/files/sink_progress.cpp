#include "sink_progress.hpp"

#include <nlohmann/json.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::files {

namespace {

using Json = nlohmann::ordered_json;  // written as it is read by people
// Whatever it says is found in a sorted map: the other is a list, gone through for each key.
using ReadJson = nlohmann::json;

constexpr std::string_view format_name = "penstock files";
constexpr int format_version = 1;

}  // namespace

std::string to_json(const SinkProgress& progress) {
  Json json;
  json["format"] = format_name;
  json["version"] = format_version;
  json["fields"] = progress.job.fields;
  json["field"] = progress.job.field;
  json["keys"] = progress.job.keys;
  json["classes"] = progress.job.classes;
  json["job"] = progress.job.job;
  json["samples"] = progress.job.samples;
  json["committed"] = {{"samples", progress.samples}, {"table_bytes", progress.table_bytes}};
  json["finishing"] = progress.finishing;
  return json.dump(1) + "\n";
}

SinkProgress parse_progress(std::string_view text) {
  try {
    const ReadJson json = ReadJson::parse(text);
    if (json.at("format") != format_name || json.at("version") != format_version)
      throw Error(Errc::state_mismatch,
                  "the file that marks the unfinished folder is of another version of penstock, or not its own");
    SinkProgress progress;
    progress.job.fields = json.at("fields").get<std::string>();
    progress.job.field = json.at("field").get<std::string>();
    progress.job.keys = json.at("keys").get<std::string>();
    progress.job.classes = json.at("classes").get<std::string>();
    progress.job.job = json.at("job").get<std::string>();
    progress.job.samples = json.at("samples").get<std::uint64_t>();
    const ReadJson& committed = json.at("committed");
    progress.samples = committed.at("samples").get<std::uint64_t>();
    progress.table_bytes = committed.at("table_bytes").get<std::uint64_t>();
    progress.finishing = json.at("finishing").get<bool>();
    return progress;
  } catch (const ReadJson::exception& failed) {
    throw Error(Errc::state_mismatch, "the file that marks the unfinished folder is damaged (" +
                                          printable(failed.what(), 300) + "); delete the folder");
  }
}

std::string difference(const SinkJob& there, const SinkJob& wanted) {
  if (there.fields != wanted.fields) return "its fields are " + there.fields;
  if (there.field != wanted.field) return "its files are the field \"" + there.field + "\"";
  if (there.keys != wanted.keys) return "its keys are \"" + there.keys + "\"";
  if (there.samples == unknown_size && there.samples != wanted.samples)
    return "how many samples it is to have was not known";
  if (there.samples != wanted.samples) return "it is to have " + std::to_string(there.samples) + " samples";
  if (there.classes != wanted.classes) return "its classes are others";
  if (there.job != wanted.job) return "it is of another job, \"" + there.job + "\"";
  return {};
}

}  // namespace penstock::files
