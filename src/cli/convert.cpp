// penstock convert: one store becomes another, of another kind or with rewritten images.
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/batch_stage.hpp>
#include <penstock/error.hpp>
#include <penstock/sink.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "rewrite_jpegs.hpp"
#include "store.hpp"
#include "writing.hpp"

namespace penstock::cli {

namespace {

struct ConvertFlags {
  std::string store, out, values = "automatic", on_error, keys = "records", shard_bytes = "1GiB";
  bool trust = true;
  std::uint64_t shard_samples = 10'000;
  bool sharded = false;  // a number of samples or bytes was given
  WritingFlags writing;
};

constexpr const char* tar = ".tar";
// The extension of an HDF5 file; none of other names.
std::string_view hdf5_extension(std::string_view name) {
  for (const std::string_view extension : {".h5", ".hdf5"})
    if (name.ends_with(extension)) return extension;
  return {};
}

struct Converted {
  Written written;
  RewriteCounts rewrites;
  bool was_finished = false;
};

bool makes_shards(const ConvertFlags& options) { return options.out.ends_with(tar); }

// "out/train.tar" makes out/train-000000.tar and those that follow.
WebDatasetSinkOptions shards_options(const ConvertFlags& options, std::string job) {
  WebDatasetSinkOptions sink;
  sink.path = options.out.substr(0, options.out.size() - std::string(tar).size());
  if (options.keys == "position") sink.keys = WebDatasetKeys::position;
  sink.max_samples = options.shard_samples;
  sink.max_bytes = parse_bytes(options.shard_bytes);
  sink.job = std::move(job);
  sink.sync = options.writing.sync();
  return sink;
}

bool makes_hdf5(const ConvertFlags& options) { return !hdf5_extension(options.out).empty(); }

// "out/train.h5" is one file; where shards are asked for, out/train-000000.h5 and those that follow.
Hdf5SinkOptions hdf5_options(const ConvertFlags& options, const Store& store, std::string job) {
  Hdf5SinkOptions sink;
  sink.path =
      options.sharded ? options.out.substr(0, options.out.size() - hdf5_extension(options.out).size()) : options.out;
  sink.single_file = !options.sharded;
  if (store.has_keys() && options.keys == "records" && !store.schema().find("key")) sink.keys = "key";
  sink.classes = store.classes();
  sink.max_samples = options.shard_samples;
  sink.max_bytes = parse_bytes(options.shard_bytes);
  sink.job = std::move(job);
  sink.sync = options.writing.sync();
  return sink;
}

Converted convert_store(const ConvertFlags& options, const Store& store) {
  const RewriteJpegs rewrite;
  Pipeline records = store.pipeline();
  if (options.writing.seekable) records = records | rewrite;
  if (options.on_error == "drop") records = records | on_error({.policy = OnError::drop});
  // Of some stores the fingerprint knows no more than how many records there are, and of what form.
  const std::string job =
      fmt::format("penstock convert{}, {:016x}, revision {:016x}", options.writing.seekable ? " --seekable" : "",
                  records.fingerprint(), store.revision());
  Converted converted;
  const auto into = [&](auto sink) {
    converted.written =
        run_writing("converting", store.size(), options.writing,
                    [&](const WriteOptions& write_options) { return write(records, sink, write_options); });
    converted.was_finished = sink.was_finished();
  };
  if (makes_shards(options))
    into(WebDatasetSink(shards_options(options, job)));
  else if (makes_hdf5(options))
    into(Hdf5Sink(hdf5_options(options, store, job)));
  else
    into(LmdbSink({.path = options.out,
                   .keys = options.keys == "position" ? LmdbKeys::position : LmdbKeys::automatic,
                   .classes = store.classes(),
                   .job = job,
                   .sync = options.writing.sync()}));
  converted.rewrites = rewrite.counts();
  return converted;
}

void tell(const ConvertFlags& options, const Converted& converted) {
  const WriteProgress& p = converted.written.progress;
  if (!options.writing.json.empty()) {
    Json result{{"from", options.store},
                {"store", options.out},
                {"finished", converted.written.signal == 0},
                {"was_finished", converted.was_finished}};
    add_written(result, converted.written);
    if (options.writing.seekable) result["seekable"] = rewrites_json(converted.rewrites);
    write_json(result, options.writing.json);
  }
  if (options.writing.shows_nothing()) return;
  if (converted.was_finished)
    return print(fmt::format("{} is finished already, {} records: nothing to do\n", options.out, with_commas(p.total)));
  print(fmt::format("{}: {} records; {}\n", options.out, with_commas(p.done), written_text(converted.written)) +
        (options.writing.seekable ? rewrites_text(converted.rewrites) : ""));
}

int convert(const ConvertFlags& options) {
  parse_bytes(options.shard_bytes);
  refuse_out_inside(options.out, options.store);
  const Store store(options.store, {.values = options.values, .trust = options.trust});
  if (store.size() == 0) throw Error(Errc::not_found, "there are no records here").with_file(options.store);
  if (options.writing.seekable && !holds_encoded(store.schema(), "image"))
    throw UsageError("--seekable rewrites the field image, u8[?], which this store does not have; its fields are " +
                     store.schema().to_string());
  const Converted converted = convert_store(options, store);
  warn_of_refused(converted.rewrites, [&](std::uint64_t i) { return store.key(i); });
  tell(options, converted);
  return status_of(converted.written);
}

}  // namespace

void add_convert(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ConvertFlags>();
  CLI::App& command = *app.add_subcommand(
      "convert",
      "Writes the records of one store, with all their fields and keys, into another. (In tar shards, '.' in the last "
      "part\n"
      "of a key becomes '_'. HDF5 has no keys: they go there as a field of strings.) A run that was stopped, or "
      "killed, is continued by the same command.");
  command.add_option("STORE", options->store, "LMDB store, folder of images, tar shards, HDF5, or CSV")->required();
  command
      .add_option("--out", options->out,
                  "Store to write: a folder for LMDB; X.tar for WebDataset's shards X-000000.tar, X-000001.tar, ...; "
                  "X.h5 for an "
                  "HDF5 file, or, with --shard-samples or --shard-bytes, for several, X-000000.h5, X-000001.h5, ...")
      ->required();
  add_seekable_option(command, options->writing);
  command
      .add_option("--keys", options->keys,
                  "The records' keys, or numbers in their place, where two would be the same in the new store")
      ->check(CLI::IsMember({"records", "position"}))
      ->capture_default_str();
  CLI::Option* const shard_samples =
      command.add_option("--shard-samples", options->shard_samples, "Samples of a shard at most");
  shard_samples->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))->capture_default_str();
  CLI::Option* const shard_bytes =
      command.add_option("--shard-bytes", options->shard_bytes, "Bytes of a shard at most; of HDF5 before compression");
  shard_bytes->capture_default_str();
  command
      .add_option("--on-error", options->on_error, "Records that can't be read: end the run (default), or are left out")
      ->check(CLI::IsMember({"fail", "drop"}));
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_untrusted_option(command, options->trust);
  add_writing_options(command, "Threads that read; default: cores - 1", options->writing);
  command.callback([options, shard_samples, shard_bytes, &chosen] {
    options->sharded = shard_samples->count() + shard_bytes->count() != 0;
    chosen = [options] { return convert(*options); };
  });
}

}  // namespace penstock::cli
