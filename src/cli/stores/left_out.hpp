// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/schema.hpp>

#include "console/output.hpp"

namespace penstock::cli {

/// A tile, or a slide, that could not be read.
struct LeftOutTile {
  std::string key = {}, file = {};    ///< key of the tile; file of the slide
  std::string slide = {};             ///< the slide's name, with which its tiles' keys begin
  bool whole_slide = false;           ///< nothing of the slide could be read
  std::size_t level = 0;              ///< the level that the tile is made of
  std::int64_t x = 0, y = 0;          ///< the tile's top left pixel at level 0
  std::string code = {}, cause = {};  ///< as in Error
};
Json to_json(const LeftOutTile& tile);
/// Returns for example "slides/a.svs, level 0, x 512, y 1024: corrupt: ...".
std::string to_text(const LeftOutTile& tile);

/// The tiles and slides that a job has left out so far. A file next to the job's store has a JSON line for each. A run
/// that continues the job leaves them out again. So the store is the same as after an undisturbed run, even if the
/// tiles have become readable. One thread at a time.
class LeftOut {
 public:
  /// Reads the existing file. An incomplete last line does not count. Writes nothing. @throws penstock::Error.
  explicit LeftOut(std::string file);

  /// Returns what was left out, in the order in which it was added. Until `replace`, this includes tiles and slides
  /// that `remove` has removed.
  const std::vector<LeftOutTile>& tiles() const noexcept { return tiles_; }
  const std::string& file() const noexcept { return file_; }
  /// Returns whether the tile, or its whole slide, was left out.
  bool has(std::string_view key) const;
  /// Forgets all tiles and slides, so that they are tried again. The file keeps them until `replace`.
  void ask_again();
  /// Adds a tile if it is not in the list.
  void add(LeftOutTile tile);
  /// Notes that the tile could be read after all. If its slide was left out as a whole, removes the slide, too.
  void remove(std::string_view key);
  /// Makes everything added so far survive a kill, and a crash of the machine.
  void commit();
  /// Writes the file again if it differs from what is left out. Removes the file if nothing is left out.
  void replace();

 private:
  void note(const LeftOutTile& tile);
  /// Forgets that the slide was left out as a whole. Returns false if it was not.
  bool forget_slide(const std::string& slide);
  /// Removes the forgotten tiles from `tiles_`.
  void drop_forgotten();

  std::string file_;
  std::uint64_t whole_lines_ = 0;  // bytes of complete lines in the file
  std::optional<OutputFile> out_;
  bool uncommitted_ = false, differs_ = false;
  std::vector<LeftOutTile> tiles_;
  std::unordered_map<std::string, std::size_t> places_;  // positions in `tiles_`, by the keys of tiles
  // Positions in `tiles_`, for each slide that is left out as a whole.
  std::unordered_map<std::string, std::vector<std::size_t>> slides_;
};

/// A sink that skips samples that were left out before. It commits the list of left out samples before it commits
/// `sink`. `may_have`: `sink` takes samples in any order, so it may have a sample that is listed as left out. That
/// happens if a run tried the sample again and was then stopped.
template <Sink S>
class SkippingSink {
 public:
  SkippingSink(S& sink, LeftOut& left_out, bool may_have) : sink_(sink), left_out_(left_out), may_have_(may_have) {}

  void open(const SinkJob& job) { sink_.open(job); }
  bool has_some() const {
    bool some = true;
    if constexpr (requires { std::as_const(sink_).has_some(); }) some = std::as_const(sink_).has_some();
    return some || !left_out_.tiles().empty();
  }
  bool has(const SinkItem& item) {
    if (!left_out_.has(item.key)) return sink_.has(item);
    if (may_have_ && sink_.has(item)) {
      left_out_.remove(item.key);
    } else {
      skipped_.insert(item.position);
    }
    return true;
  }
  void put(const SinkItem& item, Sample& sample) { sink_.put(item, sample); }
  void commit() {
    left_out_.commit();
    sink_.commit();
  }
  void finish() {
    left_out_.commit();
    sink_.finish();
  }
  void work_on(const SinkThreads& threads) {
    if constexpr (requires { sink_.work_on(threads); }) sink_.work_on(threads);
  }
  std::string name() const { return sink_.name(); }
  /// Returns how many tiles were skipped because they had been left out before.
  std::uint64_t skipped() const noexcept { return skipped_.size(); }

 private:
  S& sink_;
  LeftOut& left_out_;
  const bool may_have_;
  // Positions of skipped samples. A set, because `has` may be called twice for a sample.
  std::unordered_set<std::uint64_t> skipped_;
};

}  // namespace penstock::cli
