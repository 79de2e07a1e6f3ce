// Random numbers, and which records an epoch has.
#include <algorithm>
#include <cmath>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model_parts.hpp"

namespace model {

// -- hashes and random numbers --

u64 hash(const std::string& text, u64 seed) { return XXH3_64bits_withSeed(text.data(), text.size(), seed); }
u64 hash(u64 a, u64 b) {
  const u64 both[2] = {a, b};
  return XXH3_64bits(both, sizeof both);
}

namespace {

using Block = std::array<std::uint32_t, 4>;
Block philox(Block c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const u64 p = u64{0xD2511F53} * c[0], q = u64{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p)};
  }
  return c;
}

}  // namespace

Draws::Draws(u64 seed, u64 stage, const Place& place) : place_(place) {
  const auto low = [](u64 v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](u64 v) { return static_cast<std::uint32_t>(v >> 32); };
  const Block key = philox({low(stage), high(stage), low(place.epoch), high(place.epoch)}, low(seed), high(seed));
  k0_ = key[0];
  k1_ = key[1];
}
// Words of blocks 0, 1, 2, …
std::uint32_t Draws::word() {
  const u64 n = next_++;
  const Block block =
      philox({static_cast<std::uint32_t>(place_.position), static_cast<std::uint32_t>(place_.position >> 32),
              place_.child, (place_.attempt << 24) + static_cast<std::uint32_t>(n / 4)},
             k0_, k1_);
  return block[n % 4];
}
u64 Draws::two_words() {
  const u64 low = word();
  return low | u64{word()} << 32;
}
double Draws::uniform() { return static_cast<double>(two_words() >> 11) / 9007199254740992.0; }
u64 Draws::below(u64 n) {
  for (;;) {
    const auto product = static_cast<unsigned __int128>(two_words()) * n;
    // Refused where the low half falls into the part that would make some values likelier.
    if (static_cast<u64>(product) >= (0 - n) % n) return static_cast<u64>(product >> 64);
  }
}

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

namespace {

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

}  // namespace

// Each stage's key hashes its name and how many of that name stand before it.
std::vector<Keyed> keyed(const Spec& spec) {
  std::map<std::string, u64> before;
  std::vector<Keyed> out;
  for (const Stage& s : spec.stages) {
    std::string name = s.name.empty() ? name_of(s.kind) : s.name;
    if (s.kind == Kind::split && s.by_key) name = "select";
    out.push_back({&s, hash(name, before[name]++)});
  }
  return out;
}

// A stream's records, up to the one whose reading ends it. A shuffle permutes blocks of n, each for itself.
std::vector<u64> stream_order(const Spec& spec, const std::vector<Keyed>& stages, u64 epoch) {
  u64 end = spec.records;
  for (const auto& [index, fault] : spec.faults)
    if (spec.policy == Policy::fail || fault == Fault::fatal) end = std::min(end, index);
  std::vector<u64> out;
  const auto shuffle = std::ranges::find_if(stages, [](const Keyed& k) { return k.stage->kind == Kind::shuffle; });
  if (shuffle == stages.end()) {
    for (u64 i = 0; i < end; ++i) out.push_back(i);
  } else {
    const u64 window = shuffle->stage->n;
    for (u64 block = 0; block * window < end; ++block)
      for (const u64 i :
           permutation(std::min(window, end - block * window), hash(hash(hash(spec.seed, shuffle->key), epoch), block)))
        out.push_back(block * window + i);
  }
  if (end != spec.records) out.push_back(end);
  return out;
}

std::vector<u64> order(const Spec& spec, const std::vector<Keyed>& stages, std::size_t count, u64 epoch) {
  while (count > 0 && !is_order(stages[count - 1].stage->kind)) --count;
  std::vector<u64> out;
  if (spec.stream) return stream_order(spec, stages, epoch);
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

}  // namespace model
