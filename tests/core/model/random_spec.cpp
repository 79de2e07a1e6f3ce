// SPDX-License-Identifier: Apache-2.0
#include "core/model/random_spec.hpp"

#include <algorithm>

namespace model {

namespace {

class Dice {
 public:
  explicit Dice(u64 seed) : state_(mix(seed ^ 0x706970656c696e65)) {}
  u64 below(u64 n) { return mix(state_++) % n; }
  bool chance(u64 percent) { return below(100) < percent; }

 private:
  u64 state_;
};

class Builder {
 public:
  explicit Builder(u64 seed) : dice_(seed) {
    spec_.seed = dice_.chance(30) ? 0 : mix(seed);
    const u64 kind = dice_.below(100);
    // None, one, a few; and more than 256, where shuffles are computed and not stored.
    spec_.records = kind < 3 ? 0 : kind < 7 ? 1 : kind < 90 ? 2 + dice_.below(40) : 257 + dice_.below(60);
    spec_.width = 1 + dice_.below(6);
    spec_.stream = dice_.chance(12);
    if (!spec_.stream && dice_.chance(20)) spec_.per_block = 1 + dice_.below(9);
    if (!spec_.stream && spec_.per_block == 0 && dice_.chance(30)) {
      spec_.join = static_cast<Join>(1 + dice_.below(3));
      spec_.parts = 2 + dice_.below(3);
      spec_.turn = 1 + dice_.below(3);
    }
    faulty_ = dice_.chance(53);
    if (faulty_ && dice_.chance(60)) spec_.faults = faults();
    fields_ = {"a", "b", "img"};
    size_ = spec_.records;
  }

  Spec build() {
    if (spec_.join != Join::none && dice_.chance(60)) add_in_parts();
    const u64 stages = dice_.below(9);
    for (u64 i = 0; i < stages; ++i) add(static_cast<Kind>(dice_.below(static_cast<u64>(Kind::count))));
    if (has("img") && !cropped_ && !dice_.chance(40)) {
      if (fields_.size() > 1 && dice_.chance(50)) {
        leave_after_img();
      } else {
        add_crop();
      }
    }
    // What may stand after batch.
    if (has("img") && cropped_ && dice_.chance(60)) {
      push(Kind::flip).field = "img";
      if (height_ == width_ && !has("img2") && dice_.chance(60)) push(Kind::turn).field = "img";
    }
    const auto has_faults = [](const Stage& s) { return !s.faults.empty(); };
    if (faulty_ && spec_.faults.empty() && std::ranges::none_of(spec_.stages, has_faults) && spec_.records != 0)
      spec_.faults[dice_.below(spec_.records)] = Fault::corrupt;
    collate();
    spec_.rows = dice_.chance(15) ? 1 : dice_.chance(15) ? 1 + size_ + dice_.below(10) : 1 + dice_.below(12);
    spec_.tail = static_cast<Tail>(dice_.below(3));
    spec_.policy = static_cast<Policy>(dice_.below(4));
    if (spec_.stream && spec_.policy == Policy::replace) spec_.policy = Policy::drop;
    if (spec_.policy != Policy::fail && dice_.chance(25)) spec_.max_count = dice_.below(12);
    bound();
    bucket();
    return spec_;
  }

 private:
  bool has(const std::string& field) const { return std::ranges::find(fields_, field) != fields_.end(); }

  std::map<u64, Fault> faults() {
    std::map<u64, Fault> out;
    const u64 percent = 1 + dice_.below(12), fatal = dice_.chance(15) ? 5 : 0;
    for (u64 i = 0; i < spec_.records; ++i)
      if (dice_.chance(percent)) out[i] = dice_.chance(fatal) ? Fault::fatal : static_cast<Fault>(dice_.below(4));
    return out;
  }

  Stage& push(Kind kind) {
    spec_.stages.push_back({});
    spec_.stages.back().kind = kind;
    return spec_.stages.back();
  }
  std::string some_name() {
    static const char* const names[] = {"map", "augment", "noise"};
    return names[dice_.below(3)];
  }

  void add_in_parts() {
    static constexpr Kind kinds[] = {Kind::in_place, Kind::new_field, Kind::whole, Kind::crop, Kind::flip,
                                     Kind::turn,     Kind::vary,      Kind::copy,  Kind::boxes};
    const u64 stages = 1 + dice_.below(3);
    for (u64 i = 0; i < stages; ++i) add(kinds[dice_.below(std::size(kinds))]);
    spec_.in_parts = spec_.stages.size();
    spec_.selected = spec_.in_parts != 0 && dice_.chance(40);
  }

  void add(Kind kind) {
    if (kind <= Kind::draw_balanced && (reordered_ || spec_.stream) && kind != Kind::shuffle) return;
    // Each epoch has the same before it.
    const auto fixed = [this](bool in_order) {
      return std::ranges::all_of(spec_.stages, [in_order](const Stage& s) {
        return s.kind > Kind::draw_balanced || s.kind == Kind::take || s.kind == Kind::skip ||
               (!in_order && (s.kind == Kind::select || s.kind == Kind::split || s.kind == Kind::repeat));
      });
    };
    switch (kind) {
      case Kind::shuffle:
        if (spec_.stream ? shuffled_ : reordered_) return;
        shuffled_ = true;
        push(kind).n = spec_.stream ? 2 + dice_.below(dice_.chance(80) ? 12 : 300) : 0;
        break;
      case Kind::block_shuffle: {
        if (!fixed(true)) return;
        Stage& s = push(kind);
        s.name = "shuffle";
        s.n = dice_.below(4);
        s.m = 1 + dice_.below(9);
        break;
      }
      case Kind::draw_weighted:
      case Kind::draw_balanced: {
        if (!fixed(false) || size_ == 0 || size_ > 400) return;
        Stage& s = push(kind);
        const u64 most = kind == Kind::draw_weighted ? 4 : 1 + dice_.below(6);
        for (u64 i = 0; i < size_; ++i) s.list.push_back(dice_.below(most));
        s.list[dice_.below(size_)] = most;
        s.n = size_ = 1 + dice_.below(size_ + size_ / 2);
        break;
      }
      case Kind::filter:
      case Kind::filter_field: {
        if (kind == Kind::filter_field && !has("b")) return;
        Stage& s = push(kind);
        s.name = dice_.chance(50) ? "filter" : "keep";
        if (kind == Kind::filter_field) s.field = "b";
        s.n = dice_.chance(5) ? 0 : dice_.chance(20) ? 100 : 20 + dice_.below(75);
        if (kind == Kind::filter && faulty_ && dice_.chance(40)) s.faults = faults();
        reordered_ = true;
        break;
      }
      case Kind::flat_map: {
        if (!has("a") || std::ranges::any_of(spec_.stages, [](const Stage& s) { return s.kind == Kind::flat_map; }))
          return;
        Stage& s = push(kind);
        s.name = "children";
        s.n = dice_.chance(10) ? 60 : dice_.below(5);
        if (dice_.chance(60)) {
          s.m = 1 + dice_.below(6);
          s.out = "c" + std::to_string(dice_.below(2));
          if (!has(s.out)) fields_.push_back(s.out);
        }
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        reordered_ = true;
        break;
      }
      case Kind::take:
      case Kind::skip: {
        // Mostly a part of it; sometimes all, or nothing.
        Stage& s = push(kind);
        s.n = dice_.chance(80) ? dice_.below(size_ / 2 + 1) + (kind == Kind::take ? size_ / 2 : 0)
                               : dice_.below(size_ + 3);
        size_ = kind == Kind::take ? std::min(size_, s.n) : size_ - std::min(size_, s.n);
        break;
      }
      case Kind::select: {
        Stage& s = push(kind);
        const u64 n = size_ == 0 ? 0 : dice_.below(2 * std::min<u64>(size_, 40)) + 1;
        for (u64 i = 0; i < n; ++i) s.list.push_back(dice_.below(size_));
        size_ = n;
        break;
      }
      case Kind::repeat:
        if (size_ > 100) return;
        push(kind).n = 1 + dice_.below(3);
        size_ *= spec_.stages.back().n;
        break;
      case Kind::split: {
        if (!fixed(false)) return;
        Stage& s = push(kind);
        static const std::vector<double> shares[] = {{0.9, 0.1}, {1, 1, 1}, {3, 0, 1}, {1}};
        s.shares = shares[dice_.below(4)];
        s.n = dice_.chance(60) ? 0 : dice_.below(s.shares.size());
        s.m = dice_.below(3);
        s.by_key = dice_.chance(50) && std::ranges::none_of(spec_.stages, [&](const Stage& o) {
                     return &o != &s && o.kind <= Kind::draw_balanced;
                   });
        size_ = size_of(spec_);
        break;
      }
      case Kind::in_place: {
        std::string field = has("a") && (!has("b") || dice_.chance(50)) ? "a" : "b";
        if (has(field + "2") && dice_.chance(60)) field += "2";
        if (!has(field)) return;
        Stage& s = push(kind);
        s.name = some_name();
        s.field = field;
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        break;
      }
      case Kind::new_field: {
        if (!has("a")) return;
        Stage& s = push(kind);
        s.name = some_name();
        s.field = "a";
        s.out = "f" + std::to_string(dice_.below(2));
        if (!has(s.out)) fields_.push_back(s.out);
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        break;
      }
      case Kind::whole: {
        if (!has("a")) return;
        Stage& s = push(kind);
        s.name = some_name();
        if (dice_.chance(60)) {
          s.m = 1 + dice_.below(6);
          s.out = "d" + std::to_string(dice_.below(2));
          if (!has(s.out)) fields_.push_back(s.out);
          s.drops = has("b") && dice_.chance(30);
          if (s.drops) std::erase(fields_, "b");
        }
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        break;
      }
      case Kind::select_fields: {
        std::vector<std::string> names = fields_;
        for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[dice_.below(i)]);
        names.resize(std::max<std::size_t>(1, names.size() - (dice_.chance(50) ? dice_.below(2) : 0)));
        push(kind).names = names;
        fields_ = names;
        break;
      }
      case Kind::crop:
        add_crop();
        break;
      case Kind::flip:
        if (has("img")) push(kind);
        break;
      case Kind::turn:
        if (has("img") && (!cropped_ || height_ == width_)) push(kind);
        break;
      case Kind::vary: {
        Stage& s = push(kind);
        s.name = some_name();
        s.out = "v" + std::to_string(dice_.below(2));
        s.n = 1 + dice_.below(8);
        s.m = dice_.chance(30) ? dice_.below(4) : 0;
        if (!has(s.out)) fields_.push_back(s.out);
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        break;
      }
      case Kind::copy: {
        static const char* const names[] = {"a", "b", "img"};
        const std::string field = names[dice_.below(3)];
        // Of images only those of one size: nothing says how rows of the copy become a batch.
        if (!has(field) || has(field + "2") || (field == "img" && !cropped_)) return;
        Stage& s = push(kind);
        s.field = field;
        s.out = field + "2";
        fields_.push_back(s.out);
        break;
      }
      case Kind::boxes: {
        if (!has("img") || has("imgbox") || has("imgpoint") || has("imgmask")) return;
        Stage& s = push(kind);
        s.name = some_name();
        s.field = "img";
        s.out = "imgbox";
        fields_.push_back(s.out);
        fields_.push_back("imgpoint");
        fields_.push_back("imgmask");
        fits_ = true;
        if (faulty_ && dice_.chance(40)) s.faults = faults();
        break;
      }
      case Kind::count:
        break;
    }
    // The copy has been cropped, and keeps its size.
    for (Stage& s : spec_.stages)
      if ((s.kind == Kind::crop || s.kind == Kind::flip || s.kind == Kind::turn) && s.field.empty())
        s.field = s.kind == Kind::flip && has("img2") && dice_.chance(50) ? "img2" : "img";
    if (kind >= Kind::crop && kind <= Kind::turn && has("imgbox") && has("imgpoint") && !spec_.stages.empty() &&
        spec_.stages.back().kind == kind && spec_.stages.back().field == "img")
      spec_.stages.back().follows = dice_.chance(70);
    if (kind < Kind::crop || kind > Kind::turn || spec_.stages.empty() || spec_.stages.back().kind != kind ||
        spec_.stages.back().field != "img")
      return;
    // Masks that did not follow have another size than the image.
    Stage& last = spec_.stages.back();
    last.masks = has("imgmask") && fits_ && dice_.chance(80);
    fits_ = fits_ && (last.masks || kind == Kind::flip);
    if (kind != Kind::crop) return;
    masks_cropped_ = masks_cropped_ || last.masks;
    if (has("imgcrop") || !dice_.chance(40)) return;
    last.out = "imgcrop";
    fields_.push_back("imgcrop");
  }
  // What varies must be said; what does not may be.
  void collate() {
    for (const std::string& field : fields_) {
      const bool image = field == "img" && !cropped_, varies = field[0] == 'v' || field == "imgbox",
                 masks = field == "imgmask" && !masks_cropped_;
      if (masks) spec_.collates[field];
      if (field == "imgmask") continue;
      if (!image && !varies && !(dice_.chance(8) && (field == "a" || field[0] == 'f'))) continue;
      Collate& c = spec_.collates[field];
      c.pads = !image && dice_.chance(60);
      if (!c.pads) continue;
      if (dice_.chance(50)) c.to = varies && faulty_ && dice_.chance(50) ? 5 + dice_.below(3) : 8 + dice_.below(3);
      if (dice_.chance(60) && field != "imgbox")
        c.value = field[0] == 'f' ? -1.5 : static_cast<double>(dice_.below(1000));
    }
  }
  void bound() {
    if (spec_.tail != Tail::keep || spec_.collates.empty() || dice_.chance(30)) return;
    if (dice_.chance(60)) {
      spec_.tokens = dice_.chance(90) || !has("a") ? spec_.collates.begin()->first : "a";
      spec_.max_tokens = 10 + dice_.below(40);
      if (faulty_ && spec_.collates.contains(spec_.tokens) && spec_.collates.at(spec_.tokens).to == 0 &&
          dice_.chance(40))
        spec_.max_tokens = 6;
    }
    if (spec_.max_tokens == 0 || dice_.chance(30))
      spec_.max_bytes = fixed_bytes(spec_) + (faulty_ && dice_.chance(50) ? 60 : 700) + dice_.below(1000);
  }
  void bucket() {
    if (!dice_.chance(20)) return;
    if (!has("a") && !has("b") && spec_.collates.empty()) return;
    spec_.bucket = !spec_.collates.empty() ? spec_.collates.begin()->first : has("b") ? "b" : "a";
    const u64 rows = max_rows(spec_);
    spec_.window = by_size(spec_) ? 1 + dice_.below(40) : rows * (1 + dice_.below(4));
  }

  void add_crop() {
    if (!has("img")) return;
    Stage& s = push(Kind::crop);
    s.field = "img";
    // Images are 4 to 7 high and 4 to 8 wide: some are too small, which is a fault of its own.
    const u64 max_h = cropped_ ? height_ : faulty_ && dice_.chance(20) ? 5 : 4, max_w = cropped_ ? width_ : 4;
    s.n = height_ = 1 + dice_.below(max_h);
    s.m = width_ = dice_.chance(50) ? std::min(height_, max_w) : 1 + dice_.below(max_w);
    cropped_ = true;
  }
  void leave_after_img() {
    std::erase(fields_, "img");
    push(Kind::select_fields).names = fields_;
  }

  Dice dice_;
  Spec spec_;
  bool fits_ = false, masks_cropped_ = false;  // whether masks are as large as the image, and of one size
  bool faulty_ = false, cropped_ = false, reordered_ = false, shuffled_ = false;
  u64 size_ = 0, height_ = 0, width_ = 0;
  std::vector<std::string> fields_;
};

}  // namespace

Spec random_spec(u64 seed) { return Builder(seed).build(); }

std::string describe(const Spec& spec) {
  std::string out = std::to_string(spec.records) + (spec.stream ? " streamed" : "") +
                    (spec.per_block != 0 ? " in blocks of " + std::to_string(spec.per_block) : "") +
                    (spec.join != Join::none
                         ? " joined (" + std::to_string(static_cast<int>(spec.join)) + ") of " +
                               std::to_string(spec.parts) + " by " + std::to_string(spec.turn) + ", " +
                               std::to_string(spec.in_parts) + " stages in parts" + (spec.selected ? ", selected" : "")
                         : "") +
                    " records of " + std::to_string(spec.width) + ", seed " + std::to_string(spec.seed) + ", " +
                    std::to_string(spec.faults.size()) + " faults";
  for (const Stage& s : spec.stages) {
    out += std::string(" | ") + name_of(s.kind);
    if (!s.name.empty()) out += " \"" + s.name + "\"";
    if (!s.field.empty()) out += " " + s.field + (s.out.empty() ? "" : "->" + s.out);
    out +=
        " " + std::to_string(s.n) + "," + std::to_string(s.m) + (s.by_key ? ",key" : "") + (s.drops ? ",drops b" : "");
    for (const std::string& n : s.names) out += " " + n;
    if (!s.list.empty()) out += " [" + std::to_string(s.list.size()) + "]";
    if (s.follows) out += " with boxes";
    if (s.masks) out += " with masks";
    if (!s.faults.empty()) out += " (" + std::to_string(s.faults.size()) + " faults)";
  }
  for (const BatchMap& map : spec.maps)
    out += " | " + map.name + (map.on_caller ? " on the caller" : "") + (map.adds ? " adds" : "") +
           (map.fails_at != ~u64{0} ? " fails at " + std::to_string(map.fails_at) : "");
  if (spec.swaps) out += " | swap";
  static const char* const tails[] = {"keep", "drop", "pad"};
  static const char* const policies[] = {"fail", "replace", "mask", "drop"};
  for (const auto& [field, c] : spec.collates)
    out += " | " + field +
           (c.pads ? " padded to " + std::to_string(c.to) + " with " + std::to_string(c.value) : " ragged");
  if (!spec.bucket.empty()) out += " | bucket " + spec.bucket + " " + std::to_string(spec.window);
  if (spec.max_tokens != 0) out += " | at most " + std::to_string(spec.max_tokens) + " of " + spec.tokens;
  if (spec.max_bytes != 0) out += " | at most " + std::to_string(spec.max_bytes) + " bytes";
  return out + " | batch " + std::to_string(spec.rows) + " " + tails[static_cast<int>(spec.tail)] + " | " +
         policies[static_cast<int>(spec.policy)] +
         (spec.max_count == ~u64{0} ? "" : ", at most " + std::to_string(spec.max_count));
}

}  // namespace model
