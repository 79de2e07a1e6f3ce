// SPDX-License-Identifier: Apache-2.0
// penstock convert: one store becomes another, of another kind or with rewritten images.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/write.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "stores/class_list.hpp"
#include "stores/input_path.hpp"
#include "stores/input_store.hpp"
#include "stores/output_store.hpp"
#include "stores/remote_flags.hpp"
#include "stores/rewrite_jpegs.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

namespace {

struct ConvertFlags {
  InputPath store;
  RemoteFlags remote;
  std::string key, values = "automatic", on_error, keys = "records", classes;
  std::vector<std::string> fields;
  bool isolate = false;
  FileAccess access = FileAccess::map;
  OutFlags out;
  WriteFlags writing;
};

struct ConvertResult {
  StoreResult stored;
  RewriteCounts rewrites;
  std::string name;  ///< name of the new store
  bool order_kept = true;
  std::vector<std::string> notes;  ///< how the old store was read, and what of it the new store lacks
};

// Returns a name for the dataset of keys. The name differs from the names of all fields and their groups.
std::string free_name(const Schema& schema) {
  std::string name = "key";
  const auto taken = [&](const Field& field) { return field.name == name || field.name.starts_with(name + "/"); };
  while (std::ranges::any_of(schema, taken)) name += "_";
  return name;
}

OutputStore store_for(const ConvertFlags& options, const InputStore& store) {
  OutputStore made{.to = destination_of(options.out), .out = options.out};
  made.number_keys = options.keys == "position";
  if (store.has_keys() && !made.number_keys) made.key_field = free_name(store.schema());
  made.checksums = store.checksums();
  return made;
}

ConvertResult convert_store(const ConvertFlags& options, const InputStore& store, OutputStore to) {
  const RewriteJpegs rewrite;
  const ClassNames classes = read_classes(options.classes, options.isolate);
  Pipeline records = store.pipeline(classes);
  const bool named = !classes.empty() && store.schema().at(store.class_field()).classes.empty();
  if (options.writing.seekable) records = records | rewrite;
  if (options.on_error == "drop") records = records | on_error({.policy = OnError::drop});
  ConvertResult converted;
  converted.stored = write_store("converting", records, store.size(), to, options.writing);
  converted.rewrites = rewrite.counts();
  converted.name = to.to.name();
  if (!store.guess().empty()) converted.notes.push_back(store.guess());
  if (named)
    converted.notes.push_back(fmt::format("named: the numbers of {}, which had no names, are taken for those of the {}",
                                          store.class_field(), classes.to_string()));
  for (std::string& line : store.left_out()) converted.notes.push_back(std::move(line));
  std::function<std::string(std::uint64_t)> key;
  if (store.has_keys()) key = [&](std::uint64_t i) { return store.key(i); };
  for (std::string& line : lost_in(to, store.schema(), store.size(), key, store.checksums()))
    converted.notes.push_back(std::move(line));
  const std::string order = lost_order(to, store.size(), key);
  converted.order_kept = order.empty();
  if (!order.empty()) converted.notes.push_back(order + "; --keys position keeps it, with numbers as keys");
  return converted;
}

void tell(const ConvertFlags& options, const ConvertResult& converted) {
  const WriteProgress& p = converted.stored.written.progress;
  if (!options.writing.json.empty()) {
    Json result{{"from", options.store.shown()},
                {"store", converted.name},
                {"finished", converted.stored.written.signal == 0},
                {"was_finished", converted.stored.was_finished}};
    add_written(result, converted.stored.written);
    if (options.writing.seekable) result["seekable"] = rewrites_json(converted.rewrites);
    result["order_kept"] = converted.order_kept;
    result["notes"] = converted.notes;
    write_json(result, options.writing.json);
  }
  if (options.writing.shows_nothing()) return;
  std::string text = converted.stored.was_finished
                         ? fmt::format("{} is finished already, {}: nothing to do\n", converted.name,
                                       counted(p.done - p.dropped, "record"))
                         : fmt::format("{}: {}; {}\n", converted.name, counted(p.done - p.dropped, "record"),
                                       written_text(converted.stored.written));
  if (!converted.stored.was_finished && options.writing.seekable) text += rewrites_text(converted.rewrites);
  for (const std::string& note : converted.notes) text += note + "\n";
  text += bound_text(converted.stored.written);
  print(text);
}

int convert(const ConvertFlags& options) {
  if (!options.store.is_url()) refuse_out_inside(options.out.out, options.store.to_open());
  destination_of(options.out);  // before the store is opened, to report a typing error immediately
  const InputStore store(options.store, {.values = options.values,
                                         .isolate = options.isolate,
                                         .isolate_option = options.isolate ? "--isolate" : "",
                                         .access = options.access,
                                         .key = options.key,
                                         .fields = options.fields,
                                         .remote = &options.remote});
  store.require_known_values();
  if (store.size() == 0) throw Error(Errc::not_found, "there are no records here").with_file(options.store.shown());
  if (options.writing.seekable && !holds_encoded(store.schema(), "image"))
    throw UsageError("--seekable rewrites the field image, u8[?], which this store does not have; its fields are " +
                     store.schema().to_string());
  const ConvertResult converted = convert_store(options, store, store_for(options, store));
  warn_of_refused(converted.rewrites, [&](std::uint64_t i) { return store.key(i); });
  tell(options, converted);
  return status_of(converted.stored.written);
}

}  // namespace

void add_convert(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ConvertFlags>();
  CLI::App& command = *app.add_subcommand(
      "convert",
      "Writes the records of one store, with all their fields, keys and names of classes, into another (those of "
      "shards\n"
      "X-000000.tar into X-classes.txt). In tar shards '.' in the last part of a key becomes '_'. What the new\n"
      "store can't hold is told. A run that was stopped, or killed, is continued by the same command.");
  add_store_argument(command, options->store).required();
  add_out_options(command, options->out);
  add_seekable_option(command, options->writing);
  command
      .add_option(
          "--keys", options->keys,
          "The records' keys, or numbers in their place: where two would be the same in the new store, or where\n"
          "an LMDB, which sorts by keys, is to have the records in their order")
      ->check(CLI::IsMember({"records", "position"}))
      ->capture_default_str();
  add_classes_option(command, options->classes);
  command
      .add_option("--on-error", options->on_error, "Records that can't be read: end the run (default), or are left out")
      ->check(CLI::IsMember({"fail", "drop"}));
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_isolate_option(command, options->isolate);
  add_write_options(command, "Threads that read; default: cores - 1", options->writing);
  add_access_option(command, options->access);
  add_key_option(command, options->key);
  add_fields_option(command, options->fields);
  add_remote_options(command, options->remote);
  command.callback([options, &chosen] { chosen = [options] { return convert(*options); }; });
}

}  // namespace penstock::cli
