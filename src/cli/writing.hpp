// What the commands that write a store share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <penstock/sink.hpp>

#include "output.hpp"
#include "rewrite_jpegs.hpp"

namespace penstock::cli {

struct WritingOptions {
  std::string what;  ///< for the progress: "packing"
  std::uint64_t total = 0;
  unsigned threads = 0;  ///< 0 = cores - 1
  bool quiet = false;
};

struct Written {
  WriteProgress progress;
  int signal = 0;  ///< that stopped it before its end, or 0
  double seconds = 0;
};

/// Runs `write` with options that show progress and stop at SIGINT and SIGTERM. To be called before any thread is made.
Written run_writing(const WritingOptions& options, const std::function<WriteProgress(const WriteOptions&)>& write);

/// "310 written, 1.2 GiB in 3.4 s (353 MB/s), 20 were there from an earlier run"
std::string written_text(const Written& written);
/// The same for --json: records, done, written, skipped, dropped, bytes, seconds, mb_per_s.
void add_written(Json& json, const Written& written);

/// What --seekable did, a line.
std::string rewrites_text(const RewriteCounts& counts);
Json rewrites_json(const RewriteCounts& counts);
/// On stderr, where some were refused; `key` of the first of them.
void warn_of_refused(const RewriteCounts& counts, const std::function<std::string(std::uint64_t)>& key);

/// @throws UsageError for an `out` inside of `folder`, where the next run would take it for a part of that.
void refuse_out_inside(const std::string& out, const std::string& folder);

/// How a command ends that was stopped, or was not. Says so on stderr.
int status_of(const Written& written);

}  // namespace penstock::cli
