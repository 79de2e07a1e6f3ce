// SPDX-License-Identifier: Apache-2.0
// One sample through its stages, and what the policy makes of it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/model/model_parts.hpp"

namespace model {

namespace {

// -- samples --

struct Value {
  std::string name;
  std::vector<u64> shape;
  std::vector<double> f;  // elements, where the field is f64
  std::vector<u64> n;     // elements otherwise, and how many bytes each has
  unsigned bytes = 4;
};
using Sample = std::vector<Value>;

Value& at(Sample& sample, const std::string& name) { return *std::ranges::find(sample, name, &Value::name); }
void put(Sample& sample, Value value) {
  const auto old = std::ranges::find(sample, value.name, &Value::name);
  if (old != sample.end())
    *old = std::move(value);
  else
    sample.push_back(std::move(value));
}

// What a filter throws for a sample that it leaves out.
struct Gone {};

}  // namespace

Failure failure(Fault fault, std::string stage, u64 index) {
  static const char* const codes[] = {"corrupt", "io", "user", "user", "invalid_argument"};
  static const char* const causes[] = {"planted damage", "planted read error", "planted exception",
                                       "an exception that is no std::exception", "planted mistake"};
  const auto i = static_cast<std::size_t>(fault);
  return {codes[i], std::move(stage), causes[i], index, fault == Fault::fatal};
}

namespace {

// Moves the point by `moved(x, y)`, and hides it outside of an image of this size.
void follow_point(Value& point, u64 height, u64 width, auto moved) {
  const auto number = [&](u64 i) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(point.n[i])));
  };
  const auto [x, y] = moved(number(0), number(1));
  point.n[0] = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  point.n[1] = std::bit_cast<std::uint32_t>(static_cast<float>(y));
  if (x < 0 || y < 0 || x > static_cast<double>(width) || y > static_cast<double>(height)) point.n[2] = 0;
}

// Moves each corner by `moved(x, y)`, and clips boxes to an image of this size. Each number is rounded once.
void follow(Value& boxes, u64 height, u64 width, auto moved) {
  const auto number = [&](u64 i) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(boxes.n[i])));
  };
  const auto set = [&](u64 i, double value) { boxes.n[i] = std::bit_cast<std::uint32_t>(static_cast<float>(value)); };
  for (u64 i = 0; i < boxes.n.size(); i += 5) {
    auto [x0, y0] = moved(number(i), number(i + 1));
    auto [x1, y1] = moved(number(i + 2), number(i + 3));
    if (x1 < x0) std::swap(x0, x1);
    if (y1 < y0) std::swap(y0, y1);
    const auto cut = [](double at, u64 most) {
      return at < 0 ? 0.0 : at > static_cast<double>(most) ? static_cast<double>(most) : at;
    };
    const double left = cut(x0, width), right = cut(x1, width), top = cut(y0, height), bottom = cut(y1, height);
    const double before = (x1 - x0) * (y1 - y0);
    const double share = before > 0 ? number(i + 4) * ((right - left) * (bottom - top) / before)
                         : left == x0 && right == x1 && top == y0 && bottom == y1 ? number(i + 4)
                                                                                  : 0;
    set(i, left), set(i + 1, top), set(i + 2, right), set(i + 3, bottom), set(i + 4, share);
  }
}

// What follows an image.
struct Followers {
  Value *boxes = nullptr, *point = nullptr, *masks = nullptr, crop = {};
};

void image(const Stage& s, Value& v, Followers& followers, Draws draws, u64 index, const std::string& of_part) {
  Value *const boxes = followers.boxes, *const point = followers.point, *const masks = followers.masks;
  const u64 h = v.shape[0], w = v.shape[1];
  const double high = static_cast<double>(h), wide = static_cast<double>(w);
  using Point = std::pair<double, double>;
  const auto boxes_follow = [&](auto moved) {
    if (boxes == nullptr) return;
    follow(*boxes, v.shape[0], v.shape[1], moved);
    follow_point(*point, v.shape[0], v.shape[1], moved);
  };
  const auto rebuild = [&](u64 height, u64 width, auto from) {  // from(y, x) names the old pixel
    std::vector<u64> out;
    for (u64 y = 0; y < height; ++y)
      for (u64 x = 0; x < width; ++x) {
        const auto [oy, ox] = from(y, x);
        for (u64 c = 0; c < 3; ++c) out.push_back(v.n[(oy * w + ox) * 3 + c]);
      }
    v.n = out;
    v.shape = {height, width, 3};
    if (masks == nullptr) return;
    std::vector<u64> labels;
    for (u64 mask = 0; mask < 2; ++mask)
      for (u64 y = 0; y < height; ++y)
        for (u64 x = 0; x < width; ++x) {
          const auto [oy, ox] = from(y, x);
          labels.push_back(masks->n[(mask * h + oy) * w + ox]);
        }
    masks->n = labels;
    masks->shape = {2, height, width};
  };
  using At = std::pair<u64, u64>;
  if (s.kind == Kind::crop) {
    if (h < s.n || w < s.m)
      throw Failure{"unsupported",
                    "random_crop(" + s.field + (boxes != nullptr ? ", imgbox, imgpoint" : "") +
                        (masks != nullptr ? ", imgmask" : "") + (s.out.empty() ? "" : ", " + s.out) + ")" + of_part,
                    "the image is too small", index, false};
    const u64 top = draws.below(h - s.n + 1), left = draws.below(w - s.m + 1);
    rebuild(s.n, s.m, [&](u64 y, u64 x) { return At{top + y, left + x}; });
    followers.crop = {s.out, {4}, {}, {}, 4};
    for (const u64 edge : {left, top, left + s.m, top + s.n})
      followers.crop.n.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(edge)));
    boxes_follow([&](double x, double y) {
      return Point{x - static_cast<double>(left), y - static_cast<double>(top)};
    });
  } else if (s.kind == Kind::flip) {
    const bool flips = draws.uniform() < 0.5;
    if (flips) rebuild(h, w, [&](u64 y, u64 x) { return At{y, w - 1 - x}; });
    boxes_follow([&](double x, double y) { return Point{flips ? wide - x : x, y}; });
  } else {
    const u64 quarters = draws.below(4);
    if (quarters == 1) rebuild(w, h, [&](u64 y, u64 x) { return At{x, w - 1 - y}; });
    if (quarters == 2) rebuild(h, w, [&](u64 y, u64 x) { return At{h - 1 - y, w - 1 - x}; });
    if (quarters == 3) rebuild(w, h, [&](u64 y, u64 x) { return At{h - 1 - x, y}; });
    boxes_follow([&](double x, double y) {
      return quarters == 1   ? Point{y, wide - x}
             : quarters == 2 ? Point{wide - x, high - y}
             : quarters == 3 ? Point{high - y, x}
                             : Point{x, y};
    });
  }
}

struct PartRecord {
  u64 part = 0, index = 0;
};
// Where a record lies in its part. `second`: of a zip, in its second part.
PartRecord part_record(const Spec& spec, u64 index, bool second) {
  PartRecord at{second ? 1u : 0u, index};
  u64 records = spec.records;
  if (spec.join != Join::zip) {
    const std::vector<u64> of = parts_of(spec);
    if (index >= of.size()) return {0, index};  // of no record, to learn sizes
    at.part = of[index];
    at.index = static_cast<u64>(std::count(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(index), at.part));
    records = static_cast<u64>(std::ranges::count(of, at.part));
  }
  if (spec.selected) at.index = records - 1 - at.index;
  return at;
}

void apply(const Spec& spec, const Keyed& keyed, Sample& sample, const Place& place, u64 index) {
  const Stage& s = *keyed.stage;
  const PartRecord at_part = keyed.in_part ? part_record(spec, index, of_second_part(s)) : PartRecord{0, index};
  const std::string of_part = keyed.in_part ? " of part " + std::to_string(at_part.part) : "";
  const std::string label =
      (s.field.empty() || s.kind == Kind::whole || s.kind == Kind::boxes ? s.name : s.name + "(" + s.field + ")") +
      of_part;
  if (const auto fault = s.faults.find(index); fault != s.faults.end()) throw failure(fault->second, label, index);
  Draws draws(keyed.in_part ? hash(spec.seed, hash(0, at_part.part + 1)) : spec.seed, keyed.key, place);
  switch (s.kind) {
    case Kind::in_place:
      for (u64& v : at(sample, s.field).n)
        v = s.field[0] == 'a' ? static_cast<std::uint32_t>(v * 3 + 1 + draws.below(1000)) : v + draws.below(77);
      break;
    case Kind::new_field: {
      Value out = at(sample, s.field);
      out.name = s.out;
      for (const u64 v : out.n) out.f.push_back(static_cast<double>(v) * 0.5 + draws.uniform());
      out.n.clear();
      put(sample, out);
      break;
    }
    case Kind::whole: {
      Value& a = at(sample, "a");
      const std::vector<u64> old = a.n;
      if (s.m != 0) a.shape = {s.m};
      a.n.assign(a.shape[0], 0);
      for (u64 i = 0; i < a.n.size(); ++i) a.n[i] = old[old.size() - 1 - i % old.size()] ^ draws.word();
      if (s.m != 0) put(sample, {s.out, {2}, {}, {draws.word(), at_part.index & 0xffffffff}, 4});
      if (s.drops) std::erase_if(sample, [](const Value& v) { return v.name == "b"; });
      break;
    }
    case Kind::vary: {
      const u64 n = draws.below(s.n + 1), inner = std::max<u64>(s.m, 1);
      Value out{s.out, {n}, {}, {}, 4};
      if (s.m != 0) out.shape.push_back(s.m);
      for (u64 i = 0; i < n * inner; ++i) out.n.push_back(draws.word());
      put(sample, out);
      break;
    }
    case Kind::filter:
      if (draws.below(100) >= s.n) throw Gone{};
      break;
    case Kind::filter_field:
      if (at(sample, s.field).n[0] % 100 >= s.n) throw Gone{};
      break;
    case Kind::select_fields: {
      Sample kept;
      for (const std::string& name : s.names) kept.push_back(at(sample, name));
      sample = std::move(kept);
      break;
    }
    case Kind::copy: {
      Value copy = at(sample, s.field);
      copy.name = s.out;
      put(sample, copy);
      break;
    }
    case Kind::boxes: {
      Value out{s.out, {draws.below(4), 5}, {}, {}, 4};
      for (u64 i = 0; i < out.shape[0]; ++i) {
        const u64 x = draws.below(4), y = draws.below(4), right = x + draws.below(6), bottom = y + 1 + draws.below(5);
        for (const u64 number : {x, y, right, bottom, u64{1}})
          out.n.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
      }
      put(sample, out);
      Value point{"imgpoint", {3}, {}, {}, 4};
      const u64 x = draws.below(8), y = draws.below(8);
      for (const u64 number : {x, y, u64{2}})
        point.n.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
      put(sample, point);
      const Value& picture = at(sample, s.field);
      Value masks{"imgmask", {2, picture.shape[0], picture.shape[1]}, {}, {}, 1};
      for (u64 i = 0; i < 2 * picture.shape[0] * picture.shape[1]; ++i) masks.n.push_back(draws.below(256));
      put(sample, masks);
      break;
    }
    default:
      if (s.kind >= Kind::crop && s.kind <= Kind::turn) {
        Followers followers;
        if (s.follows) followers.boxes = &at(sample, "imgbox"), followers.point = &at(sample, "imgpoint");
        if (s.masks) followers.masks = &at(sample, "imgmask");
        image(s, at(sample, s.field), followers, draws, index, of_part);
        if (s.kind == Kind::crop && !s.out.empty()) put(sample, followers.crop);
      }
  }
}

// A zip's second part has the images, after all fields of the first.
void apply(const Spec& spec, const std::vector<Keyed>& stages, std::size_t i, Sample& sample, const Place& place,
           u64 index) {
  apply(spec, stages[i], sample, place, index);
  if (i + 1 == spec.in_parts && spec.join == Join::zip)
    std::stable_partition(sample.begin(), sample.end(), [](const Value& v) { return !v.name.starts_with("img"); });
}

// The first part of a zip has the numbers, whose reading fails.
std::string read_of(const Spec& spec, u64 index) {
  const bool has_stages =
      spec.join == Join::zip
          ? std::any_of(spec.stages.begin(), spec.stages.begin() + static_cast<std::ptrdiff_t>(spec.in_parts),
                        [](const Stage& s) { return !of_second_part(s); })
          : spec.in_parts != 0;
  return has_stages ? " of part " + std::to_string(part_record(spec, index, false).part) : "";
}

Sample read(const Spec& spec, u64 index) {
  if (const auto fault = spec.faults.find(index); fault != spec.faults.end())
    throw failure(fault->second, "read" + read_of(spec, index), index);
  Sample sample(3);
  sample[0] = {"a", {spec.width}, {}, {}, 4};
  for (u64 j = 0; j < spec.width; ++j) sample[0].n.push_back(a_of(index, j));
  sample[1] = {"b", {}, {}, {index * 5}, 8};
  sample[2] = {"img", {height_of(index), width_of(index), 3}, {}, {}, 1};
  for (u64 k = 0; k < height_of(index) * width_of(index) * 3; ++k) sample[2].n.push_back(pixel_of(index, k));
  return sample;
}

// -- flat_map: a parent, and its children --

std::size_t children_begin(const std::vector<Keyed>& stages) {
  const auto at = std::ranges::find_if(stages, [](const Keyed& k) { return k.stage->kind == Kind::flat_map; });
  return static_cast<std::size_t>(at - stages.begin());
}

u64 count_children(const Spec& spec, const Keyed& keyed, const Place& place, u64 index) {
  const Stage& s = *keyed.stage;
  const auto fault = s.faults.find(index);
  if (fault != s.faults.end() && index % 2 == 0) throw failure(fault->second, s.name, index);
  return Draws(spec.seed, hash(keyed.key, 0x636f756e74), place).below(s.n + 1);
}

Sample child_of(const Spec& spec, const Keyed& keyed, Sample sample, const Place& place, u64 number, u64 index) {
  const Stage& s = *keyed.stage;
  const auto fault = s.faults.find(index);
  if (fault != s.faults.end() && index % 2 == 1 && number % 2 == 1) throw failure(fault->second, s.name, index);
  Draws draws(spec.seed, keyed.key, place);
  Value& a = at(sample, "a");
  const std::vector<u64> old = a.n;
  if (s.m != 0) {
    a.shape = {s.m};
    a.n.assign(s.m, 0);
    for (u64 i = 0; i < s.m; ++i) a.n[i] = static_cast<std::uint32_t>((old[i % old.size()] ^ draws.word()) + number);
    put(sample, {s.out, {2}, {}, {draws.word(), number}, 4});
  } else {
    for (u64& v : a.n) v = static_cast<std::uint32_t>(v + number);
  }
  return sample;
}

Row bytes_of(const Spec& spec, const Sample& sample, u64 index) {
  Row row;
  for (const Value& v : sample) {
    std::vector<std::uint8_t> bytes(v.f.size() * 8);
    if (!v.f.empty()) std::memcpy(bytes.data(), v.f.data(), bytes.size());
    for (const u64 n : v.n)
      for (unsigned b = 0; b < v.bytes; ++b) bytes.push_back(static_cast<std::uint8_t>(n >> (8 * b)));
    row.push_back({v.name, std::move(bytes), v.shape, v.f.empty() ? v.bytes : 8});
  }
  check_row(spec, row, index);
  return row;
}

// Tries `make(place, index)` as the policy wants it. False: the item says what became of it instead.
bool attempt(const Spec& spec, Place& place, u64& index, const std::vector<u64>& positions, Item& item, auto make) {
  for (;;) {
    try {
      make(place, index);
      item.index = index;
      return true;
    } catch (const Gone&) {
      item.kept = false;
      item.index = index;
      return false;
    } catch (const Failure& f) {
      item.index = index;
      if (spec.policy == Policy::fail || f.fatal) {
        item.fatal = {f};
        return false;
      }
      const bool first = item.bad.empty();
      if (spec.policy != Policy::replace) {
        item.bad = {f};
        item.masked = item.kept = spec.policy == Policy::mask;
        return false;
      }
      if (place.attempt == 8) {
        Failure wanted = first ? f : item.bad.front();
        wanted.cause += " (so did its stand-ins)";
        item.fatal = {wanted};
        return false;
      }
      if (first) item.bad = {f};
    }
    ++place.attempt;
    index = positions[Draws(spec.seed, 0x7265706c616365, place).below(positions.size())];
  }
}

}  // namespace

std::vector<Item> items(const Spec& spec, const std::vector<Keyed>& stages, Place place, u64 index,
                        const std::vector<u64>& positions) {
  const std::size_t split = children_begin(stages);
  const bool has_children = split != stages.size();
  Sample parent;
  u64 count = 1;
  Item of_parent;
  const auto make_parent = [&](const Place& at, u64 of) {
    parent = read(spec, of);
    for (std::size_t i = 0; i < split; ++i) apply(spec, stages, i, parent, at, of);
    if (has_children) count = count_children(spec, stages[split], at, of);
    if (!has_children) of_parent.row = bytes_of(spec, parent, of);
  };
  const bool made = attempt(spec, place, index, positions, of_parent, make_parent);
  of_parent.attempt = place.attempt;
  if (!made) return {of_parent};
  if (!has_children) return {of_parent};
  if (count == 0) {
    of_parent.kept = false;
    return {of_parent};
  }
  std::vector<Item> out;
  const std::uint32_t base = place.attempt;
  const Sample shared = parent;
  const u64 children = count;
  for (std::uint32_t c = 0; c < children; ++c) {
    Item item;
    if (c == 0) item.bad = of_parent.bad;
    Place at = place;
    at.child = c;
    u64 of = index;
    const auto make_child = [&](const Place& where, u64 which) {
      Sample sample = shared;
      u64 number = c;
      if (where.attempt != base) {  // of another record, for this child alone
        make_parent(where, which);
        if (count == 0) throw Gone{};
        sample = parent;
        number = c % count;
      }
      sample = child_of(spec, stages[split], std::move(sample), where, number, which);
      for (std::size_t i = split + 1; i < stages.size(); ++i) apply(spec, stages, i, sample, where, which);
      item.row = bytes_of(spec, sample, which);
    };
    attempt(spec, at, of, positions, item, make_child);
    item.attempt = at.attempt;
    out.push_back(std::move(item));
  }
  return out;
}

// The sizes of a row's fields don't depend on the record: those of any record that no stage finds too small, all zeros.
Row zero_row(Spec spec) {
  spec.faults.clear();
  spec.policy = Policy::fail;
  const auto collates = std::exchange(spec.collates, {});
  spec.max_tokens = spec.max_bytes = 0;
  const bool cropped = std::ranges::any_of(spec.stages, [](const Stage& s) { return s.kind == Kind::crop; });
  for (Stage& s : spec.stages) {
    s.faults.clear();
    if (s.kind == Kind::filter || s.kind == Kind::filter_field) s.n = 100;
    if (s.kind == Kind::flat_map) s.n = 1;
  }
  const auto stages = keyed(spec);
  for (u64 i = 0; i < 10'000; ++i)
    for (Item& item : items(spec, stages, {0, i, 0, 0}, i, {i})) {
      if (!item.kept || !item.fatal.empty()) continue;
      for (Cell& cell : item.row) {
        std::ranges::fill(cell.bytes, std::uint8_t{0});
        if (!collates.contains(cell.name)) continue;
        cell.bytes.clear();
        cell.shape[0] = 0;
        if (cell.name == "img" && !cropped) cell.shape[1] = 0;
        if (cell.name == "imgmask") cell.shape = {0, 0, 0};
      }
      return item.row;
    }
  return {};
}

}  // namespace model
