// SPDX-License-Identifier: Apache-2.0
#include "stores/store_to_write.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <penstock/extend/listing.hpp>

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* forms =
    "X or X.lmdb make an LMDB store, X.mdb one in a single file, X.tar tar shards, X.h5 an HDF5 file";

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Returns the extension as written, with its dot: ".h5" for "x.h5", and ".tar.gz" for "x.tar.gz". Returns an empty text
// if the path has no extension.
std::string extension_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size()) return {};
  const std::size_t before = name.rfind(".tar", dot - 1);
  return before != std::string::npos && before != 0 && before + 4 == dot ? name.substr(before) : name.substr(dot);
}

bool is_lmdb(const fs::path& folder) {
  std::error_code failed;
  return fs::exists(folder / "data.mdb", failed) || fs::exists(folder / "unfinished.json", failed);
}

// Returns the name of a file or folder in `folder` that keeps an LMDB from being created there. Returns an empty text
// if nothing does.
std::string other_thing_in(const fs::path& folder) {
  std::error_code failed;
  std::string first;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name != "lock.mdb" && !is_of_system(name) && (first.empty() || name < first)) first = name;
  }
  if (failed)
    throw UsageError(fmt::format("--out {}: the folder can't be listed: {}", folder.string(), failed.message()));
  return first;
}

StoreToWrite lmdb_folder(const std::string& out) {
  StoreToWrite made{.path = out};
  while (made.path.size() > 1 && made.path.ends_with('/')) made.path.pop_back();
  std::error_code failed;
  const fs::file_status status = fs::status(made.path, failed);
  if (!fs::exists(status)) return made;
  if (!fs::is_directory(status))
    throw UsageError(fmt::format("--out {} is a file, and an LMDB store is a folder; name another", printable(out)));
  made.was_there = is_lmdb(made.path);
  if (made.was_there) return made;
  if (const std::string other = other_thing_in(made.path); !other.empty())
    throw UsageError(
        fmt::format("--out {} is a folder that holds other things ({}), and no LMDB store; name a new folder",
                    printable(out), printable(other)));
  return made;
}

void refuse_if_there(const std::string& out, const std::string& extension) {
  std::error_code failed;
  if (!fs::exists(out, failed)) return;
  const std::string path = out.substr(0, out.size() - extension.size());
  throw UsageError(fmt::format(
      "--out {0} is there already, and what is written would be {1}-000000{2}, ...; move it away, or name another",
      printable(out), printable(path), extension));
}

StoreToWrite files_folder(const OutFlags& flags) {
  if (flags.sharded) throw UsageError("--shard-samples and --shard-bytes are of tar and HDF5; a folder has no shards");
  StoreToWrite made{.form = StoreForm::folder, .path = flags.out};
  while (made.path.size() > 1 && made.path.ends_with('/')) made.path.pop_back();
  std::error_code failed;
  if (fs::exists(made.path, failed) && !fs::is_directory(made.path, failed))
    throw UsageError(
        fmt::format("--out {} is a file, and --form folder makes a folder; name another", printable(flags.out)));
  return made;
}

}  // namespace

void add_form_option(CLI::App& command, OutFlags& flags) {
  command
      .add_option("--form", flags.form,
                  "folder: --out is a folder that gets a file for each image, and a table records.csv of the rest")
      ->check(CLI::IsMember({"folder"}));
}

void add_out_options(CLI::App& command, OutFlags& flags) {
  command
      .add_option("--out", flags.out,
                  "Store to write: X or X.lmdb, a folder for LMDB, made where missing; X.mdb for an LMDB in one file;\n"
                  "X.tar for WebDataset's shards X-000000.tar, X-000001.tar, ...; X.h5 for an HDF5 file, or, with\n"
                  "--shard-samples or --shard-bytes, for several, X-000000.h5, X-000001.h5, ...")
      ->required();
  CLI::Option* const samples = command.add_option("--shard-samples", flags.shard_samples, "Samples of a shard at most");
  samples->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))->capture_default_str();
  CLI::Option* const bytes =
      command.add_option("--shard-bytes", flags.shard_bytes, "Bytes of a shard at most; of HDF5 before compression");
  bytes->capture_default_str();
  for (CLI::Option* const option : {samples, bytes})
    option->each([&flags](const std::string&) { flags.sharded = true; });
}

StoreToWrite destination_of(const OutFlags& flags) {
  if (parse_bytes(flags.shard_bytes) == 0) throw UsageError("--shard-bytes must be above 0");
  const std::string& out = flags.out;
  if (out.empty()) throw UsageError(std::string("--out is empty; ") + forms);
  if (flags.form == "folder") return files_folder(flags);
  const std::string extension = out.ends_with('/') ? "" : extension_of(out), kind = lower_case(extension);
  const std::string stem = out.substr(0, out.size() - extension.size());
  std::error_code failed;
  if (kind == ".tar" || ((kind == ".h5" || kind == ".hdf5") && flags.sharded)) {
    refuse_if_there(out, extension);
    return {kind == ".tar" ? StoreForm::shards : StoreForm::hdf5, stem, false, kind == ".tar" ? ".tar" : ".h5"};
  }
  if (kind == ".h5" || kind == ".hdf5") {
    if (fs::is_directory(out, failed)) throw UsageError(fmt::format("--out {} is a folder", printable(out)));
    return {StoreForm::hdf5, out, true};
  }
  if (flags.sharded)
    throw UsageError("--shard-samples and --shard-bytes are of tar and HDF5; an LMDB store has no shards");
  if (kind == ".mdb") {
    if (fs::is_directory(out, failed)) throw UsageError(fmt::format("--out {} is a folder", printable(out)));
    return {StoreForm::lmdb, out, true, {}, fs::exists(out, failed)};
  }
  if (kind.empty() || kind == ".lmdb" || is_lmdb(out)) return lmdb_folder(out);
  throw UsageError(
      fmt::format("--out {0}: no store of the kind {1} can be written; {2}. {0}/ makes an LMDB store of this name",
                  printable(out), printable(extension), forms));
}

bool is_there(const StoreToWrite& store) {
  const bool shards = !store.extension.empty();
  const bool lmdb_folder = store.form == StoreForm::lmdb && !store.single_file;
  const std::string first = lmdb_folder                       ? store.path + "/data.mdb"
                            : store.form == StoreForm::folder ? store.path + "/records.csv"
                            : shards                          ? store.shard(0)
                                                              : store.path;
  std::error_code failed;
  return fs::exists(first, failed) || fs::exists(first + ".partial", failed);
}

std::string StoreToWrite::shard(std::uint64_t number) const {
  return fmt::format("{}-{:06}{}", path, number, extension);
}

std::string StoreToWrite::name() const {
  if (extension.empty()) return path;
  std::error_code failed;
  std::uint64_t shards = 0;
  while (fs::exists(shard(shards), failed)) ++shards;
  if (shards > 1 && form == StoreForm::hdf5) return path + "-*" + extension;
  if (shards <= 1) return shard(0);
  return fmt::format("{}-{{000000..{:06}}}{}", path, shards - 1, extension);
}

}  // namespace penstock::cli
