// What the commands that write a store share.
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

/// What may be said to each of them.
struct WriteFlags {
  std::string json;
  bool seekable = false, quiet = false, fast = false;
  unsigned threads = 0;  ///< 0 = cores - 1
  std::string memory;    ///< as parse_bytes has it; empty: as `write` does

  /// True where neither progress nor a summary is shown.
  bool shows_nothing() const { return quiet || json == "-"; }
  /// Whether commits wait for the disk.
  bool sync() const noexcept { return !fast; }
};
void add_seekable_option(CLI::App& command, WriteFlags& flags);
/// --threads, --no-sync, --json and --quiet.
void add_write_options(CLI::App& command, const std::string& threads_text, WriteFlags& flags);

/// --memory.
void add_memory_option(CLI::App& command, WriteFlags& flags);

struct Written {
  WriteProgress progress;
  int signal = 0;  ///< that stopped it before its end, or 0
  double seconds = 0;
  Report report;  ///< what bounded it
};

/// Runs `write` with options that show the progress of `doing` ("packing") and stop at SIGINT and SIGTERM. To be called
/// before any thread is made.
/// `where`: as of Progress; may be empty.
Written run_write(const std::string& doing, std::uint64_t total, const WriteFlags& flags,
                  const std::function<WriteProgress(const WriteOptions&)>& write,
                  std::function<std::string(std::uint64_t done)> where = {});

/// "310 written, 1.2 GiB in 3.4 s (353 MB/s), 20 were there from an earlier run"
std::string written_text(const Written& written);
/// What bounded a run of some seconds, in a line of its own; empty for a shorter one.
std::string bound_text(const Written& written);
/// Adds to --json what was written: records, done, written, skipped, dropped, bytes, seconds, mb_per_s, run: its
/// report.
void add_written(Json& json, const Written& written);

/// What --seekable did, a line.
std::string rewrites_text(const RewriteCounts& counts);
Json rewrites_json(const RewriteCounts& counts);
/// Says on stderr where some were refused; `key` gives the key of the first of them.
void warn_of_refused(const RewriteCounts& counts, const std::function<std::string(std::uint64_t)>& key);

/// @throws UsageError for an `out` inside of `folder`, where the next run would take it for a part of that.
void refuse_out_inside(const std::string& out, const std::string& folder);

/// How a command ends that was stopped, or was not. Says so on stderr.
int status_of(const Written& written);

}  // namespace penstock::cli
