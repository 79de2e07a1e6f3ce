// penstock pack: a folder of images becomes an LMDB store.
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/batch_stage.hpp>
#include <penstock/error.hpp>
#include <penstock/sink.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rewrite_jpegs.hpp"

namespace penstock::cli {

namespace {

struct PackOptions {
  std::string folder, out, labels, json;
  bool lsun = false, seekable = false, quiet = false, fast = false;
  unsigned threads = 0;
};

struct Packed {
  WriteProgress progress;
  RewriteCounts rewrites;
  bool was_finished = false;
  int signal = 0;
  double seconds = 0;
};

Packed write_store(const PackOptions& options, const FilesSource& files) {
  const Interrupt interrupt;
  LmdbSink sink(
      {.path = options.out,
       .records = options.lsun ? LmdbRecords::raw : LmdbRecords::fields,
       .classes = files.classes(),
       // Another set of files must not be mixed into an unfinished store, nor files as they are with rewritten ones.
       .job = fmt::format("penstock pack{}, files {:016x}", options.seekable ? " --seekable" : "", files.identity()),
       .sync = !options.fast});
  Progress bar("packing", files.size(), options.quiet || options.json == "-");
  WriteOptions write_options;
  write_options.threads = options.threads;
  write_options.commit_every = 500;
  write_options.progress = [&](const WriteProgress& p) { bar.set(p.done, p.skipped); };
  write_options.stop = interrupt.token();
  const auto start = std::chrono::steady_clock::now();
  Packed packed;
  Pipeline records = from(files);
  if (options.lsun) records = records | select_fields({"image"});  // what isn't written is not to be counted
  const RewriteJpegs rewrite;
  if (options.seekable) records = records | rewrite;
  packed.progress = write(records, sink, write_options);
  packed.rewrites = rewrite.counts();
  packed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  packed.was_finished = sink.was_finished();
  packed.signal = packed.progress.done < packed.progress.total ? interrupt.signal() : 0;
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

// What --seekable did in this run.
std::string rewrites_text(const RewriteCounts& counts) {
  std::string out = fmt::format("seekable: {} JPEGs rewritten", with_commas(counts.rewritten));
  if (counts.rewritten != 0)
    out += fmt::format(", {} before, {} now ({:+.1f} %)", bytes_text(static_cast<double>(counts.bytes_before)),
                       bytes_text(static_cast<double>(counts.bytes_after)),
                       (static_cast<double>(counts.bytes_after) / static_cast<double>(counts.bytes_before) - 1) * 100);
  if (counts.not_jpeg != 0) out += fmt::format("; {} files that are no JPEG as they are", with_commas(counts.not_jpeg));
  if (counts.refused != 0)
    out += fmt::format("; {} JPEGs that can't be rewritten as they are", with_commas(counts.refused));
  return out + "\n";
}

void warn_of_refused(const FilesSource& files, const RewriteCounts& counts) {
  if (counts.refused == 0) return;
  fmt::print(stderr, "penstock: warning: {} JPEGs can't be rewritten and are stored as they are; the first is {}: {}\n",
             with_commas(counts.refused), printable(files.key(counts.first_refused)), printable(counts.refusal));
}

void tell(const PackOptions& options, const FilesSource& files, const Packed& packed) {
  const WriteProgress& p = packed.progress;
  const std::uint64_t written = p.done - p.skipped;
  const double mb_per_s = packed.seconds > 0 ? static_cast<double>(p.bytes) / 1e6 / packed.seconds : 0;
  if (!options.json.empty()) {
    Json classes = Json::array();
    for (const std::string& name : files.classes()) classes.push_back(name);
    Json result{{"store", options.out},
                {"finished", packed.signal == 0},
                {"was_finished", packed.was_finished},
                {"records", p.total},
                {"done", p.done},
                {"written", written},
                {"skipped", p.skipped},
                {"not_in_labels", files.skipped()},
                {"broken_links", files.broken_links()},
                {"classes", classes},
                {"bytes", p.bytes},
                {"seconds", packed.seconds},
                {"mb_per_s", mb_per_s}};
    if (options.seekable)
      result["seekable"] = {{"rewritten", packed.rewrites.rewritten},
                            {"bytes_before", packed.rewrites.bytes_before},
                            {"bytes_after", packed.rewrites.bytes_after},
                            {"not_jpeg", packed.rewrites.not_jpeg},
                            {"refused", packed.rewrites.refused}};
    write_json(result, options.json);
  }
  if (options.quiet || options.json == "-") return;
  if (packed.was_finished) {
    print(fmt::format("{} is finished already, {} records: nothing to do\n", options.out, with_commas(p.total)) +
          left_out(options, files));
    return;
  }
  std::string line = fmt::format("{}: {} records", options.out, with_commas(p.done));
  if (!files.classes().empty() && !options.lsun) line += fmt::format(" of {} classes", files.classes().size());
  line += fmt::format("; {} written, {} in {:.1f} s ({:.0f} MB/s)", with_commas(written),
                      bytes_text(static_cast<double>(p.bytes)), packed.seconds, mb_per_s);
  if (p.skipped != 0) line += fmt::format(", {} were there from an earlier run", with_commas(p.skipped));
  print(line + "\n" + (options.seekable ? rewrites_text(packed.rewrites) : "") + left_out(options, files));
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

// A store inside the folder would be taken for a class of its own by the next run.
void refuse_out_inside(const PackOptions& options) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path folder = fs::weakly_canonical(options.folder, failed), out = fs::weakly_canonical(options.out, failed);
  const fs::path way = out.lexically_relative(folder);
  if (!failed && !way.empty() && *way.begin() != "..")
    throw UsageError(fmt::format("--out {} lies inside {}; write the store beside it", options.out, options.folder));
}

int pack(const PackOptions& options) {
  refuse_out_inside(options);
  const FilesSource files(Files{.root = options.folder, .labels = options.labels, .order = FilesOrder::bytes});
  if (files.size() == 0)
    throw Error(Errc::not_found, "there are no images here (files that end in jpg, png, ...)")
        .with_file(options.folder);
  refuse_long_keys(options, files);
  warn_of_mixed_labels(options, files);
  const Packed packed = write_store(options, files);
  warn_of_refused(files, packed.rewrites);
  tell(options, files, packed);
  if (packed.signal == 0) return exit_ok;
  fmt::print(stderr, "penstock: stopped at {} of {} records, which are kept; the same command continues\n",
             with_commas(packed.progress.done), with_commas(packed.progress.total));
  return exit_signal + packed.signal;
}

}  // namespace

void add_pack(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PackOptions>();
  CLI::App& command = *app.add_subcommand(
      "pack",
      "Packs a folder of images into an LMDB store: key class/file in the order of its bytes, the file's bytes as they "
      "are, the\n"
      "number of its class, a checksum. A run that was stopped, or killed, is continued by the same command.");
  command.add_option("DIR", options->folder, "Folder of images, one sub-folder a class")->required();
  command.add_option("--out", options->out, "Store to write (a folder, made where missing)")->required();
  command.add_flag("--lsun", options->lsun,
                   "Bare values as LSUN has them: no labels, no checksums, for any reader of LMDB");
  command.add_flag(
      "--seekable", options->seekable,
      "Rewrite each JPEG without loss so that crops decode faster: the same pixels for any reader, about as "
      "many\nbytes. What is no JPEG, or damaged, is stored as it is, and counted");
  command.add_option("--labels", options->labels,
                     "CSV file of `file,label` lines: only these files, with these labels");
  command.add_option("--threads", options->threads, "Threads that read files; default: cores - 1")
      ->check(CLI::Range(1, 1024));
  command.add_flag(
      "--no-sync", options->fast,
      "Let the system decide when to write to the disk: faster; a crash of the machine may spoil the store");
  add_json_option(command, options->json);
  command.add_flag("--quiet,-q", options->quiet, "No progress and no summary");
  command.callback([options, &chosen] { chosen = [options] { return pack(*options); }; });
}

}  // namespace penstock::cli
