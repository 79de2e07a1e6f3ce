// penstock inspect: what a store holds.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "contact_sheet.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "store.hpp"

namespace penstock::cli {

namespace {

struct InspectOptions {
  std::string store, values = "automatic", json;
  bool trust = true;
  SheetOptions sheet;
  bool field_given = false, quiet = false;
};

struct Spread {
  std::uint64_t least = 0, median = 0, most = 0, total = 0;
};

Spread spread_of(std::vector<std::uint64_t>& values) {
  Spread s;
  if (values.empty()) return s;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  s.median = *middle;
  s.least = *std::ranges::min_element(values);
  s.most = *std::ranges::max_element(values);
  for (const std::uint64_t v : values) s.total += v;
  return s;
}

struct Findings {
  std::vector<std::vector<std::uint64_t>> bytes;  ///< of each field
  std::map<std::int64_t, std::uint64_t> labels;
  std::map<std::string, std::uint64_t> kinds;  ///< of encoded images
  std::vector<std::uint64_t> heights, widths;  ///< of JPEGs, from their headers
  std::uint64_t unreadable = 0;
  std::string first_unreadable;
  std::string hint;  ///< what to try instead; or empty
};

Findings look(const Store& store, const InspectOptions& options) {
  const Schema schema = store.schema();
  const bool encoded = holds_encoded(schema, options.sheet.field);
  const auto label = schema.find("label");
  const bool labels = label && schema[*label].dtype == DType::i64 && schema[*label].shape.rank() == 0;
  Findings found;
  found.bytes.resize(schema.size());
  Progress progress("reading", store.size(), options.quiet || options.json == "-");
  Store::Reader reader = store.reader();
  const auto decoding = jpeg_decoder()->start();
  for (std::uint64_t i = 0; i < store.size(); ++i) {
    progress.set(i);
    try {
      Sample& sample = reader.read(i);
      for (std::size_t slot = 0; slot < schema.size(); ++slot) found.bytes[slot].push_back(sample.bytes(slot).size());
      if (labels) ++found.labels[sample.scalar<std::int64_t>("label")];
      if (!encoded) continue;
      const std::string kind = image_kind(sample.bytes(options.sheet.field));
      ++found.kinds[kind.empty() ? "unknown" : kind];
      if (kind != "jpeg") continue;
      const ImageShape shape = decoding->open(sample.bytes(options.sheet.field));
      found.heights.push_back(static_cast<std::uint64_t>(shape.height));
      found.widths.push_back(static_cast<std::uint64_t>(shape.width));
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
      if (++found.unreadable == 1) found.first_unreadable = error.what();
    }
  }
  if (found.kinds.size() == 1 && found.kinds.contains("unknown") && store.looks_like_datum())
    found.hint = "the values look like Caffe's Datum: try --values datum";
  return found;
}

std::string class_name(const Store& store, std::int64_t label) {
  const auto& names = store.classes();
  if (label < 0 || static_cast<std::uint64_t>(label) >= names.size()) return std::to_string(label);
  return names[static_cast<std::size_t>(label)];
}

Json spread_json(const Spread& s) {
  return {{"min", s.least}, {"median", s.median}, {"max", s.most}, {"total", s.total}};
}

void tell_json(const Store& store, Findings& found, const InspectOptions& options) {
  Json fields = Json::array();
  const Schema schema = store.schema();
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    const Field& f = schema[slot];
    fields.push_back({{"name", f.name},
                      {"dtype", to_string(f.dtype)},
                      {"shape", Json::array()},
                      {"bytes", spread_json(spread_of(found.bytes[slot]))}});
    for (const std::int64_t d : f.shape.dims())
      fields.back()["shape"].push_back(d == dynamic ? Json(nullptr) : Json(d));
  }
  Json classes = Json::array();
  for (const auto& [label, count] : found.labels)
    classes.push_back({{"label", label}, {"name", class_name(store, label)}, {"records", count}});
  Json kinds = Json::object();
  for (const auto& [kind, count] : found.kinds) kinds[kind] = count;
  Json json{{"store", options.store},
            {"kind", store.kind()},
            {"records", store.size()},
            {"schema", schema.to_string()},
            {"fields", fields}};
  if (store.size() != 0) json["first_key"] = store.key(0), json["last_key"] = store.key(store.size() - 1);
  json["images"] = kinds;
  if (!found.heights.empty())
    json["height"] = spread_json(spread_of(found.heights)), json["width"] = spread_json(spread_of(found.widths));
  json["classes"] = classes;
  json["unreadable"] = found.unreadable;
  if (!options.sheet.file.empty()) json["png"] = options.sheet.file;
  if (!found.hint.empty()) json["hint"] = found.hint;
  write_json(json, options.json);
}

void tell(const Store& store, Findings& found, const InspectOptions& options) {
  constexpr std::size_t most_classes = 40;
  const Schema schema = store.schema();
  std::string out = fmt::format("{} ({}): {} records of {}\n", options.store, store.kind(), with_commas(store.size()),
                                schema.to_string());
  if (store.size() != 0)
    out += fmt::format("  keys    {} ... {}\n", printable(store.key(0)), printable(store.key(store.size() - 1)));
  for (const std::string& note : store.notes()) out += fmt::format("  {}\n", printable(note));
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    const Spread s = spread_of(found.bytes[slot]);
    if (schema[slot].shape.fixed()) {
      out += fmt::format("  {}   {} each, {} in all\n", schema[slot].name, bytes_text(static_cast<double>(s.most)),
                         bytes_text(static_cast<double>(s.total)));
      continue;
    }
    out += fmt::format("  {}   {} to {}, median {}, {} in all\n", schema[slot].name,
                       bytes_text(static_cast<double>(s.least)), bytes_text(static_cast<double>(s.most)),
                       bytes_text(static_cast<double>(s.median)), bytes_text(static_cast<double>(s.total)));
  }
  for (const auto& [kind, count] : found.kinds) out += fmt::format("  kind    {}: {}\n", kind, with_commas(count));
  if (!found.hint.empty()) out += fmt::format("  {}\n", found.hint);
  if (!found.heights.empty()) {
    const Spread h = spread_of(found.heights), w = spread_of(found.widths);
    out += fmt::format("  pixels  height {} to {}, median {}; width {} to {}, median {}\n", h.least, h.most, h.median,
                       w.least, w.most, w.median);
  }
  std::uint64_t most = 1;
  for (const auto& [label, count] : found.labels) most = std::max(most, count);
  std::size_t shown = 0;
  for (const auto& [label, count] : found.labels) {
    if (shown++ == most_classes) {
      out += fmt::format("  ... and {} classes more\n", found.labels.size() - most_classes);
      break;
    }
    out += fmt::format("  class {:>4}  {:<20} {:>9}  {}\n", label, printable(class_name(store, label)),
                       with_commas(count), std::string(static_cast<std::size_t>((count * 30 + most - 1) / most), '#'));
  }
  if (found.unreadable != 0)
    out += fmt::format("  {} records can't be read, the first: {}\n  penstock verify lists them\n",
                       with_commas(found.unreadable), printable(found.first_unreadable));
  if (!options.sheet.file.empty()) out += fmt::format("  contact sheet: {}\n", options.sheet.file);
  print(out);
}

int inspect(const InspectOptions& options) {
  const Store store(options.store, {.checksums = false, .values = options.values, .trust = options.trust});
  if (options.field_given) require_field(store.schema(), options.sheet.field);
  if (!options.sheet.file.empty()) draw_contact_sheet(store, options.sheet);
  Findings found = look(store, options);
  if (options.json != "-") tell(store, found, options);
  if (!options.json.empty()) tell_json(store, found, options);
  return exit_ok;
}

}  // namespace

void add_inspect(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App& command = *app.add_subcommand(
      "inspect", "Shows what a store holds: fields, records, sizes, classes; as a picture with --png.");
  command.add_option("STORE", options->store, "LMDB store, folder of images, tar shards, HDF5, or CSV")->required();
  command.add_option("--png", options->sheet.file,
                     "Write a contact sheet: samples in the store's order, with a bar in their class's colour");
  command.add_option("--count", options->sheet.count, "Samples on the sheet, spread evenly")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cell", options->sheet.cell, "Pixels a side each of them gets")
      ->check(CLI::Range(16, 512))
      ->capture_default_str();
  const CLI::Option& field =
      *command.add_option("--field", options->sheet.field, "Field with the image")->capture_default_str();
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_untrusted_option(command, options->trust);
  add_json_option(command, options->json);
  command.add_flag("--quiet,-q", options->quiet, "No progress");
  command.callback([options, &field, &chosen] {
    options->field_given = field.count() != 0;
    chosen = [options] { return inspect(*options); };
  });
}

}  // namespace penstock::cli
