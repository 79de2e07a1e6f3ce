// SPDX-License-Identifier: Apache-2.0
// penstock merge: lists the stores that several processes wrote, so that they are read as one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "stores/input_store.hpp"
#include "stores/open_input_store.hpp"
#include "stores/store_list.hpp"
#include "tile/rank_share.hpp"
#include "tile/report.hpp"
#include "tile/run_folder.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

struct MergeFlags {
  std::vector<std::string> stores;
  std::string out, json;
  bool quiet = false;
};

std::string form_of(const std::string& path) {
  if (has_ending(path, ".tar")) return "tar";
  if (has_ending(path, ".h5") || has_ending(path, ".hdf5")) return "hdf5";
  return "lmdb";
}

std::vector<std::string> paths_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    const std::vector<std::string> found = files_of_pattern(argument, "merge", true);
    const bool named = found.size() == 1 && found.front() == argument;
    // An LMDB in one file has its lock next to it. A pattern may match the lock, which is not a store.
    for (const std::string& path : found)
      if (named || !path.ends_with("-lock")) paths.push_back(path);
  }
  // The reports next to the stores are not stores.
  std::erase_if(paths, [](const std::string& path) { return path.ends_with("-report"); });
  for (std::string& path : paths)
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return paths;
}

// Returns the folder of a store's report. A shard has the report of its store: "x-000003.tar" is a shard of x.tar.
// Returns an empty text if the folder does not exist.
std::string report_of(const std::string& store) {
  if (std::string beside = report_beside(store); fs::exists(beside)) return beside;
  const std::size_t dot = store.rfind('.');
  constexpr std::size_t digits = 6;
  if (dot == std::string::npos || dot < digits + 1 || store[dot - digits - 1] != '-') return {};
  std::string beside = report_beside(store.substr(0, dot - digits - 1) + store.substr(dot));
  return fs::exists(beside) ? beside : std::string();
}

// What the stores' reports contain about the processes that wrote them.
class Ranks {
 public:
  // Adds what the report of a store contains. Returns false, and adds nothing, if there is no report or if it is not a
  // rank's.
  bool add(const std::string& store) {
    const std::string folder = report_of(store);
    const Json run = folder.empty() ? Json() : RunFolder(folder, "").read();
    if (run.is_null() || run.value("world", std::size_t{0}) == 0) return false;
    note(folder, run);
    return true;
  }
  // Finds the reports of ranks that have no store, because they have no tile. @throws Error if the report of such a
  // rank is missing, has no result, or names a store.
  void complete() {
    for (std::size_t rank = 0; rank < world_; ++rank) {
      if (reports_.contains(rank)) continue;
      const std::string folder = report_of_rank(rank);
      const Json run = fs::exists(folder) ? RunFolder(folder, "").read() : Json();
      const Json result = run.is_null() ? Json() : run.value("result", Json());
      if (result.is_null() || result.value("store", "?") != "")
        throw Error(
            Errc::not_found,
            fmt::format("rank {} of {} is missing: name its store, too, or run it (again); its report would be {}",
                        rank, world_, printable(folder)));
      note(folder, run);
    }
  }
  std::size_t rank_of(const std::string& store) const { return rank_of_report_.at(report_of(store)); }
  // The result of all ranks together.
  const RunResult& result() const noexcept { return all_; }
  std::vector<std::string> folders() const {
    std::vector<std::string> folders;
    for (const auto& [rank, folder] : reports_) folders.push_back(folder);
    return folders;
  }

 private:
  void note(const std::string& folder, const Json& run) {
    if (rank_of_report_.contains(folder)) return;  // another shard of the same store
    const auto refuse = [&](const std::string& why) {
      throw Error(Errc::invalid_argument, why).with_file(RunFolder(folder, "").manifest());
    };
    const auto world = run.at("world").get<std::size_t>(), rank = run.at("rank").get<std::size_t>();
    const Json result = run.value("result", Json());
    if (result.is_null()) refuse("the rank has not ended; run it again, it goes on");
    const RunResult rank_result = result_of(result);
    all_.tiles += rank_result.tiles;
    all_.left_out += rank_result.left_out;
    all_.bytes += rank_result.bytes;
    all_.seconds = std::max(all_.seconds, rank_result.seconds);
    if (reports_.empty()) {
      world_ = world;
      hash_ = run.at("hash");
      first_ = folder;
      first_run_ = run;
      first_rank_ = rank;
    }
    if (world != world_)
      refuse(fmt::format("it is of another job than {}: of {} ranks, not {}", printable(first_), world, world_));
    if (run.at("hash") != hash_)
      refuse(fmt::format("it is of another job than {}: {}", printable(first_), describe_job_changes(first_run_, run)));
    for (const Json& slide : run.at("slides")) {
      const std::string version = slide.value("openslide", std::string());
      if (version.empty() || slide.contains("failure")) continue;
      if (openslide_.empty()) {
        openslide_ = version;
        openslide_in_ = folder;
      }
      if (version != openslide_)
        refuse(fmt::format("its slides were read by OpenSlide {}, and those of {} by {}", printable(version),
                           printable(openslide_in_), printable(openslide_)));
    }
    if (!reports_.emplace(rank, folder).second)
      refuse(fmt::format("rank {} is there twice, also in {}", rank, printable(reports_.at(rank))));
    rank_of_report_.emplace(folder, rank);
  }
  std::string report_of_rank(std::size_t rank) const {
    const auto part = [&](std::size_t of) { return store_of_rank("", {.rank = of, .world = world_, .given = true}); };
    std::string folder = first_;
    if (const std::size_t at = folder.rfind(part(first_rank_)); at != std::string::npos)
      folder.replace(at, part(first_rank_).size(), part(rank));
    return folder;
  }

  std::size_t world_ = 0, first_rank_ = 0;
  RunResult all_{.finished = true};
  std::string hash_, first_;
  std::string openslide_, openslide_in_;  // the version that read slides, and the report with that version
  Json first_run_;
  std::map<std::size_t, std::string> reports_;
  std::map<std::string, std::size_t> rank_of_report_;
};

struct Part {
  std::string path = {}, first = {}, last = {};  // `first` and `last`: the store's first and last key
  std::uint64_t records = 0;
};

// Returns a remark if the stores' records are not in the order of their keys. One LMDB with all records would have that
// order.
std::string other_order(const std::vector<Part>& parts) {
  const Part* before = nullptr;
  for (const Part& part : parts) {
    if (part.records == 0) continue;
    if (before != nullptr && part.first <= before->last)
      return fmt::format(
          "the order is that of the stores, not that of the keys, as in one LMDB store: {} of {} stands "
          "before {} of {}",
          printable_key(before->last), printable(before->path), printable_key(part.first), printable(part.path));
    before = &part;
  }
  return {};
}

// Returns a remark if two stores seem to have the same records, like a store and its copy.
std::string records_twice(const std::vector<Part>& parts) {
  std::map<std::string, const Part*> begins;
  for (const Part& part : parts) {
    if (part.records == 0 || part.first.empty()) continue;
    const auto [other, fresh] = begins.emplace(part.first, &part);
    if (!fresh && other->second->last == part.last && other->second->records == part.records)
      return fmt::format(
          "{} and {} begin with the same key, {}, end with the same, and have as many records: is one a "
          "copy of the other?",
          printable(other->second->path), printable(part.path), printable_key(part.first));
  }
  return {};
}

// Refuses to replace a file that is not a list, because it belongs to the user.
void require_list_or_nothing(const std::string& out) {
  std::error_code failed;
  if (fs::exists(out, failed) && (!names_list(out) || !is_list(out)))
    throw UsageError(fmt::format("--out {} is there, and is no list of stores; name another", printable(out)));
}

void require_different(const std::vector<std::string>& paths) {
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    std::error_code failed;
    const std::string real = fs::weakly_canonical(path, failed).string();
    if (!seen.insert(failed ? path : real).second)
      throw Error(Errc::invalid_argument, "the store is named twice").with_file(path);
    if (fs::exists(path + "/records.csv", failed))
      throw UsageError(fmt::format("{} is a folder of files, which no list can name; a folder above it has them all",
                                   printable(path)));
  }
}

// Refuses stores without the report of a rank if nobody would notice that a rank's store is missing. `others` are the
// stores without such a report. If some of the stores have the report of a rank, each store needs one. If none has,
// only a store that is named like a rank's store needs a report.
void require_reports(const std::vector<const Part*>& others, bool some_are_ranks) {
  for (const Part* part : others) {
    const std::string name = fs::path(part->path).filename().string();
    const bool rank = name.find("-of-") != std::string::npos && name.find("-r") != std::string::npos;
    const bool has_report = !report_of(part->path).empty();
    if (!some_are_ranks && (has_report || !rank)) continue;
    if (has_report)
      throw Error(Errc::invalid_argument,
                  "its report is not that of a rank, as those of other stores are; merge the stores of the ranks alone")
          .with_file(part->path);
    throw Error(Errc::not_found,
                "its report is not beside it, so nobody knows whether a rank is missing; put the folder "
                "that --report named there, as " +
                    report_beside(part->path))
        .with_file(part->path);
  }
}

std::vector<Part> parts_of(const std::vector<std::string>& paths) {
  std::vector<Part> parts;
  for (const std::string& path : paths) {
    const InputStore store(path, {.access = FileAccess::read});
    Part part{.path = path, .records = store.size()};
    if (part.records != 0 && store.has_keys()) {
      part.first = store.key(0);
      part.last = store.key(part.records - 1);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string common_form(const std::vector<std::string>& paths) {
  const std::string form = form_of(paths.front());
  for (const std::string& path : paths)
    if (form_of(path) != form)
      throw UsageError(fmt::format("{} is of another form than {}; stores of one form are merged", printable(path),
                                   printable(paths.front())));
  return form;
}

void sort_by_rank(std::vector<Part>& parts, const Ranks& ranks) {
  std::ranges::sort(parts, [&](const Part& a, const Part& b) {
    const std::size_t x = ranks.rank_of(a.path), y = ranks.rank_of(b.path);
    return x != y ? x < y : a.path < b.path;
  });
}

StoreList list_of(const std::string& form, const std::vector<Part>& parts) {
  StoreList list{.form = form};
  for (const Part& part : parts) {
    list.stores.push_back(part.path);
    list.records += part.records;
  }
  return list;
}

void require_all_tiles(const StoreList& list, const RunResult& of_ranks) {
  if (list.records == of_ranks.tiles) return;
  throw Error(Errc::not_found, fmt::format("the stores have {}, and the ranks stored {}; a shard is missing, or named "
                                           "twice",
                                           counted(list.records, "record"), with_commas(of_ranks.tiles)))
      .with_file(list.stores.front());
}

// Keeps an existing list until the new list has been opened, which fails if the stores' fields differ.
void replace_list(const StoreList& list, const std::string& path) {
  const fs::path out(path);
  const std::string fresh = (out.parent_path() / ("." + out.stem().string() + ".new.json")).string();
  write_list(list, fresh);
  try {
    const InputStore whole(fresh);
  } catch (const Error& error) {
    remove_file(fresh, "merge");
    throw error.file() == fresh ? Error(error.code(), error.cause()).with_file(path) : error;
  } catch (...) {
    remove_file(fresh, "merge");
    throw;
  }
  rename_file(fresh, path, "merge");
  sync_folder_of(path, "merge");
}

// Writes the joined report. Returns the path of its page.
std::string join_reports(const Ranks& ranks, const std::string& out) {
  RunResult result = ranks.result();
  result.store = out;
  write_joined_report(ranks.folders(), report_beside(out), result);
  return report_beside(out) + "/index.html";
}

struct MergeResult {
  StoreList list;
  std::string twice = {}, order = {}, report = {};  ///< two remarks and the report's page; each may be empty
};

void tell_json(const MergeFlags& flags, const MergeResult& merged) {
  const auto& [list, twice, order, report] = merged;
  write_json({{"list", flags.out},
              {"stores", list.stores},
              {"records", list.records},
              {"order_kept", order.empty()},
              {"maybe_copies", twice.empty() ? Json(nullptr) : Json(twice)},
              {"report", report.empty() ? Json(nullptr) : Json(report)}},
             flags.json);
}

void tell(const MergeFlags& flags, const MergeResult& merged) {
  const auto& [list, twice, order, report] = merged;
  std::string text = fmt::format("{}: {} of {}\n", printable(flags.out), counted(list.records, "record"),
                                 counted(list.stores.size(), "store"));
  if (!twice.empty()) text += twice + "\n";
  if (!order.empty()) text += order + "\n";
  if (!report.empty()) text += "report: " + printable(report) + "\n";
  print(text);
}

int merge(const MergeFlags& flags) {
  if (!flags.out.ends_with(".json")) throw UsageError("--out names a list of stores, X.json");
  require_list_or_nothing(flags.out);
  const std::vector<std::string> paths = paths_of(flags.stores);
  if (paths.empty()) throw UsageError("STORES name reports alone; name stores");
  require_different(paths);
  const std::string form = common_form(paths);
  std::vector<Part> parts = parts_of(paths);
  Ranks ranks;
  std::vector<const Part*> others;
  for (const Part& part : parts)
    if (!ranks.add(part.path)) others.push_back(&part);
  require_reports(others, others.size() < parts.size());
  const bool of_ranks = others.empty();
  if (of_ranks) {
    ranks.complete();
    sort_by_rank(parts, ranks);
  } else if (form == "lmdb") {
    std::ranges::sort(parts, [](const Part& a, const Part& b) { return a.first < b.first; });
  }
  MergeResult merged{.list = list_of(form, parts)};
  if (of_ranks) require_all_tiles(merged.list, ranks.result());
  merged.twice = records_twice(parts);
  if (form == "lmdb") merged.order = other_order(parts);
  replace_list(merged.list, flags.out);
  if (of_ranks) merged.report = join_reports(ranks, flags.out);
  if (!flags.json.empty()) tell_json(flags, merged);
  if (!flags.quiet && flags.json != "-") tell(flags, merged);
  return exit_ok;
}

}  // namespace

void add_merge(CLI::App& app, Command& chosen) {
  auto flags = std::make_shared<MergeFlags>();
  CLI::App& command = *app.add_subcommand(
      "merge",
      "Makes stores one that several processes wrote, by a list of them: nothing is copied, and the "
      "list is read wherever a\n"
      "store is. Those of `tile --rank` come in the order of ranks, which have to be all there; "
      "others as they are given,\n"
      "of LMDB by their keys.");
  command.add_option("STORES", flags->stores, "Stores, or patterns in quotes; of shards every one")->required();
  command.add_option("--out", flags->out, "The list: X.json")->required();
  add_json_option(command, flags->json);
  command.add_flag("--quiet,-q", flags->quiet, "No summary");
  command.callback([flags, &chosen] { chosen = [flags] { return merge(*flags); }; });
}

}  // namespace penstock::cli
