// SPDX-License-Identifier: Apache-2.0
// Random numbers, and which records an epoch has.
#include <algorithm>
#include <cmath>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/model/model_parts.hpp"

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

bool is_order(Kind kind) { return kind <= Kind::draw_balanced; }

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
  std::map<std::string, u64> before, in_second;
  std::vector<Keyed> out;
  for (const Stage& s : spec.stages) {
    // A part counts its own stages, and the whole begins again.
    if (out.size() == spec.in_parts) before.clear();
    const bool second = out.size() < spec.in_parts && spec.join == Join::zip && of_second_part(s);
    std::string name = s.name.empty() ? name_of(s.kind) : s.name;
    if (s.kind == Kind::split && s.by_key) name = "select";
    u64& of_name = (second ? in_second : before)[name];
    out.push_back({&s, hash(name, of_name++), out.size() < spec.in_parts});
  }
  return out;
}

// Some parts have less than their share, so that they fall out.
std::vector<u64> parts_of(const Spec& spec) {
  std::vector<u64> sizes(spec.parts, 0), out;
  for (u64 i = 0; i < spec.records; ++i) ++sizes[i % (i % 3 == 0 ? 1 : spec.parts)];
  if (spec.join == Join::concat) {
    for (u64 part = 0; part < spec.parts; ++part) out.insert(out.end(), sizes[part], part);
    return out;
  }
  for (u64 part = 0; out.size() < spec.records; part = (part + 1) % spec.parts)
    for (u64 i = 0; i < spec.turn && sizes[part] != 0; ++i, --sizes[part]) out.push_back(part);
  return out;
}

namespace {

// Runs of records of one block, in random order; each window of them, record by record, in random order again.
std::vector<u64> block_shuffle(const std::vector<u64>& in, const Stage& stage, u64 key) {
  std::vector<std::vector<u64>> runs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i == 0 || in[i] / stage.m != in[i - 1] / stage.m) runs.emplace_back();
    runs.back().push_back(in[i]);
  }
  Draws draws(key, 0x626c6f636b73, {});
  for (u64 i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[draws.below(i)]);
  const u64 window = stage.n == 0 ? 16 : stage.n;
  std::vector<u64> out;
  for (u64 first = 0; first < runs.size(); first += window) {
    std::vector<u64> pool;
    for (u64 r = first; r < std::min<u64>(first + window, runs.size()); ++r)
      pool.insert(pool.end(), runs[r].begin(), runs[r].end());
    for (const u64 p : permutation(pool.size(), hash(key, first / window))) out.push_back(pool[p]);
  }
  return out;
}

// Weights as shares of 2^60, all 1 where they are equal.
std::vector<u64> shares_of(const std::vector<u64>& weights) {
  std::vector<u64> out;
  double sum = 0;
  const u64 largest = *std::ranges::max_element(weights), least = *std::ranges::min_element(weights);
  for (const u64 w : weights) sum += static_cast<double>(w) / static_cast<double>(largest);
  for (const u64 w : weights)
    out.push_back(largest == least ? 1
                                   : static_cast<u64>(static_cast<double>(w) / static_cast<double>(largest) / sum *
                                                      1152921504606846976.0));
  return out;
}

// Walker's method: a column each, of which what is too low is filled up from the last one that is high enough.
std::vector<u64> weighted(u64 key, u64 epoch, u64 count, const std::vector<u64>& shares) {
  struct Column {
    unsigned __int128 own;
    u64 other;
  };
  u64 sum = 0;
  for (const u64 share : shares) sum += share;
  std::vector<Column> columns;
  std::vector<u64> low, high;
  for (u64 i = 0; i < shares.size(); ++i) {
    columns.push_back({static_cast<unsigned __int128>(shares[i]) * shares.size(), i});
    (columns[i].own < sum ? low : high).push_back(i);
  }
  std::vector<unsigned __int128> left;
  for (const Column& c : columns) left.push_back(c.own);
  for (Column& c : columns) c.own = sum;
  while (!low.empty()) {
    const u64 poor = low.back(), rich = high.back();
    low.pop_back();
    columns[poor] = {left[poor], rich};
    left[rich] -= sum - left[poor];
    if (left[rich] >= sum) continue;
    high.pop_back();
    low.push_back(rich);
  }
  std::vector<u64> out;
  for (u64 p = 0; p < count; ++p) {
    Draws draws(key, 0x64726177, {epoch, p, 0, 0});
    const u64 i = draws.below(shares.size());
    out.push_back(draws.below(sum) < columns[i].own ? i : columns[i].other);
  }
  return out;
}

// A class, all as likely, and one of its records.
std::vector<u64> balanced(u64 key, u64 epoch, u64 count, const std::vector<u64>& classes) {
  std::map<u64, std::vector<u64>> members;
  for (u64 i = 0; i < classes.size(); ++i) members[classes[i]].push_back(i);
  std::vector<u64> out;
  for (u64 p = 0; p < count; ++p) {
    Draws draws(key, 0x64726177, {epoch, p, 0, 0});
    const auto& of = std::next(members.begin(), static_cast<std::ptrdiff_t>(draws.below(members.size())))->second;
    static_cast<void>(draws.below(members.size()));  // of the column, which is its own
    out.push_back(of[draws.below(of.size())]);
  }
  return out;
}

}  // namespace

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
    case Kind::block_shuffle:
      return block_shuffle(in, *stage, hash(hash(spec.seed, key), epoch));
    case Kind::draw_weighted:
      for (const u64 p : weighted(hash(spec.seed, key), epoch, stage->n, shares_of(stage->list))) out.push_back(in[p]);
      break;
    case Kind::draw_balanced:
      for (const u64 p : balanced(hash(spec.seed, key), epoch, stage->n, stage->list)) out.push_back(in[p]);
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
