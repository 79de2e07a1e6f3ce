// SPDX-License-Identifier: Apache-2.0
// Shared parts of the commands that write a store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <penstock/report.hpp>
#include <penstock/write.hpp>

#include "console/command_line.hpp"
#include "console/output.hpp"
#include "stores/rewrite_jpegs.hpp"

namespace penstock::cli {

/// Flags of all commands that write a store.
struct WriteFlags {
  std::string json;
  bool seekable = false, quiet = false, fast = false;
  unsigned threads = 0;  ///< 0 = cores - 1
  std::string memory;    ///< in the syntax of parse_bytes; empty: the default of `write`

  /// Returns whether neither progress nor a summary is shown.
  bool shows_nothing() const { return quiet || json == "-"; }
  /// Returns whether commits wait for the disk.
  bool sync() const noexcept { return !fast; }
};
void add_seekable_option(CLI::App& command, WriteFlags& flags);
/// Adds --threads, --no-sync, --json and --quiet.
void add_write_options(CLI::App& command, const std::string& threads_text, WriteFlags& flags);

/// Adds --memory.
void add_memory_option(CLI::App& command, WriteFlags& flags);

struct WriteResult {
  WriteProgress progress;
  int signal = 0;  ///< the signal that stopped the run before its end, or 0
  double seconds = 0;
  Report report;  ///< the report of the run, which shows what bounded it
};

/// Runs `write` and shows its progress. SIGINT and SIGTERM stop it. Call before any thread is started. `doing` names
/// the work, for example "packing". `where`: see `Progress::tell_where`; may be empty.
WriteResult run_write(const std::string& doing, std::uint64_t total, const WriteFlags& flags,
                      const std::function<WriteProgress(const WriteOptions&)>& write,
                      std::function<std::string(std::uint64_t done)> where = {});

/// Returns "310 written, 1.2 GiB in 3.4 s (353 MB/s), 20 were there from an earlier run".
std::string written_text(const WriteResult& written);
/// Returns a line about what bounded a run. Returns an empty text if that is not known, or if the run took less than 2
/// seconds.
std::string bound_text(const WriteResult& written);
/// Adds to --json what was written: records, done, written, skipped, dropped, bytes, seconds and mb_per_s. Adds the
/// run's report as `run`.
void add_written(Json& json, const WriteResult& written);

/// Returns a line about the result of --seekable.
std::string rewrites_text(const RewriteCounts& counts);
Json rewrites_json(const RewriteCounts& counts);
/// Warns on stderr if some JPEGs were refused. `key` returns a record's key, and is called for the first refused JPEG.
void warn_of_refused(const RewriteCounts& counts, const std::function<std::string(std::uint64_t)>& key);

/// @throws UsageError if `out` is `folder` itself or is inside of it. The next run would read such a store as a part of
/// the folder.
void refuse_out_inside(const std::string& out, const std::string& folder);

/// Returns the exit status of a command, which depends on whether a signal stopped it. Reports such a stop on stderr.
int status_of(const WriteResult& written);

}  // namespace penstock::cli
