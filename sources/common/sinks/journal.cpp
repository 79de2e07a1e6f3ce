// SPDX-License-Identifier: Apache-2.0
#include "common/sinks/journal.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/json_input.hpp"
#include "common/owned_json.hpp"

namespace penstock::common {

namespace {

using Json = nlohmann::ordered_json;  // writes members in the order in which they were added
// Finds a member in a sorted map. `Json` would search its whole list for each key.
using ReadJson = nlohmann::json;

constexpr std::string_view format_name = "penstock journal";
constexpr int format_version = 1;

std::uint64_t hash_of(const Json& json) {
  const std::string text = json.dump();
  return XXH3_64bits(text.data(), text.size());
}

// Returns the journal as JSON, without its hash. The hash is computed from the text of this JSON.
OwnedJson<Json> json_of(const Journal& journal) {
  OwnedJson<Json> document{Json::object()};
  Json& json = *document;
  // Makes room for all members. Otherwise, their list would grow: it would copy the members, and destroy the originals
  // with nlohmann's destructor, which OwnedJson avoids.
  json.get_ref<Json::object_t&>().reserve(6);
  json["format"] = format_name;
  json["version"] = format_version;
  json["made_by"] = Json::array();
  for (const JobFact& fact : journal.made_by) json["made_by"].push_back({fact.name, fact.words});
  json["committed"] = journal.committed;
  json["finishing"] = journal.finishing;
  return document;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Errc::state_mismatch, "the file that says what makes the store, and how far it is, " + why +
                                        "; delete the store, or write to another path");
}

}  // namespace

std::uint64_t Journal::number(const std::string& name) const {
  const auto found = committed.find(name);
  if (found == committed.end()) refuse("lacks the number \"" + name + "\"; it is of another kind of store");
  return found->second;
}

std::string to_json(const Journal& journal) {
  OwnedJson<Json> json = json_of(journal);
  (*json)["hash"] = hash_of(*json);
  return (*json).dump(1) + "\n";
}

Journal parse_journal(std::string_view text) {
  try {
    OwnedJson document(ReadJson::parse(text));
    ReadJson& json = *document;
    if (json.at("format") != format_name) refuse("is of an older penstock, or not its own");
    if (const auto version = whole_number<std::uint64_t>(json.at("version")); version != format_version)
      refuse("is of version " + std::to_string(version) + ", and this penstock reads version " +
             std::to_string(format_version));
    Journal journal;
    for (const ReadJson& fact : json.at("made_by"))
      journal.made_by.push_back({fact.at(0).get<std::string>(), fact.at(1).get<std::string>()});
    for (const auto& [name, number] : json.at("committed").items())
      journal.committed[name] = whole_number<std::uint64_t>(number);
    journal.finishing = json.at("finishing").get<bool>();
    const auto hash = whole_number<std::uint64_t>(json.at("hash"));
    json.erase("hash");
    const OwnedJson<Json> written = json_of(journal);
    if (hash != hash_of(*written) || json != *OwnedJson(ReadJson(*written))) refuse("is not as it was written");
    return journal;
  } catch (const ReadJson::exception& failed) {
    refuse("is damaged (" + json_cause(failed) + ")");
  } catch (const Error& failed) {
    if (failed.code() != Errc::corrupt) throw;
    refuse("is damaged (" + failed.cause() + ")");
  }
}

std::vector<JobFact> store_facts(std::vector<JobFact> of_sink, const std::string& said, const SinkJob& job) {
  std::vector<JobFact> facts = std::move(of_sink);
  for (JobFact& fact : facts) fact = {escaped(fact.name), escaped(fact.words)};
  if (!said.empty())
    facts.push_back({"job", escaped(said)});
  else
    facts.insert(facts.end(), job.made_by.begin(), job.made_by.end());
  return facts;
}

JobFact samples_fact(std::uint64_t size) {
  return {"samples", size == unknown_size ? "known at the end" : std::to_string(size)};
}

}  // namespace penstock::common
