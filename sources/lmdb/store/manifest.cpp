// SPDX-License-Identifier: Apache-2.0
#include "store/manifest.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/json_input.hpp"
#include "common/owned_json.hpp"

namespace penstock::lmdb {

namespace {

using Json = nlohmann::ordered_json;  // members are written in the order in which people read them
// This type finds a member in a sorted map. `Json` would search its whole list for each key.
using ReadJson = nlohmann::json;

constexpr std::string_view format_name = "penstock records";
constexpr int format_version = 1;
constexpr std::size_t max_fields = 1024;

constexpr std::array all_dtypes{DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32,     DType::i32, DType::u64,
                                DType::i64, DType::f16, DType::f32, DType::f64, DType::boolean, DType::bf16};
constexpr std::array<std::pair<Collate::Kind, std::string_view>, 3> collate_names{
    {{Collate::Kind::dense, "dense"}, {Collate::Kind::ragged, "ragged"}, {Collate::Kind::pad, "pad"}}};

// JSON is UTF-8, but a class may have the name of a folder, which may have any bytes. A text that isn't UTF-8 becomes a
// list of its bytes.
Json text_to_json(const std::string& text) {
  Json json = text;
  try {
    static_cast<void>(json.dump());
    return json;
  } catch (const Json::type_error&) {
    Json bytes = Json::array();
    for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
    return bytes;
  }
}

std::string text_from_json(const ReadJson& json) {
  if (json.is_string()) return json.get<std::string>();
  std::string text;
  for (const ReadJson& byte : json) {
    const auto value = common::whole_number<std::uint64_t>(byte);
    if (!byte.is_number_unsigned() || value > 255)
      throw Error(Errc::corrupt, "a name in the manifest is not made of bytes");
    text += static_cast<char>(value);
  }
  return text;
}

Json to_json(const Field& field) {
  Json json = Json::object();
  json.get_ref<Json::object_t&>().reserve(7);
  json["name"] = text_to_json(field.name);
  json["dtype"] = to_string(field.dtype);
  json["shape"] = std::vector<std::int64_t>(field.shape.dims().begin(), field.shape.dims().end());
  if (field.collate != Collate::dense()) {
    for (const auto& [kind, name] : collate_names)
      if (kind == field.collate.kind) json["collate"] = name;
    json["to"] = field.collate.to;
    if (std::isfinite(field.collate.value)) json["value"] = field.collate.value;
  }
  if (!field.classes.empty()) json["classes"] = Json::array();
  for (const std::string& name : field.classes) json["classes"].push_back(text_to_json(name));
  return json;
}

template <class Names, class Value>
auto named(const Names& names, const std::string& wanted, const Value& name_of) {
  for (const auto& candidate : names)
    if (name_of(candidate) == wanted) return candidate;
  throw Error(Errc::unsupported,
              "the manifest names \"" + printable(wanted, 60) + "\", which this version does not know");
}

Field field_from(const ReadJson& json) {
  Field field;
  field.name = text_from_json(json.at("name"));
  field.dtype = named(all_dtypes, json.at("dtype").get<std::string>(), [](DType d) { return to_string(d); });
  std::vector<std::int64_t> dims;
  for (const ReadJson& dim : json.at("shape")) dims.push_back(common::whole_number<std::int64_t>(dim));
  field.shape = Shape(std::span<const std::int64_t>(dims));
  if (json.contains("collate")) {
    field.collate.kind =
        named(collate_names, json.at("collate").get<std::string>(), [](const auto& n) { return n.second; }).first;
    field.collate.to = common::whole_number<std::int64_t>(json.at("to"));
    field.collate.value = json.value("value", 0.0);
  }
  if (json.contains("classes")) {
    std::vector<std::string> names;
    for (const ReadJson& name : json.at("classes")) names.push_back(text_from_json(name));
    field.classes = std::move(names);
  }
  // Sizes in bytes are products of these numbers. A product that overflows must be refused here.
  std::uint64_t known = size_of(field.dtype);
  for (const std::int64_t dim : dims)
    if (dim != dynamic && __builtin_mul_overflow(known, static_cast<std::uint64_t>(dim), &known))
      throw Error(Errc::corrupt, "a shape in the manifest is too large");
  return field;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  common::OwnedJson<Json> document{Json::object()};
  Json& json = *document;
  // Makes room for all members. Otherwise the list would grow, copy its members, and destroy the originals with
  // nlohmann's destructor. That destructor ends the process if there is no memory (see OwnedJson).
  json.get_ref<Json::object_t&>().reserve(9);
  json["format"] = format_name;
  json["version"] = format_version;
  json["complete"] = manifest.complete;
  json["count"] = manifest.count;
  json["records"] = manifest.records;
  json["keys"] = manifest.keys;
  json["made_by"] = Json::array();
  for (const JobFact& fact : manifest.made_by) json["made_by"].push_back({fact.name, fact.words});
  if (manifest.updating) json["updating"] = true;
  json["schema"] = Json::array();
  for (const Field& field : manifest.schema) json["schema"].push_back(to_json(field));
  return json.dump();
}

Manifest parse_manifest(std::string_view text) {
  try {
    const common::OwnedJson document(ReadJson::parse(text));
    const ReadJson& json = *document;
    if (json.at("format") != format_name) throw Error(Errc::corrupt, "the manifest is not penstock's");
    const auto version = common::whole_number<std::int64_t>(json.at("version"));
    if (version != format_version)
      throw Error(Errc::unsupported, "the store is of format version " + std::to_string(version) +
                                         "; this penstock reads version " + std::to_string(format_version) +
                                         "; read it with the penstock that wrote it, or make it again");
    Manifest manifest;
    manifest.complete = json.at("complete").get<bool>();
    manifest.count = common::whole_number<std::uint64_t>(json.at("count"));
    manifest.records = json.at("records").get<std::string>();
    manifest.keys = json.at("keys").get<std::string>();
    // A store whose manifest lacks "made_by" can be read, but not continued.
    if (json.contains("made_by"))
      for (const ReadJson& fact : json.at("made_by"))
        manifest.made_by.push_back({fact.at(0).get<std::string>(), fact.at(1).get<std::string>()});
    manifest.updating = json.value("updating", false);
    const ReadJson& schema = json.at("schema");
    if (!schema.is_array() || schema.size() > max_fields)
      throw Error(Errc::corrupt, "the manifest lists no fields, or too many");
    std::vector<Field> fields;
    for (const ReadJson& field : schema) fields.push_back(field_from(field));
    manifest.schema = Schema(std::move(fields));
    return manifest;
  } catch (const ReadJson::exception& failed) {
    throw Error(Errc::corrupt, "the manifest is damaged: " + common::json_cause(failed));
  } catch (const Error& failed) {
    if (failed.code() == Errc::unsupported || failed.code() == Errc::corrupt) throw;
    throw Error(Errc::corrupt, "the manifest is damaged: " + failed.cause());
  }
}

}  // namespace penstock::lmdb
