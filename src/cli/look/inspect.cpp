// SPDX-License-Identifier: Apache-2.0
// penstock inspect: shows what a store has in it.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/extend/system_error.hpp>
#include <penstock/sources/slide_picture.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "console/tool_words.hpp"
#include "look/contact_sheet.hpp"
#include "look/store_findings.hpp"
#include "slides/slide_flags.hpp"
#include "slides/slide_pictures.hpp"
#include "slides/slide_text.hpp"
#include "stores/input_path.hpp"
#include "stores/input_store.hpp"
#include "stores/remote_flags.hpp"

namespace penstock::cli {

namespace {

struct InspectOptions {
  InputPath store;
  RemoteFlags remote;
  std::string key, values = "automatic", json;
  bool isolate = false;
  FileAccess access = FileAccess::map;
  SheetOptions sheet;
  std::vector<std::string> fields;
  bool field_given = false, quiet = false, all = false;
  bool sheet_given = false;  ///< --count or --cell was given, so --png draws a contact sheet even of slides
  SlideFlags slides;
  std::int32_t picture_side = SlidePictureOptions().side;
};

// What --png made.
struct Drawn {
  std::optional<Sheet> sheet;
  std::optional<SlidePictures> slides;
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

std::string class_name(const ClassNames& names, std::int64_t label) {
  if (label < 0 || static_cast<std::uint64_t>(label) >= names.size()) return std::to_string(label);
  return names[static_cast<std::size_t>(label)];
}

ClassNames names_of_labels(const Schema& schema) {
  const auto slot = schema.find("label");
  return slot ? schema[*slot].classes : ClassNames();
}

// Returns a hint if it is not certain what the store's values are; otherwise an empty text.
std::string hint_of(const InputStore& store) {
  if (!store.guess().empty()) return store.guess();
  return store.values_unknown() ? "the values are neither images nor Caffe's Datums; the other commands want --values"
                                : std::string();
}

std::uint64_t turned(const Findings& found) {
  std::uint64_t count = 0;
  for (const auto& [orientation, images] : found.orientations) count += images;
  return count;
}

std::string turned_text(const Findings& found) {
  if (found.orientations.empty()) return "";
  std::string list;
  for (const auto& [orientation, images] : found.orientations)
    list += fmt::format("{}{} of {}", list.empty() ? "" : ", ", with_commas(images), orientation);
  return fmt::format(
      "  turned  {} to be turned or mirrored, as {} Exif data {} (orientation: {});\n"
      "          decoders leave them as stored, unless `apply_orientation` says otherwise\n",
      counted(turned(found), "JPEG") + (turned(found) == 1 ? " is" : " are"), turned(found) == 1 ? "its" : "their",
      "say", list);
}

// Returns the size of a field's values in all records, as text. If only some records were looked at, the size is
// estimated from these.
std::string total_text(const Spread& s, std::uint64_t measured, std::uint64_t looked_at, std::uint64_t records) {
  if (looked_at == records || measured == 0) return bytes_text(static_cast<double>(s.total)) + " in all";
  return "about " +
         bytes_text(static_cast<double>(s.total) / static_cast<double>(measured) * static_cast<double>(records)) +
         " in all";
}

Json spread_json(const Spread& s) {
  return {{"min", s.least}, {"median", s.median}, {"max", s.most}, {"total", s.total}};
}

void tell_json(const InputStore& store, Findings& found, const Drawn& drawn, const InspectOptions& options) {
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
    if (!f.classes.empty()) fields.back()["classes"] = f.classes.names();
  }
  Json classes = Json::array();
  const ClassNames names = names_of_labels(schema);
  for (const auto& [label, count] : found.labels)
    classes.push_back({{"label", label}, {"name", class_name(names, label)}, {"records", count}});
  Json kinds = Json::object();
  for (const auto& [kind, count] : found.kinds) kinds[kind] = count;
  Json json{{"store", options.store.shown()}, {"kind", store.kind()},         {"records", store.size()},
            {"looked_at", found.looked_at},   {"schema", schema.to_string()}, {"fields", fields}};
  if (store.size() != 0)
    json["first_key"] = readable_key(store, 0), json["last_key"] = readable_key(store, store.size() - 1);
  json["images"] = kinds;
  if (!found.heights.empty())
    json["height"] = spread_json(spread_of(found.heights)), json["width"] = spread_json(spread_of(found.widths));
  json["turned"] = turned(found);
  json["orientations"] = Json::object();
  for (const auto& [orientation, images] : found.orientations)
    json["orientations"][std::to_string(orientation)] = images;
  json["classes"] = classes;
  json["empty_classes"] = store.empty_classes();
  json["passed_over"] = store.passed_over();
  json["unreadable"] = found.unreadable;
  if (const std::vector<std::string> files = store.other_files(); !files.empty()) json["other_files"] = files;
  if (const std::vector<std::string> faults = store.faults(); !faults.empty()) json["faults"] = faults;
  if (drawn.sheet) {
    json["png"] = options.sheet.file;
    json["not_drawn"] = drawn.sheet->bad;
    if (drawn.sheet->bad != 0) json["first_not_drawn"] = drawn.sheet->first_bad;
  }
  if (drawn.slides) add_pictures(json, *drawn.slides);
  if (const SlideSource* const slides = store.slides(); slides != nullptr) {
    json["slides"] = Json::array();
    for (const SlideInfo& slide : slides->slides()) json["slides"].push_back(slide_json(slide));
  }
  if (*store.values() != '\0') json["values"] = store.values();
  if (const std::string hint = hint_of(store); !hint.empty()) json["hint"] = hint;
  write_json(json, options.json);
}

std::string store_text(const InputStore& store, const Findings& found, const InspectOptions& options) {
  std::string out = fmt::format("{} ({}): {} of {}\n", options.store.shown(), store.kind(),
                                counted(store.size(), "record"), store.schema().to_string());
  if (store.size() != 0)
    out += fmt::format("  keys    {} ... {}\n", printable_key(readable_key(store, 0)),
                       printable_key(readable_key(store, store.size() - 1)));
  if (found.looked_at < store.size())
    out += fmt::format("  below   {} records, spread evenly; --all looks at every one\n", with_commas(found.looked_at));
  if (store.values_unknown()) out += fmt::format("  {}\n", hint_of(store));
  for (const std::string& note : store.notes())
    out += fmt::format("  {}\n", printable(in_tool_words(note, store.kind())));
  if (!options.slides.first_given().empty())
    for (const std::string& line : store.slides()->left_out())
      out += fmt::format("  {}\n", printable(in_tool_words(line, store.kind())));
  for (const std::string& line : store.passed_over()) out += fmt::format("  {}\n", printable(line));
  return out;
}

std::string fields_text(const Schema& schema, Findings& found, std::uint64_t records) {
  std::string out;
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    const Spread s = spread_of(found.bytes[slot]);
    const std::string total = total_text(s, found.bytes[slot].size(), found.looked_at, records);
    if (schema[slot].shape.fixed()) {
      out += fmt::format("  {}   {} each, {}\n", schema[slot].name, bytes_text(static_cast<double>(s.most)), total);
      continue;
    }
    out += fmt::format("  {}   {} to {}, median {}, {}\n", schema[slot].name, bytes_text(static_cast<double>(s.least)),
                       bytes_text(static_cast<double>(s.most)), bytes_text(static_cast<double>(s.median)), total);
  }
  return out;
}

std::string images_text(Findings& found) {
  std::string out;
  for (const auto& [kind, count] : found.kinds) out += fmt::format("  kind    {}: {}\n", kind, with_commas(count));
  if (!found.heights.empty()) {
    const Spread h = spread_of(found.heights), w = spread_of(found.widths);
    out += fmt::format("  pixels  height {} to {}, median {}; width {} to {}, median {}\n", h.least, h.most, h.median,
                       w.least, w.most, w.median);
  }
  return out + turned_text(found);
}

std::string classes_text(const Schema& schema, const Findings& found) {
  constexpr std::size_t max_classes = 40;
  std::string out;
  for (const Field& field : schema)
    if (!field.classes.empty() && field.name != "label")
      out += fmt::format("  {}   stands for {}\n", field.name, field.classes.to_string());
  const ClassNames names = names_of_labels(schema);
  std::uint64_t most = 1;
  for (const auto& [label, count] : found.labels) most = std::max(most, count);
  std::size_t shown = 0;
  for (const auto& [label, count] : found.labels) {
    if (shown++ == max_classes) {
      out += fmt::format("  ... and {} classes more\n", found.labels.size() - max_classes);
      break;
    }
    out += fmt::format("  class {:>4}  {:<20} {:>9}  {}\n", label, printable(class_name(names, label)),
                       with_commas(count), std::string(static_cast<std::size_t>((count * 30 + most - 1) / most), '#'));
  }
  return out;
}

std::string empty_classes_text(const InputStore& store) {
  constexpr std::size_t max_listed = 10;
  const std::vector<std::string> names = store.empty_classes();
  if (names.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(max_listed, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + printable(in_list(names[i]));
  if (names.size() > max_listed) text += fmt::format(" and {} more", names.size() - max_listed);
  return fmt::format("  {} without a file: {}\n",
                     names.size() == 1 ? "1 class" : fmt::format("{} classes", names.size()), text);
}

std::string unreadable_text(const Findings& found) {
  if (found.unreadable == 0) return "";
  return fmt::format("  {} can't be read{}: {}\n  penstock verify lists all\n", counted(found.unreadable, "record"),
                     found.unreadable == 1 ? "" : ", the first", printable(found.first_unreadable));
}

std::string drawn_text(const Drawn& drawn, const InspectOptions& options) {
  std::string out;
  if (drawn.sheet) {
    const Sheet& sheet = *drawn.sheet;
    out += fmt::format("  contact sheet: {}", options.sheet.file);
    if (sheet.bad != 0)
      out += fmt::format("; {} of {} could not be drawn{}: {}", sheet.bad, counted(sheet.samples, "sample"),
                         sheet.bad == 1 ? "" : ", the first", sheet.first_bad);
    out += "\n";
  }
  if (drawn.slides)
    for (const std::string& line : picture_lines(*drawn.slides)) out += fmt::format("  {}\n", line);
  return out;
}

void tell(const InputStore& store, Findings& found, const Drawn& drawn, const InspectOptions& options) {
  const Schema schema = store.schema();
  print(store_text(store, found, options) + fields_text(schema, found, store.size()) + images_text(found) +
        classes_text(schema, found) + empty_classes_text(store) + unreadable_text(found) + drawn_text(drawn, options));
}

void require_picture(const Schema& schema, const std::string& field) {
  if (!schema.find(field))
    throw UsageError("--png: there is no field \"" + field + "\"; say with --field which of " + schema.to_string() +
                     " has the picture");
}

// Draws each slide into the folder that --png names. For a single slide, --png may name the picture itself.
SlidePictures draw_slides(const SlideSource& source, const InspectOptions& options) {
  const std::string& png = options.sheet.file;
  const bool folder = png.ends_with('/') || std::filesystem::is_directory(png);
  if (!folder && source.slides().size() > 1)
    throw UsageError(
        fmt::format("--png: there are {} slides, and each becomes a picture; name a folder, with / at its end",
                    source.slides().size()));
  const std::string below = png.substr(0, png.find_last_not_of('/') + 1);
  return draw_pictures(source,
                       {.file_of = [&](const SlideInfo& slide) { return folder ? picture_in(below, slide.name) : png; },
                        .side = options.picture_side,
                        .quiet = options.quiet || options.json == "-"});
}

int inspect(const InspectOptions& options) {
  const InputStore store(options.store, {.checksums = false,
                                         .values = options.values,
                                         .isolate = options.isolate,
                                         .isolate_option = options.isolate ? "--isolate" : "",
                                         .access = options.access,
                                         .key = options.key,
                                         .fields = options.fields,
                                         .remote = &options.remote,
                                         .slides = &options.slides});
  if (options.field_given) require_field(store.schema(), options.sheet.field);
  Drawn drawn;
  if (!options.sheet.file.empty()) {
    if (store.slides() != nullptr && !options.sheet_given) {
      drawn.slides = draw_slides(*store.slides(), options);
    } else {
      if (!options.field_given) require_picture(store.schema(), options.sheet.field);
      drawn.sheet = draw_contact_sheet(store, options.sheet);
    }
  }
  Findings found = look_at_records(
      store, {.image_field = options.sheet.field, .all = options.all, .quiet = options.quiet || options.json == "-"});
  store.require_unchanged();
  if (options.json != "-") tell(store, found, drawn, options);
  if (!options.json.empty()) tell_json(store, found, drawn, options);
  return found.unreadable == 0 && store.faults().empty() ? exit_ok : exit_bad_records;
}

}  // namespace

void add_inspect(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App& command = *app.add_subcommand(
      "inspect", "Shows what a store holds: fields, records, sizes, classes; as a picture with --png.");
  add_store_argument(command, options->store).required();
  CLI::Option* const png =
      command.add_option("--png", options->sheet.file,
                         "Write a contact sheet: samples in the store's order, with a bar in their class's colour; of "
                         "slides a picture of each,\nwith its tiles, in a folder where there are several, unless "
                         "--count or --cell asks for a sheet");
  CLI::Option* const count = command.add_option("--count", options->sheet.count, "Samples on the sheet, spread evenly");
  count->check(CLI::Range(1, 1024))->needs(png)->capture_default_str();
  CLI::Option* const cell = command.add_option("--cell", options->sheet.cell, "Pixels a side each of them gets");
  cell->check(CLI::Range(16, 512))->needs(png)->capture_default_str();
  add_picture_side_option(command, options->picture_side).needs(png);
  const CLI::Option& field =
      *command.add_option("--field", options->sheet.field, "Field with the image")->capture_default_str();
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  command.add_flag("--all", options->all, "Look at every record; without it at some 10,000 of more, spread evenly");
  add_access_option(command, options->access);
  add_key_option(command, options->key);
  add_fields_option(command, options->fields);
  add_isolate_option(command, options->isolate);
  add_json_option(command, options->json);
  command.add_flag("--quiet,-q", options->quiet, "No progress");
  add_remote_options(command, options->remote);
  add_slide_options(command, options->slides,
                    "Slides are cut as `tile` would, with any of these; else into their own tiles");
  add_index_option(command, options->slides,
                   "Slides are cut as `tile` would, with any of these; else into their own tiles");
  command.callback([options, &field, count, cell, &chosen] {
    options->field_given = field.count() != 0;
    options->sheet_given = count->count() + cell->count() != 0;
    chosen = [options] { return inspect(*options); };
  });
}

}  // namespace penstock::cli
