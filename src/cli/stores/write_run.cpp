// SPDX-License-Identifier: Apache-2.0
#include <penstock/write.hpp>

#include "stores/write_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "commands.hpp"
#include "console/interrupt.hpp"
#include "console/progress.hpp"

namespace penstock::cli {

namespace {

double mb_per_s(const WriteResult& written) {
  return written.seconds > 0 ? static_cast<double>(written.progress.bytes) / 1e6 / written.seconds : 0;
}
std::uint64_t stored(const WriteProgress& p) { return p.done - p.skipped - p.dropped - p.filtered; }

}  // namespace

void add_seekable_option(CLI::App& command, WriteFlags& flags) {
  command.add_flag(
      "--seekable", flags.seekable,
      "Rewrite each JPEG without loss so that crops decode faster: the same pixels for any reader, about as "
      "many\nbytes. What is no JPEG, or damaged, is stored as it is, and counted");
}

void add_write_options(CLI::App& command, const std::string& threads_text, WriteFlags& flags) {
  command.add_option("--threads", flags.threads, threads_text)->check(CLI::Range(1, 1024));
  command.add_flag(
      "--no-sync", flags.fast,
      "Let the system decide when to write to the disk: faster; a crash of the machine may spoil the store");
  add_json_option(command, flags.json);
  command.add_flag("--quiet,-q", flags.quiet, "No progress and no summary");
}

void add_memory_option(CLI::App& command, WriteFlags& flags) {
  command
      .add_option("--memory", flags.memory,
                  "For decoded blocks and finished tiles; beside it each thread takes up to 64 MiB, or the pixels of "
                  "four tiles "
                  "where these are more. Default: 768 MiB")
      ->each([](const std::string& text) {
        constexpr std::uint64_t least = std::uint64_t{64} << 20;
        if (parse_bytes(text) < least) throw UsageError("--memory: 64MiB at least");
      })
      ->type_name("BYTES");
}

namespace {

// Blocks get the largest part, because a block that finds no room is decoded again. A lack of other memory only makes
// threads wait.
void set_memory(WriteOptions& options, std::uint64_t bytes) {
  options.max_block_bytes = bytes / 2;
  options.max_waiting_bytes = bytes / 4;
  options.commit_bytes = std::min<std::size_t>(options.commit_bytes, bytes / 8);
}

}  // namespace

WriteResult run_write(const std::string& doing, std::uint64_t total, const WriteFlags& flags,
                      const std::function<WriteProgress(const WriteOptions&)>& write,
                      std::function<std::string(std::uint64_t)> where) {
  const Interrupt interrupt;
  Progress bar(doing, total, flags.shows_nothing());
  bar.tell_where(std::move(where));
  WriteOptions write_options;
  write_options.threads = flags.threads;
  write_options.commit_every = 500;
  if (!flags.memory.empty()) set_memory(write_options, parse_bytes(flags.memory));
  write_options.progress = [&](const WriteProgress& p) { bar.set(p.done, p.skipped); };
  WriteResult written;
  write_options.report = [&](const Report& report) { written.report = report; };
  write_options.stop = interrupt.token();
  const auto start = std::chrono::steady_clock::now();
  written.progress = write(write_options);
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  written.signal = written.progress.done < written.progress.total ? interrupt.signal() : 0;
  return written;
}

std::string written_text(const WriteResult& written) {
  const WriteProgress& p = written.progress;
  std::string text = fmt::format("{} written, {} in {:.1f} s ({:.0f} MB/s)", with_commas(stored(p)),
                                 bytes_text(static_cast<double>(p.bytes)), written.seconds, mb_per_s(written));
  if (p.skipped != 0)
    text += fmt::format(", {} {} there from an earlier run", with_commas(p.skipped), p.skipped == 1 ? "was" : "were");
  if (p.dropped != 0) text += fmt::format(", {} left out", counted(p.dropped, "bad one"));
  return text;
}

std::string bound_text(const WriteResult& written) {
  constexpr double long_s = 2;
  const Report& r = written.report;
  if (written.seconds < long_s || r.bound == Bound::unknown) return "";
  return r.verdict + (r.besides.empty() ? "" : " " + r.besides) + "\n";
}

void add_written(Json& json, const WriteResult& written) {
  const WriteProgress& p = written.progress;
  json["records"] = p.total;
  json["done"] = p.done;
  json["written"] = stored(p);
  json["skipped"] = p.skipped;
  json["dropped"] = p.dropped;
  json["bytes"] = p.bytes;
  json["seconds"] = written.seconds;
  json["mb_per_s"] = mb_per_s(written);
  json["run"] = Json::parse(written.report.json());
}

std::string rewrites_text(const RewriteCounts& counts) {
  std::string out = fmt::format("seekable: {} rewritten", counted(counts.rewritten, "JPEG"));
  if (counts.rewritten != 0)
    out += fmt::format(", {} before, {} now ({:+.1f} %)", bytes_text(static_cast<double>(counts.bytes_before)),
                       bytes_text(static_cast<double>(counts.bytes_after)),
                       (static_cast<double>(counts.bytes_after) / static_cast<double>(counts.bytes_before) - 1) * 100);
  if (counts.not_jpeg != 0)
    out += fmt::format("; {} no JPEG, as {}",
                       counted(counts.not_jpeg, "file") + (counts.not_jpeg == 1 ? " that is" : " that are"),
                       counts.not_jpeg == 1 ? "it is" : "they are");
  if (counts.refused != 0)
    out += fmt::format("; {} that can't be rewritten, as {}", counted(counts.refused, "JPEG"),
                       counts.refused == 1 ? "it is" : "they are");
  return out + "\n";
}

Json rewrites_json(const RewriteCounts& counts) {
  return {{"rewritten", counts.rewritten},
          {"bytes_before", counts.bytes_before},
          {"bytes_after", counts.bytes_after},
          {"not_jpeg", counts.not_jpeg},
          {"refused", counts.refused}};
}

void warn_of_refused(const RewriteCounts& counts, const std::function<std::string(std::uint64_t)>& key) {
  if (counts.refused == 0) return;
  fmt::print(stderr, "penstock: warning: {} can't be rewritten, stored as {} ({}{}: {})\n",
             counted(counts.refused, "JPEG"), counts.refused == 1 ? "it is" : "they are",
             counts.refused == 1 ? "" : "the first: ", printable_key(key(counts.first_refused)),
             printable(counts.refusal));
}

void refuse_out_inside(const std::string& out, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  // Makes the paths absolute first, because a relative path that does not exist would not be resolved.
  const fs::path whole = fs::weakly_canonical(fs::absolute(folder, failed), failed);
  const fs::path part = fs::weakly_canonical(fs::absolute(out, failed), failed);
  const fs::path way = part.lexically_relative(whole);
  if (!failed && way == ".") throw UsageError(fmt::format("--out {} is {} itself; name another store", out, folder));
  if (!failed && !way.empty() && *way.begin() != "..")
    throw UsageError(fmt::format("--out {} lies inside {}; write the store beside it", out, folder));
}

int status_of(const WriteResult& written) {
  if (written.signal == 0) return exit_ok;
  fmt::print(stderr, "penstock: stopped at record {} of {}; what is written is kept; the same command continues\n",
             with_commas(written.progress.done), with_commas(written.progress.total));
  return exit_signal + written.signal;
}

}  // namespace penstock::cli
