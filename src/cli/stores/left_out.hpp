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
  std::string key = {}, file = {};    ///< of the tile; of the slide
  std::string slide = {};             ///< what keys of its tiles begin with
  bool whole_slide = false;           ///< nothing of it could be read
  std::size_t level = 0;              ///< that the tile is made of
  std::int64_t x = 0, y = 0;          ///< its top left pixel at level 0
  std::string code = {}, cause = {};  ///< as Error has them
};
Json to_json(const LeftOutTile& tile);
/// "tile 512, 1024 of level 0 of slides/a.svs: corrupt: ..."
std::string to_text(const LeftOutTile& tile);

/// What a job has left out so far, in a file beside its store, a line of JSON each. A run that goes on leaves it out
/// again, so the store stays that of an undisturbed run, whatever becomes readable meanwhile. One thread at a time.
class LeftOut {
 public:
  /// Reads what is there; a line that was cut off counts as none. Writes nothing yet.
  explicit LeftOut(std::string file);

  /// In the order in which they were left out; with those that could be read after all until `replace`.
  const std::vector<LeftOutTile>& tiles() const noexcept { return tiles_; }
  const std::string& file() const noexcept { return file_; }
  /// Whether the tile was left out, or its whole slide.
  bool has(std::string_view key) const;
  /// Forgets them, so that they are asked for again. The file keeps them until `replace`.
  void ask_again();
  /// Adds a tile. Nothing happens for one that is there.
  void add(LeftOutTile tile);
  /// The tile could be read after all: its slide is left out no more, if it was.
  void remove(std::string_view key);
  /// From now on what was added survives a kill, and a crash of the machine.
  void commit();
  /// Writes the file anew, where it differs from what is known now; none where nothing is left out.
  void replace();

 private:
  void note(const LeftOutTile& tile);
  /// False: it was not left out as a whole.
  bool forget_slide(const std::string& slide);
  /// `tiles_` without those that were forgotten.
  void drop_forgotten();

  std::string file_;
  std::uint64_t whole_lines_ = 0;  // bytes of them, in the file
  std::optional<OutputFile> out_;
  bool uncommitted_ = false, differs_ = false;
  std::vector<LeftOutTile> tiles_;
  std::unordered_map<std::string, std::size_t> places_;               // in `tiles_`, by the keys that are left out
  std::unordered_map<std::string, std::vector<std::size_t>> slides_;  // places of those that are left out as a whole
};

/// A sink that does not ask for what was left out before, and keeps what is left out now before the sink commits what
/// comes after it. `may_have`: the sink takes samples in any order, so it may have what is listed, from a run that
/// asked again and was stopped.
template <Sink S>
class LeavesOut {
 public:
  LeavesOut(S& sink, LeftOut& left_out, bool may_have) : sink_(sink), left_out_(left_out), may_have_(may_have) {}

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
  /// Tiles that were not asked for, as they had been left out before.
  std::uint64_t skipped() const noexcept { return skipped_.size(); }

 private:
  S& sink_;
  LeftOut& left_out_;
  const bool may_have_;
  std::unordered_set<std::uint64_t> skipped_;  // positions, for `has` may be asked twice
};

}  // namespace penstock::cli
