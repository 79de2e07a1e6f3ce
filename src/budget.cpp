#include "budget.hpp"

#include <algorithm>
#include <limits>

#include <penstock/error.hpp>

namespace penstock::detail {

namespace {

constexpr unsigned least_depth = 2;
constexpr std::size_t least_scratch = 1u << 20;

// a * b + c, or the largest number there is.
std::size_t saturating(std::size_t a, std::size_t b, std::size_t c) noexcept {
  std::size_t out = 0;
  return __builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out)
             ? std::numeric_limits<std::size_t>::max()
             : out;
}

std::string mib(std::size_t bytes) {
  return bytes < (1u << 20) ? std::to_string(bytes) + " bytes"
                            : std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

}  // namespace

Budget resolve_budget(const BudgetRequest& r) {
  Budget b;
  b.threads = r.threads;
  // One batch with the caller, one ready, and enough being filled that every runner has a row.
  const std::uint64_t filling = std::max<std::uint64_t>(2, (2ull * r.threads + r.rows - 1) / r.rows);
  b.depth =
      r.depth != 0 ? std::max(r.depth, least_depth) : static_cast<unsigned>(std::min<std::uint64_t>(2 + filling, 4096));
  b.scratch_limit = std::numeric_limits<std::size_t>::max();
  if (r.memory == 0) return b;

  const std::size_t scratch = std::max(least_scratch, saturating(2, r.sample_bytes, 0));
  // The caller may run samples too, so there is one share more than runners.
  const auto needs = [&](unsigned depth, unsigned threads) {
    return saturating(depth, r.slot_bytes, saturating(threads + std::size_t{1}, scratch, 0));
  };
  const unsigned depth = b.depth, threads = b.threads;
  while (b.depth > least_depth && needs(b.depth, b.threads) > r.memory) --b.depth;
  while (b.threads > 1 && needs(b.depth, b.threads) > r.memory) --b.threads;
  if (needs(b.depth, b.threads) > r.memory)
    throw Error(Errc::out_of_memory, "`memory` = " + mib(r.memory) + " is too small: " + std::to_string(least_depth) +
                                         " batches of " + mib(r.slot_bytes) + " and working memory of " + mib(scratch) +
                                         " for 1 runner and the caller need " + mib(needs(least_depth, 1)) +
                                         "; raise it, or lower the batch size or the sample's shape");
  if (b.depth < depth)
    b.notes.push_back("`memory` allows " + std::to_string(b.depth) + " batches in the ring instead of " +
                      std::to_string(depth));
  if (b.threads < threads)
    b.notes.push_back("`memory` allows " + std::to_string(b.threads) + " runners instead of " +
                      std::to_string(threads));
  b.scratch_limit = (r.memory - b.depth * r.slot_bytes) / (b.threads + std::size_t{1});
  return b;
}

}  // namespace penstock::detail
