// SPDX-License-Identifier: Apache-2.0
// penstock pack: a folder of images becomes a store.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/write.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "stores/changed_files.hpp"
#include "stores/class_list.hpp"
#include "stores/input_store.hpp"
#include "stores/links_out.hpp"
#include "stores/look_at_images.hpp"
#include "stores/output_store.hpp"
#include "stores/rewrite_jpegs.hpp"
#include "stores/store_to_write.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

namespace {

struct PackOptions {
  std::string folder, labels, classes, on_error;
  bool lsun = false, update = false, force = false;
  OutFlags out;
  WriteFlags writing;
};

struct PackResult {
  StoreResult stored;
  RewriteCounts rewrites;
  OddImages odd;
  std::string name;  ///< name of the store
  LinksOut links_out;
  bool order_kept = true;          ///< the store has the order of the files' paths
  std::vector<std::string> notes;  ///< what the store lacks, and what has changed
};

std::string job_begin(const PackOptions& options) {
  return fmt::format("penstock pack{}, files ", options.writing.seekable ? " --seekable" : "");
}

PackResult pack_files(const PackOptions& options, const StoreToWrite& to, const FilesSource& files) {
  // The job differs if the files or --seekable differ. A run then does not continue an unfinished store of other files,
  // and does not mix unchanged files with rewritten ones.
  const std::string job =
      fmt::format("{}{:016x}, times {:016x}", job_begin(options), files.identity(), files.revision());
  Pipeline records = from(files);
  if (options.lsun) records = records | select_fields({"image"});  // fields that aren't written must not be counted
  const LookAtImages look(files);
  records = records | look;
  const RewriteJpegs rewrite;
  if (options.writing.seekable) records = records | rewrite;
  if (options.on_error == "drop") records = records | on_error({.policy = OnError::drop});
  PackResult packed;
  const OutputStore store{.to = to,
                          .out = options.out,
                          .job = job,
                          .bare_values = options.lsun,
                          .key_field = "key",
                          .update = options.update};
  packed.stored = write_store("packing", records, files.size(), store, options.writing);
  packed.rewrites = rewrite.counts();
  packed.odd = look.found();
  packed.name = to.name();
  packed.notes = files_left_out(files, options.labels);
  // After a signal, the user waits for the end, so links are not looked for.
  if (packed.stored.written.signal == 0) packed.links_out = links_out_of(files);
  if (std::string line = links_out_text(packed.links_out); !line.empty()) packed.notes.push_back(std::move(line));
  const auto key = [&](std::uint64_t i) { return files.key(i); };
  for (std::string& line : lost_in(store, files.schema(), files.size(), key, false))
    packed.notes.push_back(std::move(line));
  std::string order = lost_order(store, files.size(), key);
  packed.order_kept = order.empty();
  if (!order.empty()) packed.notes.push_back(std::move(order));
  return packed;
}

[[noreturn]] void refuse_changed(const StoreToWrite& to, const std::string& changes) {
  throw Error(Errc::invalid_argument, "the folder is not as it was when it was packed: " + changes +
                                          (to.form == StoreForm::lmdb ? "; --update brings the store up to date"
                                                                      : "; delete the store, or name another one"))
      .with_file(to.name());
}

// If the store was refused because files have changed, throws an error that describes the changes. Otherwise throws
// `refused`.
[[noreturn]] void explain(const PackOptions& options, const StoreToWrite& to, const FilesSource& files,
                          const Error& refused) {
  const std::string& cause = refused.cause();
  const bool describe_job_changes = cause.find("job: there \"") != std::string::npos;
  const bool same_command = cause.find("job: there \"" + job_begin(options)) != std::string::npos;
  const bool unfinished = refused.code() == Errc::state_mismatch;
  if ((refused.code() != Errc::invalid_argument && !unfinished) || (describe_job_changes && !same_command))
    throw refused;
  if (unfinished && !same_command) throw refused;
  if (unfinished) refuse_changed(to, "files were changed, added or removed before all of them were packed");
  std::string changes;
  try {
    changes = changed_files(files, to, !options.writing.seekable);
  } catch (const Error&) {
    throw refused;
  }
  if (changes.empty() && !same_command) throw refused;
  refuse_changed(to, changes.empty() ? "files have other times, though names, sizes and labels are the same" : changes);
}

ClassNames classes_of(const FilesSource& files) {
  const Schema schema = files.schema();
  const auto slot = schema.find("label");
  return slot ? schema[*slot].classes : ClassNames();
}

void tell(const PackOptions& options, const FilesSource& files, const PackResult& packed) {
  const WriteProgress& p = packed.stored.written.progress;
  if (!options.writing.json.empty()) {
    Json classes = Json::array();
    for (const std::string& name : classes_of(files)) classes.push_back(name);
    Json result{{"store", packed.name},
                {"finished", packed.stored.written.signal == 0},
                {"was_finished", packed.stored.was_finished}};
    add_written(result, packed.stored.written);
    result["not_in_labels"] = files.skipped();
    result["ignored"] = files.ignored();
    result["broken_links"] = files.broken_links();
    if (packed.stored.written.signal == 0) result["links_out"] = packed.links_out.files;
    result["empty"] = packed.odd.empty;
    result["no_image"] = packed.odd.no_image;
    result["no_decoder"] = Json(packed.odd.undecoded);
    result["classes"] = classes;
    if (const LmdbUpdate& update = packed.stored.update; update.updating)
      result["updated"] = {
          {"replaced", update.replaced}, {"added", update.added}, {"removed", update.removed}, {"kept", update.kept}};
    result["order_kept"] = packed.order_kept;
    result["notes"] = packed.notes;
    if (options.writing.seekable) result["seekable"] = rewrites_json(packed.rewrites);
    write_json(result, options.writing.json);
  }
  if (options.writing.shows_nothing()) return;
  std::string text;
  if (packed.stored.was_finished) {
    text =
        fmt::format("{} is finished already, {}: nothing to do\n", packed.name, counted(p.done - p.dropped, "record"));
  } else {
    text = fmt::format("{}: {}", packed.name, counted(p.done - p.dropped, "record"));
    if (const ClassNames classes = classes_of(files); !classes.empty() && !options.lsun)
      text += fmt::format(" of {} class{}", classes.size(), classes.size() == 1 ? "" : "es");
    const LmdbUpdate& update = packed.stored.update;
    text += update.updating ? fmt::format("; updated: {} replaced, {} added, {} removed, {} as they were\n",
                                          with_commas(update.replaced), with_commas(update.added),
                                          with_commas(update.removed), with_commas(update.kept))
                            : "; " + written_text(packed.stored.written) + "\n";
    if (options.writing.seekable) text += rewrites_text(packed.rewrites);
  }
  for (const std::string& line : packed.notes) text += line + "\n";
  text += bound_text(packed.stored.written);
  print(text);
}

// Unless --force is given, refuses an update if fewer than a tenth of the store's records are in the folder. Such a
// folder is most likely the wrong one, and an update removes all records that the folder doesn't have.
void refuse_other_folder(const PackOptions& options, const StoreToWrite& to, const FilesSource& files) {
  constexpr std::uint64_t fewest = 10;  // at least one in this many records must stay
  if (!options.update || options.force) return;
  const SharedKeys keys = shared_keys(files, to);
  if (keys.shared >= keys.records / fewest + (keys.records % fewest != 0 ? 1 : 0)) return;
  throw Error(Errc::invalid_argument,
              fmt::format("of the store's {} the folder has {}, so --update would remove {} of them: it is hardly what "
                          "the store was packed from; where that is meant, say --force as well",
                          counted(keys.records, "record"), keys.shared == 0 ? "none" : with_commas(keys.shared),
                          with_commas(keys.records - keys.shared)))
      .with_file(options.folder);
}

// Returns a remark if an update would number the labels in another way than the store does. Otherwise returns an empty
// text. Call it before the update begins.
std::string renumbered(const PackOptions& options, const StoreToWrite& to, const FilesSource& files) {
  if (!options.update || options.lsun) return {};
  ClassNames there;
  try {
    const Schema schema = LmdbSource(Lmdb{.path = to.path, .allow_unfinished = true}).schema();
    if (const auto slot = schema.find("label")) there = schema[*slot].classes;
  } catch (const Error&) {
    return {};  // no store yet, or one that the update refuses
  }
  const ClassNames now = classes_of(files);
  if (there.empty() || there == now) return {};
  return fmt::format(
      "changed: labels stood for the {}, and stand for the {} now; --classes keeps the numbers of a store",
      there.to_string(), now.to_string());
}

// Refuses keys that are too long, before anything is written.
void refuse_long_keys(const FilesSource& files) {
  for (std::uint64_t i = 0; i < files.size(); ++i) {
    const std::string key = files.key(i);
    if (key.size() <= LmdbSink::max_key_bytes) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("the file's path below the folder has {} bytes; as a key in the store it may have {}",
                            key.size(), LmdbSink::max_key_bytes))
        .with_file(files.file_of(i))
        .with_index(i);
  }
}

void warn_of_odd_images(const OddImages& odd, const FilesSource& files) {
  if (odd.empty + odd.no_image == 0) return;
  std::string what;
  if (odd.empty != 0) what = counted(odd.empty, "file") + (odd.empty == 1 ? " is empty" : " are empty");
  if (odd.no_image != 0)
    what += fmt::format("{}{} like no image", odd.empty == 0 ? "" : ", ",
                        counted(odd.no_image, "file") + (odd.no_image == 1 ? " begins" : " begin"));
  fmt::print(stderr, "penstock: warning: {} ({}{}); stored as they are, penstock verify lists what can't be decoded\n",
             what, odd.empty + odd.no_image == 1 ? "" : "the first: ", printable(files.file_of(odd.first)));
}

void warn_of_undecoded(const UndecodedImages& images, const FilesSource& files) {
  if (const std::string text = undecoded_text(images, files); !text.empty())
    fmt::print(stderr, "penstock: warning: {}\n", text);
}

void warn_of_mixed_labels(const PackOptions& options, const FilesSource& files) {
  if (files.mixed_labels_line() == 0) return;
  fmt::print(stderr,
             "penstock: warning: {}: line {}: labels are not all whole numbers, so all are taken as names, and "
             "numbered from 0 in the order of their bytes\n",
             printable(options.labels), files.mixed_labels_line());
}

int pack(const PackOptions& options) {
  const StoreToWrite to = destination_of(options.out);
  if (options.update && to.form != StoreForm::lmdb)
    throw UsageError("--update is of LMDB stores; tar shards and HDF5 files are written once");
  if (options.lsun && to.form != StoreForm::lmdb)
    throw UsageError("--lsun is a form of LMDB stores; name one with --out");
  if (options.lsun && !options.classes.empty())
    throw UsageError("--lsun stores have no labels, so --classes changes nothing; leave it out");
  refuse_out_inside(options.out.out, options.folder);
  const FilesSource files(Files{.root = options.folder,
                                .labels = options.labels,
                                .order = FilesOrder::bytes,
                                .classes = read_classes(options.classes)});
  if (files.size() == 0)
    throw Error(Errc::not_found, "there are no images here (files that end in jpg, png, ...)" +
                                     (files.passed_over().empty() ? "" : ", only " + files.passed_over()))
        .with_file(options.folder);
  if (to.form == StoreForm::lmdb) refuse_long_keys(files);
  refuse_other_folder(options, to, files);
  warn_of_mixed_labels(options, files);
  warn_of_undecoded(undecoded_by_name(files), files);
  const std::string numbers = renumbered(options, to, files);
  PackResult packed = [&] {
    try {
      return pack_files(options, to, files);
    } catch (const Error& error) {
      explain(options, to, files, error);
    }
  }();
  // Stores of these forms keep nothing about the files that they were made from, so their records are compared with the
  // files.
  if (packed.stored.was_finished && (options.lsun || to.form == StoreForm::shards))
    if (const std::string changes = changed_files(files, to, !options.writing.seekable); !changes.empty())
      refuse_changed(to, changes);
  if (!numbers.empty()) packed.notes.push_back(numbers);
  warn_of_odd_images(packed.odd, files);
  warn_of_undecoded(packed.odd.misnamed, files);
  warn_of_refused(packed.rewrites, [&](std::uint64_t i) { return files.file_of(i); });
  tell(options, files, packed);
  return status_of(packed.stored.written);
}

}  // namespace

void add_pack(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PackOptions>();
  CLI::App& command = *app.add_subcommand(
      "pack",
      "Packs a folder of images into an LMDB store, tar shards, or an HDF5 file: key class/file in the order of its\n"
      "bytes, the file's bytes as they are, the number of its class, in an LMDB a checksum. A run that was stopped, "
      "or\n"
      "killed, is continued by the same command. Where the store is finished already, names, sizes and times of the\n"
      "files are compared: what has changed since is named, and packed again with --update.");
  command.add_option("DIR", options->folder, "Folder of images, one sub-folder a class")->required();
  add_out_options(command, options->out);
  command.add_flag("--lsun", options->lsun,
                   "Bare values as LSUN has them: no labels, no checksums, for any reader of LMDB");
  CLI::Option* const update = command.add_flag(
      "--update", options->update,
      "Bring an LMDB store that is there up to date: every file is read, what has changed is written again,\n"
      "what is gone is removed");
  command
      .add_flag(
          "--force", options->force,
          "With --update: also where DIR has fewer than a tenth of the store's records, and the others are removed")
      ->needs(update);
  add_seekable_option(command, options->writing);
  command.add_option("--labels", options->labels,
                     "CSV file of `file,label` lines: only these files, with these labels");
  add_classes_option(command, options->classes);
  command
      .add_option("--on-error", options->on_error, "Files that can't be read: end the run (default), or are left out")
      ->check(CLI::IsMember({"fail", "drop"}));
  add_write_options(command, "Threads that read files; default: cores - 1", options->writing);
  command.callback([options, &chosen] { chosen = [options] { return pack(*options); }; });
}

}  // namespace penstock::cli
