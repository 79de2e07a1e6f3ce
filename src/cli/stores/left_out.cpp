// SPDX-License-Identifier: Apache-2.0
#include "stores/left_out.hpp"

#include <utility>

#include <fmt/format.h>

#include "console/json_input.hpp"

namespace penstock::cli {

namespace {

// Returns the tile of a line. @throws Error(corrupt), which names no file, if a member is missing or has another type.
LeftOutTile parsed(const Json& json) {
  if (!has_texts(json, {"key", "file", "slide", "code", "cause"}) || !json.value("whole_slide", Json()).is_boolean())
    throw Error(Errc::corrupt, "a line lacks what one has");
  LeftOutTile tile{.key = json.at("key"),
                   .file = json.at("file"),
                   .slide = json.at("slide"),
                   .whole_slide = json.at("whole_slide"),
                   .code = json.at("code"),
                   .cause = json.at("cause")};
  if (tile.whole_slide) return tile;
  if (!has_counts(json, {"level", "x", "y"})) throw Error(Errc::corrupt, "a tile lacks its place");
  tile.level = json.at("level");
  tile.x = json.at("x");
  tile.y = json.at("y");
  return tile;
}

}  // namespace

Json to_json(const LeftOutTile& tile) {
  Json json{{"key", tile.key}, {"slide", tile.slide}, {"file", tile.file}, {"whole_slide", tile.whole_slide}};
  if (!tile.whole_slide) {
    json["level"] = tile.level;
    json["x"] = tile.x;
    json["y"] = tile.y;
  }
  json["code"] = tile.code;
  json["cause"] = tile.cause;
  return json;
}

std::string to_text(const LeftOutTile& tile) {
  const std::string what =
      tile.whole_slide ? printable(tile.file)
                       : fmt::format("{}, level {}, x {}, y {}", printable(tile.file), tile.level, tile.x, tile.y);
  return fmt::format("{}: {}: {}", what, tile.code, printable(tile.cause));
}

LeftOut::LeftOut(std::string file) : file_(std::move(file)) {
  const std::optional<std::string> text = read_text(file_, "left out", std::uint64_t{16} << 30);
  if (!text) return;
  for (std::size_t end = 0; (end = text->find('\n', whole_lines_)) != std::string::npos; whole_lines_ = end + 1) {
    const std::string_view line(text->data() + whole_lines_, end - whole_lines_);
    try {
      note(parsed(json_in(line)));
    } catch (const Error& failed) {
      throw Error(failed.code(), "it is no list of what was left out (" + failed.cause() +
                                     "); delete it, and those tiles are asked for again")
          .with_file(file_)
          .with_offset(whole_lines_);
    }
  }
  if (differs_) drop_forgotten();
}

void LeftOut::note(const LeftOutTile& tile) {
  // If a slide was left out as a whole, and one of its tiles is listed later, the slide could be opened meanwhile. So
  // it is no longer left out as a whole.
  if (!tile.whole_slide) forget_slide(as_json_has_it(tile.slide));
  if (!places_.emplace(as_json_has_it(tile.key), tiles_.size()).second) {
    differs_ = true;  // a run that tried the tile again, and was stopped, has listed it a second time
    return;
  }
  // Stores the name of the slide as a later run reads it from the file, so that both runs report the same.
  const std::string slide = as_json_has_it(tile.slide);
  if (tile.whole_slide) slides_[slide].push_back(tiles_.size());
  tiles_.push_back(tile);
  tiles_.back().slide = slide;
}

bool LeftOut::has(std::string_view key) const {
  const std::string kept = as_json_has_it(key);
  return places_.contains(kept) || slides_.contains(kept.substr(0, kept.rfind('/')));
}

void LeftOut::ask_again() {
  differs_ = differs_ || !tiles_.empty();
  tiles_.clear();
  places_.clear();
  slides_.clear();
}

void LeftOut::add(LeftOutTile tile) {
  if (places_.contains(as_json_has_it(tile.key))) return;
  if (!out_) out_.emplace(file_, whole_lines_, "left out");
  out_->append(json_text(to_json(tile), -1) + "\n");
  note(tile);
  uncommitted_ = true;
}

bool LeftOut::forget_slide(const std::string& slide) {
  const auto found = slides_.find(slide);
  if (found == slides_.end()) return false;
  for (const std::size_t place : found->second) places_.erase(as_json_has_it(tiles_[place].key));
  slides_.erase(found);
  return differs_ = true;
}

// Drops all forgotten tiles in one pass. Dropping them one by one would move the following tiles each time.
void LeftOut::drop_forgotten() {
  std::size_t kept = 0;
  for (std::size_t place = 0; place < tiles_.size(); ++place) {
    const auto known = places_.find(as_json_has_it(tiles_[place].key));
    if (known == places_.end() || known->second != place) continue;
    known->second = kept;
    if (kept != place) tiles_[kept] = std::move(tiles_[place]);
    ++kept;
  }
  tiles_.resize(kept);
  slides_.clear();
  for (std::size_t place = 0; place < kept; ++place)
    if (tiles_[place].whole_slide) slides_[tiles_[place].slide].push_back(place);
}

void LeftOut::remove(std::string_view key) {
  const std::string kept = as_json_has_it(key);
  // If the slide was left out as a whole, a run that tried it again could open it. So its other tiles are tried, too.
  if (forget_slide(kept.substr(0, kept.rfind('/')))) return;
  if (places_.erase(kept) != 0) differs_ = true;
}

void LeftOut::commit() {
  if (!uncommitted_) return;
  const bool is_new = whole_lines_ == 0;
  out_->flush();
  out_->sync();
  if (is_new) sync_folder_of(file_, "left out");
  whole_lines_ = out_->bytes();
  uncommitted_ = false;
}

void LeftOut::replace() {
  commit();
  if (out_) out_->close();
  out_.reset();
  if (!differs_) return;
  drop_forgotten();
  std::string text;
  for (const LeftOutTile& tile : tiles_) text += json_text(to_json(tile), -1) + "\n";
  if (text.empty()) {
    remove_file(file_, "left out");
  } else {
    replace_text(file_, text, true, "left out");
  }
  whole_lines_ = text.size();
  differs_ = false;
}

}  // namespace penstock::cli
