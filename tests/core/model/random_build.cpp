// SPDX-License-Identifier: Apache-2.0
// A model::Spec as a pipeline of the library.
#include <optional>
#include <span>
#include <stdexcept>

#include <penstock/extend/device_stage.hpp>
#include <penstock/join.hpp>
#include <penstock/stages/draw.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"
#include "core/model/random_run.hpp"

using namespace help;
using model::u64;

namespace {

[[noreturn]] void raise(model::Fault fault) {
  help::raise(fault == model::Fault::fatal ? Fault::fatal : static_cast<Fault>(fault));
}
void check(const std::map<u64, model::Fault>& faults, u64 index) {
  if (const auto f = faults.find(index); f != faults.end()) raise(f->second);
}

class Promised final : public ps::PromisedImage {
 public:
  explicit Promised(u64 record) : record_(record) {}
  ps::ImageShape shape() const override {
    return {static_cast<std::int32_t>(model::height_of(record_)), static_cast<std::int32_t>(model::width_of(record_)),
            3};
  }
  ps::Pixels decode(const ps::Box& box, bool, std::byte* into, ps::Scratch& scratch) override {
    const auto row = static_cast<std::size_t>(box.width) * 3;
    std::byte* const to = into != nullptr ? into : scratch.allocate(row * static_cast<std::size_t>(box.height));
    std::byte* next = to;
    for (u64 y = 0; y < static_cast<u64>(box.height); ++y)
      for (u64 x = 0; x < row; ++x)
        *next++ = static_cast<std::byte>(model::pixel_of(
            record_,
            ((static_cast<u64>(box.top) + y) * model::width_of(record_) + static_cast<u64>(box.left)) * 3 + x));
    return {reinterpret_cast<const std::uint8_t*>(to), static_cast<std::ptrdiff_t>(row), {box.height, box.width, 3}};
  }

 private:
  u64 record_;
};

struct Source {
  std::shared_ptr<const model::Spec> spec;
  bool delays;
  u64 size() const { return spec->records; }
  ps::Schema schema() const {
    return {{"a", ps::DType::u32, {static_cast<std::int64_t>(spec->width)}},
            {"b", ps::DType::i64, {}},
            {"img", ps::DType::u8, {ps::dynamic, ps::dynamic, 3}}};
  }
  std::string key(u64 i) const { return "k" + std::to_string(i); }
  void read(u64 i, ps::SampleBuilder& out) const { read(i, out, nullptr); }
  // `a` may lie in a block.
  void read(u64 i, ps::SampleBuilder& out, const std::byte* a) const {
    read_numbers(i, out, a);
    read_image(i, out);
  }
  void read_numbers(u64 i, ps::SampleBuilder& out, const std::byte* a) const {
    if (delays &&
        model::mix(i + static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count())) % 32 == 0)
      std::this_thread::sleep_for(30us);
    u64 j = 0;
    if (a != nullptr)
      out.view("a", a, {static_cast<std::int64_t>(spec->width)});
    else
      for (std::uint32_t& v : out.emplace<std::uint32_t, 1>("a", {static_cast<std::int64_t>(spec->width)}))
        v = model::a_of(i, j++);
    check(spec->faults, i);
    // As an LMDB's value would be: lying somewhere else, not to be written to.
    static const std::vector<std::int64_t> labels = [] {
      std::vector<std::int64_t> l(4096);
      for (std::size_t k = 0; k < l.size(); ++k) l[k] = static_cast<std::int64_t>(k * 5);
      return l;
    }();
    out.view("b", reinterpret_cast<const std::byte*>(&labels[i]), {});
  }
  // Half of the sources promise their images.
  void read_image(u64 i, ps::SampleBuilder& out) const {
    if (model::mix(spec->seed ^ 0x70726f6d697365) % 2 == 0) return out.promise("img", Promised(i));
    u64 j = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>(
             "img", {static_cast<std::int64_t>(model::height_of(i)), static_cast<std::int64_t>(model::width_of(i)), 3}))
      v = model::pixel_of(i, j++);
  }
};

// The source's records, some of each in a block. Every fourth needs the next block too.
struct Blocked {
  Source source;
  u64 size() const { return source.size(); }
  ps::Schema schema() const { return source.schema(); }
  std::string key(u64 i) const { return source.key(i); }
  u64 per_block() const { return source.spec->per_block; }
  u64 row_bytes() const { return source.spec->width * 4; }
  u64 blocks() const { return (size() + per_block() - 1) / per_block(); }
  u64 block_bytes(u64) const { return per_block() * row_bytes(); }
  void blocks_of(u64 i, std::vector<u64>& ids) const {
    ids.push_back(i / per_block());
    if (i % 4 == 0 && i / per_block() + 1 < blocks()) ids.push_back(i / per_block() + 1);
  }
  void load(u64 b, std::span<std::byte> bytes) const {
    if (source.delays && b % 3 == 0) std::this_thread::sleep_for(20us);
    for (u64 k = 0; k < bytes.size() / 4; ++k) {
      const std::uint32_t v = model::a_of(b * per_block() + k / source.spec->width, k % source.spec->width);
      std::memcpy(bytes.data() + 4 * k, &v, 4);
    }
  }
  void read(u64 i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    source.read(i, out, blocks[0].data() + i % per_block() * row_bytes());
  }
};

// Some of the records, or some of their fields.
struct Part {
  Source source;
  std::vector<u64> ids;
  std::vector<std::string> names;
  u64 size() const { return ids.size(); }
  ps::Schema schema() const {
    std::vector<ps::Field> fields;
    for (const std::string& name : names) fields.push_back(source.schema()[source.schema().slot(name)]);
    return ps::Schema(std::move(fields));
  }
  std::string key(u64 i) const { return source.key(ids[i]); }
  void read(u64 i, ps::SampleBuilder& out) const {
    if (names.size() == 3)
      source.read(ids[i], out);
    else if (names.size() == 2)
      source.read_numbers(ids[i], out, nullptr);
    else
      source.read_image(ids[i], out);
  }
};

ps::Pipeline join(const ps::Pipeline& p, const model::Stage& s);

// A part of a join: its records, with those of the stages that stand in parts that are its own.
ps::AnySource with_stages(Part part, bool zipped) {
  const model::Spec& spec = *part.source.spec;
  const bool second = part.names.size() == 1;
  std::vector<u64> backwards;
  if (spec.selected && !part.ids.empty()) {
    std::ranges::reverse(part.ids);
    for (u64 i = part.ids.size(); i-- > 0;) backwards.push_back(i);
  }
  ps::Pipeline p = ps::from(part);
  if (!backwards.empty()) p = p | ps::select(backwards);
  for (std::size_t i = 0; i < spec.in_parts; ++i) {
    model::Stage s = spec.stages[i];
    if (zipped && model::of_second_part(s) != second) continue;
    std::map<u64, model::Fault> own;
    for (u64 k = 0; k < part.ids.size(); ++k)
      if (const auto fault = s.faults.find(part.ids[k]); fault != s.faults.end()) own[k] = fault->second;
    s.faults = own;
    p = join(p, s);
  }
  return p;
}

ps::AnySource joined(const Source& source) {
  const model::Spec& spec = *source.spec;
  const std::vector<std::string> all{"a", "b", "img"};
  std::vector<u64> ids(spec.records);
  for (u64 i = 0; i < ids.size(); ++i) ids[i] = i;
  if (spec.join == model::Join::zip)
    return ps::zip(with_stages(Part{source, ids, {"a", "b"}}, true), with_stages(Part{source, ids, {"img"}}, true));
  std::vector<Part> parts(spec.parts, Part{source, {}, all});
  const std::vector<u64> of = model::parts_of(spec);
  for (const u64 i : ids) parts[of[i]].ids.push_back(i);
  std::vector<ps::AnySource> sources;
  for (const Part& part : parts) sources.push_back(with_stages(part, false));
  return spec.join == model::Join::concat ? ps::concat(std::move(sources))
                                          : ps::interleave(std::move(sources), {.block = spec.turn});
}

// The source's records, in order only. Half of them can seek.
struct Stream {
  Source source;
  u64 at = 0;
  ps::Schema schema() const { return source.schema(); }
  void reset(u64) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == source.size()) return false;
    source.read(at++, out);
    return true;
  }
};
struct SeekingStream : Stream {
  void seek(u64 record) { at = record; }
};

struct Children {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    if (stage.m == 0) return in;
    return in.with({"a", ps::DType::u32, {static_cast<std::int64_t>(stage.m)}}).with({stage.out, ps::DType::u32, {2}});
  }
  std::string name() const { return stage.name; }
  std::uint32_t count(const ps::Sample&, ps::Context& context) const {
    if (context.index() % 2 == 0) check(stage.faults, context.index());
    return static_cast<std::uint32_t>(context.rng().below(stage.n + 1));
  }
  void child(const ps::Sample& parent, std::uint32_t number, ps::Sample& out, ps::Context& context) const {
    if (number % 2 == 1 && context.index() % 2 == 1) check(stage.faults, context.index());
    if (stage.m == 0) {
      for (std::uint32_t& v : out.view<std::uint32_t, 1>("a")) v += number;
      return;
    }
    const auto old = parent.view<const std::uint32_t, 1>("a");
    auto a = out.emplace<std::uint32_t, 1>("a", {static_cast<std::int64_t>(stage.m)});
    for (std::int64_t i = 0; i < a.extent(0); ++i) a(i) = (old(i % old.extent(0)) ^ context.rng()()) + number;
    auto c = out.emplace<std::uint32_t, 1>(stage.out, {2});
    c(0) = context.rng()();
    c(1) = number;
  }
};

struct Vary {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    if (stage.m == 0) return in.with({stage.out, ps::DType::u32, {ps::dynamic}});
    return in.with({stage.out, ps::DType::u32, {ps::dynamic, static_cast<std::int64_t>(stage.m)}});
  }
  std::string name() const { return stage.name; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    check(stage.faults, context.index());
    const auto n = static_cast<std::int64_t>(context.rng().below(stage.n + 1)), m = static_cast<std::int64_t>(stage.m);
    const auto fill = [&](auto view) {
      for (std::uint32_t& v : view) v = context.rng()();
    };
    if (m == 0)
      fill(sample.emplace<std::uint32_t, 1>(stage.out, {n}));
    else
      fill(sample.emplace<std::uint32_t, 2>(stage.out, {n, m}));
  }
};

struct AddBoxes {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({stage.out, ps::DType::f32, {ps::dynamic, 5}})
        .with({"imgpoint", ps::DType::f32, {3}})
        .with({"imgmask", ps::DType::u8, {2, ps::dynamic, ps::dynamic}});
  }
  std::string name() const { return stage.name; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    check(stage.faults, context.index());
    ps::Rng& rng = context.rng();
    const auto boxes = sample.emplace<float, 2>(stage.out, {static_cast<std::int64_t>(rng.below(4)), 5});
    for (std::int64_t i = 0; i < boxes.extent(0); ++i) {
      const u64 x = rng.below(4), y = rng.below(4), right = x + rng.below(6), bottom = y + 1 + rng.below(5);
      std::int64_t column = 0;
      for (const u64 number : {x, y, right, bottom, u64{1}}) boxes(i, column++) = static_cast<float>(number);
    }
    const auto point = sample.emplace<float, 1>("imgpoint", {3});
    point(0) = static_cast<float>(rng.below(8));
    point(1) = static_cast<float>(rng.below(8));
    point(2) = 2;
    const ps::Shape picture = sample.tensor(stage.field).shape;
    for (std::uint8_t& label : sample.emplace<std::uint8_t, 3>("imgmask", {2, picture[0], picture[1]}))
      label = static_cast<std::uint8_t>(rng.below(256));
  }
};

// The fields of an image stage.
ps::ImageFields images_of(const model::Stage& s) {
  std::vector<ps::ImageFields::Item> fields{s.field};
  if (s.follows) fields.emplace_back(ps::boxes("imgbox")), fields.emplace_back(ps::points("imgpoint"));
  if (s.masks) fields.emplace_back(ps::instance_masks("imgmask"));
  if (s.kind == model::Kind::crop && !s.out.empty()) fields.emplace_back(ps::crop_box(s.out));
  return ps::ImageFields(fields);
}

struct Whole {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    ps::Schema out = in;
    if (stage.m != 0)
      out =
          out.with({"a", ps::DType::u32, {static_cast<std::int64_t>(stage.m)}}).with({stage.out, ps::DType::u32, {2}});
    return stage.drops ? out.without("b") : out;
  }
  std::string name() const { return stage.name; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    check(stage.faults, context.index());
    const auto old = sample.view<const std::uint32_t, 1>("a");
    const std::int64_t n = stage.m != 0 ? static_cast<std::int64_t>(stage.m) : old.extent(0);
    auto a = sample.emplace<std::uint32_t, 1>("a", {n});
    for (std::int64_t i = 0; i < n; ++i) a(i) = old(old.extent(0) - 1 - i % old.extent(0)) ^ context.rng()();
    if (stage.m != 0) {
      auto d = sample.emplace<std::uint32_t, 1>(stage.out, {2});
      d(0) = context.rng()();
      d(1) = static_cast<std::uint32_t>(context.index());
    }
  }
};

ps::Pipeline join(const ps::Pipeline& p, const model::Stage& s) {
  using enum model::Kind;
  switch (s.kind) {
    case shuffle:
      return p | ps::shuffle({.window = s.n});
    case block_shuffle:
      return p | ps::shuffle({.blocks = true, .window_blocks = s.n == 0 ? 16 : s.n, .block_size = s.m});
    case draw_weighted:
      return p | ps::draw_weighted({.weights = {s.list.begin(), s.list.end()}, .count = s.n, .replacement = true});
    case draw_balanced:
      return p | ps::draw_balanced({.labels = {s.list.begin(), s.list.end()}, .count = s.n, .replacement = true});
    case filter:
      return p | ps::filter(
                     [s](const ps::Sample&, ps::Context& context) {
                       check(s.faults, context.index());
                       return context.rng().below(100) < s.n;
                     },
                     {.name = s.name});
    case filter_field:
      return p | ps::filter(s.field,
                            [n = s.n](ps::View<const std::int64_t, 0> b) { return static_cast<u64>(b()) % 100 < n; },
                            {.name = s.name});
    case flat_map:
      return p | Children{s};
    case take:
      return p | ps::take(s.n);
    case skip:
      return p | ps::skip(s.n);
    case select:
      return p | ps::select(s.list);
    case repeat:
      return p | ps::repeat(s.n);
    case split:
      return p | ps::split({.shares = s.shares,
                            .part = s.n,
                            .by = s.by_key ? ps::SplitOptions::By::key : ps::SplitOptions::By::index,
                            .salt = s.m});
    case in_place:
      if (s.field[0] == 'a')
        return p | ps::map(s.field,
                           [f = s.faults](ps::View<std::uint32_t, 1> a, ps::Context& context) {
                             for (std::uint32_t& v : a)
                               v = v * 3 + 1 + static_cast<std::uint32_t>(context.rng().below(1000));
                             check(f, context.index());
                           },
                           {.name = s.name});
      return p | ps::map(s.field,
                         [f = s.faults](ps::View<std::int64_t, 0> b, ps::Context& context) {
                           check(f, context.index());
                           b() += static_cast<std::int64_t>(context.rng().below(77));
                         },
                         {.name = s.name});
    case new_field:
      return p | ps::map("a",
                         [f = s.faults](ps::View<const std::uint32_t, 1> in, ps::View<double, 1> out,
                                        ps::Context& context) {
                           for (std::int64_t i = 0; i < in.extent(0); ++i)
                             out(i) = static_cast<double>(in(i)) * 0.5 + context.rng().uniform();
                           check(f, context.index());
                         },
                         {.name = s.name, .out = s.out});
    case whole:
      return p | Whole{s};
    case vary:
      return p | Vary{s};
    case select_fields:
      return p | ps::select_fields(s.names);
    case boxes:
      return p | AddBoxes{s};
    case crop:
      return p | fake::image_stage(images_of(s), fake::RandomCrop{static_cast<int>(s.n), static_cast<int>(s.m)});
    case flip:
      return p | fake::image_stage(images_of(s), fake::RandomFlip{});
    case turn:
      return p | fake::image_stage(images_of(s), fake::RandomTurn{});
    case copy:
      return p | ps::copy_field(s.field, s.out);
    case count:
      break;
  }
  std::abort();
}

// Whether this stage stands after batch, where it must make no difference: what keeps the size of images that have a
// fixed one, with nothing after it that needs the image or counts samples anew.
std::vector<bool> after_batch(const model::Spec& spec) {
  using enum model::Kind;
  std::vector<bool> after(spec.stages.size());
  if (spec.seed % 4 == 0) return after;
  for (const auto& [field, c] : spec.collates)
    if (!c.pads || c.to == 0) return after;
  bool copy_dropped = false;
  for (std::size_t i = spec.stages.size(); i-- > spec.in_parts;) {
    const model::Stage& s = spec.stages[i];
    if (s.kind == crop) return after;
    if (s.follows || s.masks) break;  // what follows does so before batch
    const auto drops = [&s](const char* field) { return std::ranges::find(s.names, field) == s.names.end(); };
    if (s.kind == flat_map || s.kind == copy || (s.kind == select_fields && drops("img"))) break;
    copy_dropped = copy_dropped || (s.kind == select_fields && drops("img2"));
    after[i] = (s.kind == flip || s.kind == turn) && !(s.field == "img2" && copy_dropped);
  }
  const bool cropped = std::ranges::any_of(spec.stages, [](const model::Stage& s) { return s.kind == crop; });
  if (!cropped) after.assign(after.size(), false);
  // A crop before what ended the search.
  for (std::size_t i = 0, seen = 0; i < after.size(); ++i) {
    seen += spec.stages[i].kind == crop ? 1 : 0;
    if (seen == 0) after[i] = false;
  }
  return after;
}

// Any place is right before the first stage that draws, or filters: orders and a choice of fields make no difference.
std::optional<std::size_t> cached_before(const model::Spec& spec) {
  using enum model::Kind;
  if (spec.stream || spec.in_parts != 0 || model::mix(spec.seed ^ 0x6361636865) % 10 >= 3) return std::nullopt;
  std::size_t most = 0;
  while (most < spec.stages.size() &&
         (spec.stages[most].kind <= draw_balanced || spec.stages[most].kind == select_fields))
    ++most;
  return model::mix(spec.seed ^ 0x706c616365) % (most + 1);
}

// Half of them have room for everything.
u64 cache_bytes(const model::Spec& spec) {
  const u64 table = 8 * spec.records + 8, dice = model::mix(spec.seed ^ 0x6279746573);
  return dice % 2 == 0 ? u64{1} << 30 : table + dice / 2 % (spec.records * 400 + 1);
}

// A part of a batch that a function changes: the bytes of a row, without padding.
std::vector<std::span<std::byte>> rows_of(const ps::HostBatch& batch, const ps::Field& field) {
  std::vector<std::span<std::byte>> rows;
  if (field.collate.kind == ps::Collate::Kind::ragged) {
    const ps::RaggedRows ragged = batch.ragged(field.name);
    for (u64 r = 0; r < batch.rows(); ++r) rows.emplace_back(ragged[r].data, ragged[r].bytes());
    return rows;
  }
  const ps::TensorView tensor = batch[field.name];
  const u64 each = tensor.bytes() / batch.rows();
  for (u64 r = 0; r < batch.rows(); ++r) {
    u64 bytes = each;
    if (field.collate.kind == ps::Collate::Kind::pad && tensor.shape[1] != 0)
      bytes = each / static_cast<u64>(tensor.shape[1]) * static_cast<u64>(batch.lengths(field.name)[r]);
    rows.emplace_back(tensor.data + r * each, bytes);
  }
  return rows;
}

// What model::map_rows does.
struct MapBatch {
  model::BatchMap map;
  void operator()(ps::HostBatch& batch) const {
    const std::uint32_t drawn = batch.rng()();
    u64 valid = 0;
    for (u64 r = 0; r < batch.rows(); ++r) valid += batch.valid(r) ? 1 : 0;
    for (const ps::Field& field : batch.schema()) {
      if (map.adds && field.name == map.added()) continue;
      const std::vector<std::span<std::byte>> rows = rows_of(batch, field);
      std::uint32_t sum = 0;
      for (u64 r = 0; r < rows.size(); ++r)
        for (const std::byte byte : rows[r])
          if (batch.valid(r)) sum += std::to_integer<std::uint32_t>(byte);
      for (u64 r = 0; r < rows.size(); ++r) {
        if (!batch.valid(r)) continue;
        const std::uint32_t add = sum + drawn + batch.rng(r)();
        for (std::byte& byte : rows[r]) byte = static_cast<std::byte>(std::to_integer<std::uint32_t>(byte) + add);
      }
    }
    if (map.adds) {
      const auto added = batch.view<std::uint32_t, 2>(map.added());
      for (u64 r = 0; r < batch.rows(); ++r) {
        if (!batch.valid(r)) continue;
        added(static_cast<std::int64_t>(r), 0) = drawn ^ batch.rng(r)();
        added(static_cast<std::int64_t>(r), 1) = static_cast<std::uint32_t>(valid);
      }
    }
    if ((batch.epoch() + batch.number()) % 5 == map.fails_at) throw std::runtime_error("planted");
  }
};

struct Swap {
  struct Draws {
    std::uint32_t word;
    std::uint32_t live;
  };
  bool works_in_place = false;
  Draws draw(ps::Rng& rng) const { return {rng(), 1}; }
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"b"}; }
  std::string name() const { return "swap"; }
  bool mixes_rows() const { return true; }
  bool in_place() const { return works_in_place; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const auto* const from = reinterpret_cast<const std::int64_t*>(in["b"].data);
    auto* const to = reinterpret_cast<std::int64_t*>(out["b"].data);
    const auto* const draws = reinterpret_cast<const Draws*>(in.draws);
    const u64 rows = in.rows;
    ps::launch_on_host(stream, "swap",
                       [=] {
                         for (u64 r = 0; r < rows; r += 2) {
                           const bool pair = r + 1 < rows && draws[r].live != 0 && draws[r + 1].live != 0;
                           const std::int64_t first = from[r], last = r + 1 < rows ? from[r + 1] : 0;
                           const bool swaps = pair && draws[r].word % 2 != 0;
                           to[r] = swaps ? last : first;
                           if (r + 1 < rows) to[r + 1] = swaps ? first : last;
                         }
                       },
                       {{from, rows * 8, false}, {draws, rows * sizeof(Draws), false}, {to, rows * 8, true}});
  }
};

}  // namespace

namespace random_run {

ps::Pipeline build(const std::shared_ptr<const model::Spec>& spec, bool delays, bool fold) {
  ps::Pipeline p = (spec->per_block != 0              ? ps::from(Blocked{{spec, delays}})
                    : spec->join != model::Join::none ? ps::from(joined({spec, delays}))
                    : !spec->stream                   ? ps::from(Source{spec, delays})
                    : spec->seed % 2 == 0             ? ps::from(Stream{{spec, delays}})
                                                      : ps::from(SeekingStream{{{spec, delays}}})) |
                   ps::seed(spec->seed);
  const std::vector<bool> after = after_batch(*spec);
  const std::optional<std::size_t> cache = cached_before(*spec);
  for (std::size_t i = spec->in_parts; i < after.size(); ++i) {
    if (cache == i) p = p | ps::cache({.max_bytes = cache_bytes(*spec)});
    if (!after[i]) p = join(p, spec->stages[i]);
  }
  if (cache == after.size()) p = p | ps::cache({.max_bytes = cache_bytes(*spec)});
  for (const auto& [field, c] : spec->collates)
    p = p | (c.pads ? ps::pad(field, {.to = static_cast<std::int64_t>(c.to), .value = c.value}) : ps::ragged(field));
  if (!spec->bucket.empty()) p = p | ps::bucket(spec->bucket, {.window = spec->window});
  p = p | ps::on_error({.policy = static_cast<ps::OnError>(spec->policy), .max_count = spec->max_count}) |
      ps::check({.fold = fold}) |
      ps::batch(spec->rows, {.tail = static_cast<ps::Tail>(spec->tail),
                             .max_bytes = spec->max_bytes,
                             .tokens = spec->tokens,
                             .max_tokens = spec->max_tokens});
  for (const model::BatchMap& map : spec->maps) {
    ps::MapBatchesOptions options{.name = map.name};
    if (map.on_caller) options.on = ps::MapBatchesOptions::On::caller;
    if (map.adds) options.adds = {{map.added(), ps::DType::u32, {2}}};
    p = p | ps::map_batches(MapBatch{map}, options);
  }
  for (std::size_t i = 0; i < after.size(); ++i)
    if (after[i]) p = join(p, spec->stages[i]);
  if (spec->swaps) p = p | Swap{};
  return p;
}

}  // namespace random_run
