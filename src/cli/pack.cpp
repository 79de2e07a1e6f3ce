// penstock pack: a folder of images becomes an LMDB store, or an HDF5 file.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/batch_stage.hpp>
#include <penstock/error.hpp>
#include <penstock/fields.hpp>
#include <penstock/sink.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "rewrite_jpegs.hpp"
#include "writing.hpp"

namespace penstock::cli {

namespace {

struct PackOptions {
  std::string folder, out, labels;
  bool lsun = false;
  WritingFlags writing;
};

struct Packed {
  Written written;
  RewriteCounts rewrites;
  bool was_finished = false;
};

bool makes_hdf5_file(const PackOptions& options) {
  return options.out.ends_with(".h5") || options.out.ends_with(".hdf5");
}

Packed write_store(const PackOptions& options, const FilesSource& files) {
  // Another set of files must not be mixed into an unfinished store, nor files as they are with rewritten ones.
  const std::string job =
      fmt::format("penstock pack{}, files {:016x}", options.writing.seekable ? " --seekable" : "", files.identity());
  Pipeline records = from(files);
  if (options.lsun) records = records | select_fields({"image"});  // what isn't written is not to be counted
  const RewriteJpegs rewrite;
  if (options.writing.seekable) records = records | rewrite;
  Packed packed;
  const auto into = [&](auto sink) {
    packed.written = run_writing("packing", files.size(), options.writing, [&](const WriteOptions& write_options) {
      return write(records, sink, write_options);
    });
    packed.was_finished = sink.was_finished();
  };
  if (makes_hdf5_file(options))
    into(Hdf5Sink({.path = options.out,
                   .single_file = true,
                   .keys = "key",
                   .classes = files.classes(),
                   .job = job,
                   .sync = options.writing.sync()}));
  else
    into(LmdbSink({.path = options.out,
                   .records = options.lsun ? LmdbRecords::raw : LmdbRecords::fields,
                   .classes = files.classes(),
                   .job = job,
                   .sync = options.writing.sync()}));
  packed.rewrites = rewrite.counts();
  return packed;
}

// What of the folder is not in the store; a line each.
std::string left_out(const PackOptions& options, const FilesSource& files) {
  std::string out;
  if (files.skipped() != 0)
    out += fmt::format("left out: {} files that {} doesn't name\n", with_commas(files.skipped()),
                       printable(options.labels));
  if (files.broken_links() != 0)
    out += fmt::format("left out: {} links that lead nowhere\n", with_commas(files.broken_links()));
  return out;
}

void tell(const PackOptions& options, const FilesSource& files, const Packed& packed) {
  const WriteProgress& p = packed.written.progress;
  if (!options.writing.json.empty()) {
    Json classes = Json::array();
    for (const std::string& name : files.classes()) classes.push_back(name);
    Json result{
        {"store", options.out}, {"finished", packed.written.signal == 0}, {"was_finished", packed.was_finished}};
    add_written(result, packed.written);
    result["not_in_labels"] = files.skipped();
    result["broken_links"] = files.broken_links();
    result["classes"] = classes;
    if (options.writing.seekable) result["seekable"] = rewrites_json(packed.rewrites);
    write_json(result, options.writing.json);
  }
  if (options.writing.shows_nothing()) return;
  if (packed.was_finished) {
    print(fmt::format("{} is finished already, {} records: nothing to do\n", options.out, with_commas(p.total)) +
          left_out(options, files));
    return;
  }
  std::string line = fmt::format("{}: {} records", options.out, with_commas(p.done));
  if (!files.classes().empty() && !options.lsun) line += fmt::format(" of {} classes", files.classes().size());
  print(line + "; " + written_text(packed.written) + "\n" +
        (options.writing.seekable ? rewrites_text(packed.rewrites) : "") + left_out(options, files));
}

// Found here, before anything is written, rather than when the record's turn comes.
void refuse_long_keys(const PackOptions& options, const FilesSource& files) {
  for (std::uint64_t i = 0; i < files.size(); ++i) {
    const std::string key = files.key(i);
    if (key.size() <= LmdbSink::max_key_bytes) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("the file's path below the folder has {} bytes; as a key in the store it may have {}",
                            key.size(), LmdbSink::max_key_bytes))
        .with_file(options.folder + "/" + key)
        .with_index(i);
  }
}

void warn_of_mixed_labels(const PackOptions& options, const FilesSource& files) {
  if (files.mixed_labels_line() == 0) return;
  fmt::print(stderr,
             "penstock: warning: {}: line {}: labels are not all whole numbers, so all are taken as names, and "
             "numbered from 0 in the order of their bytes\n",
             printable(options.labels), files.mixed_labels_line());
}

int pack(const PackOptions& options) {
  if (options.lsun && makes_hdf5_file(options))
    throw UsageError("--lsun is a form of LMDB stores; name one with --out, not an HDF5 file");
  refuse_out_inside(options.out, options.folder);
  const FilesSource files(Files{.root = options.folder, .labels = options.labels, .order = FilesOrder::bytes});
  if (files.size() == 0)
    throw Error(Errc::not_found, "there are no images here (files that end in jpg, png, ...)")
        .with_file(options.folder);
  if (!makes_hdf5_file(options)) refuse_long_keys(options, files);
  warn_of_mixed_labels(options, files);
  const Packed packed = write_store(options, files);
  warn_of_refused(packed.rewrites, [&](std::uint64_t i) { return files.key(i); });
  tell(options, files, packed);
  return status_of(packed.written);
}

}  // namespace

void add_pack(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PackOptions>();
  CLI::App& command = *app.add_subcommand(
      "pack",
      "Packs a folder of images into an LMDB store, or an HDF5 file: key class/file in the order of its bytes, the "
      "file's bytes as they "
      "are, the\n"
      "number of its class, a checksum. A run that was stopped, or killed, is continued by the same command.");
  command.add_option("DIR", options->folder, "Folder of images, one sub-folder a class")->required();
  command
      .add_option("--out", options->out, "Store to write: a folder for LMDB, made where missing; X.h5 for an HDF5 file")
      ->required();
  command.add_flag("--lsun", options->lsun,
                   "Bare values as LSUN has them: no labels, no checksums, for any reader of LMDB");
  add_seekable_option(command, options->writing);
  command.add_option("--labels", options->labels,
                     "CSV file of `file,label` lines: only these files, with these labels");
  add_writing_options(command, "Threads that read files; default: cores - 1", options->writing);
  command.callback([options, &chosen] { chosen = [options] { return pack(*options); }; });
}

}  // namespace penstock::cli
