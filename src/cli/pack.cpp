// penstock pack: a folder of images becomes an LMDB store.
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/sink.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace penstock::cli {

namespace {

struct PackOptions {
  std::string folder, out, labels;
  bool lsun = false, json = false, quiet = false, fast = false;
  unsigned threads = 0;
};

struct Packed {
  WriteProgress progress;
  bool was_finished = false;
  int signal = 0;
  double seconds = 0;
};

Packed write_store(const PackOptions& options, const FilesSource& files) {
  const Interrupt interrupt;
  LmdbSink sink({.path = options.out,
                 .records = options.lsun ? LmdbRecords::raw : LmdbRecords::fields,
                 .classes = files.classes(),
                 // Another set of files must not be mixed into an unfinished store.
                 .job = fmt::format("penstock pack, files {:016x}", files.identity()),
                 .sync = !options.fast});
  Progress bar("packing", files.size(), options.quiet || options.json);
  WriteOptions write_options;
  write_options.threads = options.threads;
  write_options.commit_every = 500;
  write_options.progress = [&](const WriteProgress& p) { bar.set(p.done, p.skipped); };
  write_options.stop = interrupt.token();
  const auto start = std::chrono::steady_clock::now();
  Packed packed;
  packed.progress = write(from(files), sink, write_options);
  packed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  packed.was_finished = sink.was_finished();
  packed.signal = packed.progress.done < packed.progress.total ? interrupt.signal() : 0;
  return packed;
}

void tell(const PackOptions& options, const FilesSource& files, const Packed& packed) {
  const WriteProgress& p = packed.progress;
  const std::uint64_t written = p.done - p.skipped;
  const double mb_per_s = packed.seconds > 0 ? static_cast<double>(p.bytes) / 1e6 / packed.seconds : 0;
  if (options.json) {
    Json classes = Json::array();
    for (const std::string& name : files.classes()) classes.push_back(name);
    write_json({{"store", options.out},
                {"finished", packed.signal == 0},
                {"was_finished", packed.was_finished},
                {"records", p.total},
                {"done", p.done},
                {"written", written},
                {"skipped", p.skipped},
                {"classes", classes},
                {"bytes", p.bytes},
                {"seconds", packed.seconds},
                {"mb_per_s", mb_per_s}},
               "-");
    return;
  }
  if (options.quiet) return;
  if (packed.was_finished) {
    print(fmt::format("{} is finished already, {} records: nothing to do\n", options.out, with_commas(p.total)));
    return;
  }
  std::string line = fmt::format("{}: {} records", options.out, with_commas(p.done));
  if (!files.classes().empty() && !options.lsun) line += fmt::format(" of {} classes", files.classes().size());
  line += fmt::format("; {} written, {} in {:.1f} s ({:.0f} MB/s)", with_commas(written),
                      bytes_text(static_cast<double>(p.bytes)), packed.seconds, mb_per_s);
  if (p.skipped != 0) line += fmt::format(", {} were there from an earlier run", with_commas(p.skipped));
  print(line + "\n");
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
  const Packed packed = write_store(options, files);
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
  command.add_option("--labels", options->labels,
                     "CSV file of `file,label` lines: only these files, with these labels");
  command.add_option("--threads", options->threads, "Threads that read files; default: cores - 1")
      ->check(CLI::Range(1, 1024));
  command.add_flag(
      "--no-sync", options->fast,
      "Let the system decide when to write to the disk: faster; a crash of the machine may spoil the store");
  command.add_flag("--json", options->json, "The summary as JSON on stdout");
  command.add_flag("--quiet,-q", options->quiet, "No progress and no summary");
  command.callback([options, &chosen] { chosen = [options] { return pack(*options); }; });
}

}  // namespace penstock::cli
