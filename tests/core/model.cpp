#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace model {

namespace {

// -- hashes and random numbers --

u64 hash(const std::string& text, u64 seed) { return XXH3_64bits_withSeed(text.data(), text.size(), seed); }
u64 hash(u64 a, u64 b) {
  const u64 both[2] = {a, b};
  return XXH3_64bits(both, sizeof both);
}

using Block = std::array<std::uint32_t, 4>;
Block philox(Block c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const u64 p = u64{0xD2511F53} * c[0], q = u64{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p)};
  }
  return c;
}

struct Place {
  u64 epoch = 0, position = 0;
  std::uint32_t attempt = 0;
};
// The numbers of one stage at one place: words of blocks 0, 1, 2, …
class Draws {
 public:
  Draws(u64 seed, u64 stage, const Place& place) : place_(place) {
    const auto low = [](u64 v) { return static_cast<std::uint32_t>(v); };
    const auto high = [](u64 v) { return static_cast<std::uint32_t>(v >> 32); };
    const Block key = philox({low(stage), high(stage), low(place.epoch), high(place.epoch)}, low(seed), high(seed));
    k0_ = key[0];
    k1_ = key[1];
  }
  std::uint32_t word() {
    const u64 n = next_++;
    const Block block =
        philox({static_cast<std::uint32_t>(place_.position), static_cast<std::uint32_t>(place_.position >> 32), 0,
                (place_.attempt << 24) + static_cast<std::uint32_t>(n / 4)},
               k0_, k1_);
    return block[n % 4];
  }
  u64 two_words() {
    const u64 low = word();
    return low | u64{word()} << 32;
  }
  double uniform() { return static_cast<double>(two_words() >> 11) / 9007199254740992.0; }
  u64 below(u64 n) {
    for (;;) {
      const auto product = static_cast<unsigned __int128>(two_words()) * n;
      // Refused where the low half falls into the part that would make some values likelier.
      if (static_cast<u64>(product) >= (0 - n) % n) return static_cast<u64>(product >> 64);
    }
  }

 private:
  Place place_;
  std::uint32_t k0_ = 0, k1_ = 0;
  u64 next_ = 0;
};

// A permutation of n, whole. Up to 256 a Fisher-Yates shuffle, above a Feistel network that is walked until it is
// inside.
std::vector<u64> permutation(u64 n, u64 key) {
  std::vector<u64> out(n);
  for (u64 i = 0; i < n; ++i) out[i] = i;
  Draws draws(key, 0x62696a656374696f, {});
  if (n <= 256) {
    for (u64 i = n; i > 1; --i) std::swap(out[i - 1], out[draws.below(i)]);
    return out;
  }
  unsigned bits = 0;
  while ((u64{1} << bits) < n) ++bits;
  const unsigned low_bits = bits / 2;
  const u64 low_mask = (u64{1} << low_bits) - 1, high_mask = (u64{1} << (bits - low_bits)) - 1;
  std::array<u64, 8> keys{};
  for (u64& k : keys) k = draws.two_words();
  const auto f = [](u64 v, u64 k) {
    u64 x = (v + k) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 32)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 29);
  };
  for (u64& v : out) do {
      u64 low = v & low_mask, high = v >> low_bits;
      for (std::size_t r = 0; r < 8; r += 2) {
        high ^= f(low, keys[r]) & high_mask;
        low ^= f(high, keys[r + 1]) & low_mask;
      }
      v = high << low_bits | low;
    } while (v >= n);
  return out;
}

// -- orders: an epoch as a list of source indices, built from the source outwards --

bool is_order(Kind kind) { return kind <= Kind::split; }

double edge(const Stage& s, u64 part) {
  if (part == 0) return 0;
  if (part >= s.shares.size()) return 1;
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < s.shares.size(); ++i) {
    total += s.shares[i];
    if (i < part) sum += s.shares[i];
  }
  return sum / total;
}

struct Keyed {
  const Stage* stage;
  u64 key;
};
// Each stage's key hashes its name and how many of that name stand before it.
std::vector<Keyed> keyed(const Spec& spec) {
  std::map<std::string, u64> before;
  std::vector<Keyed> out;
  for (const Stage& s : spec.stages) {
    std::string name =
        s.kind == Kind::in_place || s.kind == Kind::new_field || s.kind == Kind::whole ? s.name : name_of(s.kind);
    if (s.kind == Kind::split && s.by_key) name = "select";
    out.push_back({&s, hash(name, before[name]++)});
  }
  return out;
}

std::vector<u64> order(const Spec& spec, const std::vector<Keyed>& stages, std::size_t count, u64 epoch) {
  while (count > 0 && !is_order(stages[count - 1].stage->kind)) --count;
  std::vector<u64> out;
  if (count == 0) {
    for (u64 i = 0; i < spec.records; ++i) out.push_back(i);
    return out;
  }
  const Stage* stage = stages[count - 1].stage;
  const u64 key = stages[count - 1].key;
  if (stage->kind == Kind::repeat) {
    for (u64 r = 0; r < stage->n; ++r) {
      const auto part = order(spec, stages, count - 1, epoch * stage->n + r);
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }
  const std::vector<u64> in = order(spec, stages, count - 1, epoch);
  switch (stage->kind) {
    case Kind::shuffle:
      for (const u64 p : permutation(in.size(), hash(hash(spec.seed, key), epoch))) out.push_back(in[p]);
      break;
    case Kind::take:
      out.assign(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(stage->n, in.size())));
      break;
    case Kind::skip:
      out.assign(in.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(stage->n, in.size())), in.end());
      break;
    case Kind::select:
      for (const u64 p : stage->list) out.push_back(in[p]);
      break;
    default: {
      if (stage->by_key) {
        for (const u64 i : in) {
          const double u = static_cast<double>(hash("k" + std::to_string(i), stage->m) >> 11) / 9007199254740992.0;
          if (u >= edge(*stage, stage->n) && u < edge(*stage, stage->n + 1)) out.push_back(i);
        }
        break;
      }
      const auto at = [&](u64 part) {
        return static_cast<u64>(std::llround(edge(*stage, part) * static_cast<double>(in.size())));
      };
      const auto p = permutation(in.size(), hash(stage->m, 0x73706c6974));
      for (u64 i = at(stage->n); i < at(stage->n + 1); ++i) out.push_back(in[p[i]]);
    }
  }
  return out;
}

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

struct Failure {
  std::string code, stage, cause;
  u64 index;
  bool fatal;
};

Failure failure(Fault fault, std::string stage, u64 index) {
  static const char* const codes[] = {"corrupt", "io", "user", "user", "invalid_argument"};
  static const char* const causes[] = {"planted damage", "planted read error", "planted exception",
                                       "an exception that is no std::exception", "planted mistake"};
  const auto i = static_cast<std::size_t>(fault);
  return {codes[i], std::move(stage), causes[i], index, fault == Fault::fatal};
}

void image(const Stage& s, Value& v, Draws draws, u64 index) {
  const u64 h = v.shape[0], w = v.shape[1];
  const auto rebuild = [&](u64 height, u64 width, auto from) {  // from(y, x) names the old pixel
    std::vector<u64> out;
    for (u64 y = 0; y < height; ++y)
      for (u64 x = 0; x < width; ++x) {
        const auto [oy, ox] = from(y, x);
        for (u64 c = 0; c < 3; ++c) out.push_back(v.n[(oy * w + ox) * 3 + c]);
      }
    v.n = out;
    v.shape = {height, width, 3};
  };
  using At = std::pair<u64, u64>;
  if (s.kind == Kind::crop) {
    if (h < s.n || w < s.m) throw Failure{"unsupported", "random_crop(img)", "the image is too small", index, false};
    const u64 top = draws.below(h - s.n + 1), left = draws.below(w - s.m + 1);
    rebuild(s.n, s.m, [&](u64 y, u64 x) { return At{top + y, left + x}; });
  } else if (s.kind == Kind::flip) {
    if (draws.uniform() < 0.5) rebuild(h, w, [&](u64 y, u64 x) { return At{y, w - 1 - x}; });
  } else {
    const u64 quarters = draws.below(4);
    if (quarters == 1) rebuild(w, h, [&](u64 y, u64 x) { return At{x, w - 1 - y}; });
    if (quarters == 2) rebuild(h, w, [&](u64 y, u64 x) { return At{h - 1 - y, w - 1 - x}; });
    if (quarters == 3) rebuild(w, h, [&](u64 y, u64 x) { return At{h - 1 - x, y}; });
  }
}

void apply(const Spec& spec, const Keyed& keyed, Sample& sample, const Place& place, u64 index) {
  const Stage& s = *keyed.stage;
  const std::string label = s.kind == Kind::whole ? s.name : s.name + "(" + s.field + ")";
  if (const auto fault = s.faults.find(index); fault != s.faults.end()) throw failure(fault->second, label, index);
  Draws draws(spec.seed, keyed.key, place);
  switch (s.kind) {
    case Kind::in_place:
      for (u64& v : at(sample, s.field).n)
        v = s.field == "a" ? static_cast<std::uint32_t>(v * 3 + 1 + draws.below(1000)) : v + draws.below(77);
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
      if (s.m != 0) put(sample, {s.out, {2}, {}, {draws.word(), index & 0xffffffff}, 4});
      if (s.drops) std::erase_if(sample, [](const Value& v) { return v.name == "b"; });
      break;
    }
    case Kind::select_fields: {
      Sample kept;
      for (const std::string& name : s.names) kept.push_back(at(sample, name));
      sample = std::move(kept);
      break;
    }
    default:
      if (s.kind >= Kind::crop) image(s, at(sample, "img"), draws, index);
  }
}

Sample make(const Spec& spec, const std::vector<Keyed>& stages, const Place& place, u64 index) {
  if (const auto fault = spec.faults.find(index); fault != spec.faults.end())
    throw failure(fault->second, "read", index);
  Sample sample(3);
  sample[0] = {"a", {spec.width}, {}, {}, 4};
  for (u64 j = 0; j < spec.width; ++j) sample[0].n.push_back(a_of(index, j));
  sample[1] = {"b", {}, {}, {index * 5}, 8};
  sample[2] = {"img", {height_of(index), width_of(index), 3}, {}, {}, 1};
  for (u64 k = 0; k < height_of(index) * width_of(index) * 3; ++k) sample[2].n.push_back(pixel_of(index, k));
  for (const Keyed& s : stages) apply(spec, s, sample, place, index);
  return sample;
}

// -- batches --

using Row = std::vector<std::vector<std::uint8_t>>;  // bytes of each field

Row bytes_of(const Sample& sample) {
  Row row;
  for (const Value& v : sample) {
    std::vector<std::uint8_t> bytes(v.f.size() * 8);
    if (!v.f.empty()) std::memcpy(bytes.data(), v.f.data(), bytes.size());
    for (const u64 n : v.n)
      for (unsigned b = 0; b < v.bytes; ++b) bytes.push_back(static_cast<std::uint8_t>(n >> (8 * b)));
    row.push_back(std::move(bytes));
  }
  return row;
}

// The sizes of a row's fields don't depend on the record: those of any record that no stage finds too small, all zeros.
Row zero_row(Spec spec) {
  spec.faults.clear();
  for (Stage& s : spec.stages) s.faults.clear();
  const auto stages = keyed(spec);
  for (u64 i = 0; i < 10'000; ++i) {
    try {
      Row row = bytes_of(make(spec, stages, {0, i, 0}, i));
      for (auto& field : row) std::ranges::fill(field, std::uint8_t{0});
      return row;
    } catch (const Failure&) {
    }
  }
  return {};
}

}  // namespace

u64 size_of(const Spec& spec) { return order(spec, keyed(spec), spec.stages.size(), 0).size(); }

std::vector<Event> run(const Spec& spec, u64 epochs, u64& acted) {
  const std::vector<Keyed> stages = keyed(spec);
  std::vector<Event> events;
  const Row zeros = zero_row(spec);
  acted = 0;
  for (u64 epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<u64> positions = order(spec, stages, stages.size(), epoch);
    bool ended = false;
    for (u64 first = 0; first < positions.size() && !ended; first += spec.rows) {
      const u64 valid = std::min<u64>(spec.rows, positions.size() - first);
      if (valid < spec.rows && spec.tail == Tail::drop) break;
      Event event;
      event.epoch = epoch;
      event.number = first / spec.rows;
      std::vector<std::optional<Row>> rows;
      u64 acted_now = acted;
      const auto fails = [&](const Failure& f) {
        event = {true, epoch, first / spec.rows, {}, {}, {}, f.code, f.stage, f.cause, f.index};
        ended = true;
      };
      for (u64 r = 0; r < valid && !ended; ++r) {
        Place place{epoch, first + r, 0};
        u64 index = positions[first + r];
        Failure wanted;  // of the record that was to stand there
        for (;;) {
          try {
            rows.emplace_back(bytes_of(make(spec, stages, place, index)));
            event.indices.push_back(index), event.mask.push_back(1);
            break;
          } catch (const Failure& f) {
            if (place.attempt == 0) wanted = f;
            const bool exhausted = spec.policy == Policy::replace && place.attempt == 8;
            if (place.attempt == 0 && !f.fatal && spec.policy != Policy::fail && ++acted_now > spec.max_count)
              fails({"quota_exceeded", f.stage, "", f.index, true});
            else if (spec.policy == Policy::fail || f.fatal || exhausted) {
              if (exhausted && !f.fatal) wanted.cause += " (so did its stand-ins)";
              fails(exhausted && !f.fatal ? wanted : f);
            } else if (spec.policy == Policy::mask) {
              rows.emplace_back(), event.indices.push_back(index), event.mask.push_back(0);
            }
            if (ended || spec.policy == Policy::mask) break;
          }
          ++place.attempt;
          index = positions[Draws(spec.seed, 0x7265706c616365, place).below(positions.size())];
        }
      }
      if (!ended) {
        acted = acted_now;
        if (spec.tail == Tail::pad) {
          rows.resize(spec.rows);
          event.indices.resize(spec.rows, ~u64{0});
          event.mask.resize(spec.rows, 0);
        }
        for (std::size_t f = 0; f < zeros.size(); ++f)
          for (const auto& row : rows) {
            const auto& bytes = row ? (*row)[f] : zeros[f];
            event.bytes.insert(event.bytes.end(), bytes.begin(), bytes.end());
          }
      }
      events.push_back(std::move(event));
    }
  }
  return events;
}

}  // namespace model
