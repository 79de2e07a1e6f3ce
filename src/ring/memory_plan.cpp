// SPDX-License-Identifier: Apache-2.0
#include "ring/memory_plan.hpp"

#include <algorithm>
#include <limits>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

namespace {

constexpr unsigned min_depth = 2;
constexpr std::size_t min_scratch = 1u << 20;
constexpr std::size_t min_blocks = 8u << 20;
constexpr std::size_t min_growth = std::size_t{1} << 30;
constexpr std::size_t roomy_scratch = 64u << 20;
// The largest factors by which the depth and the number of entries may be raised.
constexpr unsigned most_depth_times = 16, most_entries_times = 64;

// Returns a * b + c, or the largest number if the result is larger.
std::size_t saturating(std::size_t a, std::size_t b, std::size_t c) noexcept {
  std::size_t out = 0;
  return __builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out)
             ? std::numeric_limits<std::size_t>::max()
             : out;
}

std::string mib(std::size_t bytes) {
  // Only whole MiB are given as MiB, because the rounded numbers of a message would not add up.
  return bytes == 0 || bytes % (1u << 20) != 0 ? std::to_string(bytes) + " bytes"
                                               : std::to_string(bytes >> 20) + " MiB";
}

void set_threads(const MemoryRequest& r, unsigned threads, MemoryPlan& plan) {
  plan.threads = threads;
  plan.entries = r.reorder.entries ? r.reorder.entries(threads) : 0;
  plan.shared_records = r.reorder.shared_records ? r.reorder.shared_records(threads) : 0;
}

void plan_pinned(const MemoryRequest& r, MemoryPlan& plan) {
  if (r.max_pinned_bytes == 0 || r.pinned_buffer_bytes == 0) return;
  const std::size_t each = saturating(r.device.count, r.device.rows_bytes, r.pinned_buffer_bytes);
  const std::size_t fit = r.max_pinned_bytes / each;
  if (fit < min_depth)
    throw Error(Errc::out_of_memory, "`max_pinned_bytes` = " + mib(r.max_pinned_bytes) +
                                         " is too small: " + std::to_string(min_depth) + " batches of " + mib(each) +
                                         " need " + mib(saturating(min_depth, each, 0)) +
                                         "; raise it, or lower the batch size or the sample's shape");
  if (fit >= plan.depth) return;
  plan.notes.push_back("`max_pinned_bytes` allows " + std::to_string(fit) + " batches in the ring instead of " +
                       std::to_string(plan.depth));
  plan.depth = static_cast<unsigned>(fit);
}

void plan_device(const MemoryRequest& r, MemoryPlan& plan) {
  constexpr unsigned wanted = 3;  // one batch with the caller, one ready, one being copied
  plan.device_depth = r.device.depth != 0 ? std::max(r.device.depth, min_depth) : wanted;
  const std::size_t each = saturating(1, r.device.rows_bytes, r.device.buffer_bytes);
  if (r.device.max_bytes == 0 || each == 0) return;
  const std::size_t fit = (r.device.max_bytes - std::min(r.device.max_bytes, r.device.fixed_bytes)) / each;
  if (fit < min_depth)
    throw Error(
        Errc::out_of_memory,
        "`max_device_bytes` = " + mib(r.device.max_bytes) + " is too small: " + std::to_string(min_depth) +
            " batches of " + mib(each) +
            (r.device.fixed_bytes == 0 ? "" : " and " + mib(r.device.fixed_bytes) + " for the stages after batch") +
            " need " + mib(saturating(min_depth, each, r.device.fixed_bytes)) +
            "; raise it, or lower the batch size or the sample's shape");
  if (fit >= plan.device_depth) return;
  plan.notes.push_back("`max_device_bytes` allows " + std::to_string(fit) + " batches on the device instead of " +
                       std::to_string(plan.device_depth));
  plan.device_depth = static_cast<unsigned>(fit);
}

// Returns how many bytes the device's limit leaves per batch for fields whose rows differ in size. The result is also
// the limit of each batch of decoded images.
std::size_t device_share(const MemoryRequest& r, const MemoryPlan& plan) {
  if (r.device.max_bytes == 0) return std::numeric_limits<std::size_t>::max();
  const std::size_t taken = saturating(plan.device_depth, r.device.buffer_bytes, r.device.fixed_bytes);
  return (r.device.max_bytes - std::min(r.device.max_bytes, taken)) / (plan.device_depth + r.device.images);
}

void lower_device_rows(MemoryPlan& plan, std::size_t limit, const char* option) {
  if (limit >= plan.device_rows_limit) return;
  plan.device_rows_limit = limit;
  plan.device_rows_option = option;
}

// Limits the bytes of rows that differ in size, on a device and in staging. These rows get what `max_device_bytes` and
// `max_pinned_bytes` leave after fields of fixed size.
void limit_rows(const MemoryRequest& r, MemoryPlan& plan) {
  lower_device_rows(plan, device_share(r, plan), "max_device_bytes");
  if (r.max_pinned_bytes == 0) return;
  const std::size_t taken = saturating(plan.depth, r.pinned_buffer_bytes, 0);
  lower_device_rows(plan, (r.max_pinned_bytes - std::min(r.max_pinned_bytes, taken)) / (plan.depth * r.device.count),
                    "max_pinned_bytes");
}

// Divides `max_memory_bytes`. First lowers one setting after the other until every part gets at least what it needs.
// Then shares out the rest.
class HostShares {
 public:
  HostShares(const MemoryRequest& r, MemoryPlan& plan)
      : r_(r), plan_(plan), wanted_(plan), scratch_(std::max(min_scratch, saturating(2, r.sample_bytes, 0))) {}

  void divide() {
    lower_blocks();
    while (plan_.depth > min_depth && needs_too_much()) --plan_.depth;
    lower_entries();
    lower_threads();
    if (needs_too_much()) refuse();
    note_what_was_lowered();
    plan_growth(r_.max_memory_bytes - needs());
    share_out();
  }

  // If there is no limit, raises may take about as many bytes as the plan needs, or 1 GiB if that is more.
  void grow_without_limit() {
    if (raises()) plan_growth(saturating(2, std::max(needs(), min_growth), 0));
  }

  // Sets how many bytes one more batch or entry takes, and the highest value of each setting. Call this last, because
  // the bytes are known only after the rest was shared out.
  void price_growth() {
    if (!plan_.growth) return;
    TuningBounds& growth = *plan_.growth;
    const bool limited = plan_.buffer_limit != MemoryPlan::unlimited;
    growth.depth_bytes = saturating(places(), limited ? plan_.buffer_limit : r_.append_buffer, r_.buffer_bytes);
    growth.entry_bytes =
        r_.reorder.row_bytes + (plan_.entry_limit != MemoryPlan::unlimited ? plan_.entry_limit : r_.reorder.append_row);
    const auto affordable = [&](std::size_t each) { return growth.bytes / std::max<std::size_t>(each, 1); };
    if (r_.raises.depth && highest_depth() > plan_.depth)
      growth.most.depth +=
          static_cast<unsigned>(std::min<std::size_t>(highest_depth() - plan_.depth, affordable(growth.depth_bytes)));
    if (r_.raises.entries && plan_.entries != 0)
      growth.most.entries =
          std::clamp((affordable(growth.entry_bytes) - std::min(affordable(growth.entry_bytes), r_.reorder.held)) / 2,
                     plan_.entries, std::size_t{most_entries_times} * plan_.entries);
    if (r_.raises.blocks && r_.blocks) growth.most.block_limit = saturating(1, plan_.block_limit, growth.bytes);
    if (growth.most == plan_.first() && !growth.tunes_threads) plan_.growth.reset();
  }

 private:
  // Each runner needs a ChainRun with scratch. The caller's thread needs one too, because it may make samples.
  std::size_t runs() const { return runs_of(plan_.threads + 1); }
  std::size_t runs_of(unsigned threads) const { return std::size_t{threads} * (r_.reorder.stand_ins ? 2 : 1); }
  bool raises() const {
    return r_.raises.most_threads != 0 || r_.raises.depth || r_.raises.entries || r_.raises.blocks;
  }
  std::size_t places() const { return r_.device.rows_bytes != 0 ? 2 : 1; }
  unsigned highest_depth() const {
    const unsigned highest = most_depth_times * plan_.depth;
    // A device keeps the staging memory of rows that differ in size until the run ends, so the depth is not raised.
    if (r_.device.rows_bytes != 0) return plan_.depth;
    if (r_.max_pinned_bytes == 0 || r_.pinned_buffer_bytes == 0) return highest;
    // Rows that differ in size already get the rest of the pinned limit, so no pinned memory is left for more batches.
    if (r_.append_buffer != 0) return plan_.depth;
    return static_cast<unsigned>(std::min<std::size_t>(highest, r_.max_pinned_bytes / r_.pinned_buffer_bytes));
  }

  // Plans further runners, each with scratch for a large image. `left`: bytes that remain after the needs. If memory is
  // limited, the further runners get at most a quarter of `left`. Raises of batches, entries and blocks get half of the
  // bytes that remain after the further runners' least scratch.
  void plan_growth(std::size_t left) {
    if (!raises()) return;
    TuningBounds& growth = plan_.growth.emplace();
    growth.first = growth.most = plan_.first();
    growth.tunes_threads = r_.raises.most_threads != 0;
    growth.held = r_.reorder.held;
    const std::size_t each = runs_of(1) * (scratch_ + roomy_scratch);
    std::size_t more = std::max(r_.raises.most_threads, plan_.threads) - plan_.threads;
    if (r_.max_memory_bytes != 0) more = std::min(more, left / 4 / each);
    growth.most.threads = plan_.threads + static_cast<unsigned>(more);
    const auto held = [](bool raises) { return raises ? RaiseLimit::limits : RaiseLimit::option; };
    growth.threads_by = r_.raises.most_threads == 0                     ? RaiseLimit::option
                        : growth.most.threads >= r_.raises.most_threads ? RaiseLimit::executor
                                                                        : RaiseLimit::limits;
    growth.depth_by = held(r_.raises.depth);
    growth.entries_by = r_.raises.stream ? RaiseLimit::stream : held(r_.raises.entries);
    growth.blocks_by = held(r_.raises.blocks);
    growth.bytes = (left - std::min(left, more_scratch())) / 2;
  }
  // Returns the least bytes of scratch for all the runners that may be added.
  std::size_t more_scratch() const {
    return plan_.growth ? runs_of(plan_.growth->most.threads - plan_.threads) * scratch_ : 0;
  }
  std::size_t needs() const {
    const std::size_t rows = saturating(plan_.entries + r_.reorder.held, r_.reorder.row_bytes + r_.reorder.append_row,
                                        saturating(plan_.depth, r_.buffer_bytes + r_.append_buffer, 0));
    std::size_t device = saturating(plan_.device_depth, r_.device.notes_bytes, rows);
    if (r_.device.is_host)
      device = saturating(plan_.device_depth, r_.device.buffer_bytes, saturating(1, r_.device.fixed_bytes, device));
    return saturating(
        runs(), scratch_,
        saturating(plan_.shared_records, r_.reorder.shared_record_bytes, saturating(1, plan_.block_limit, device)));
  }
  bool needs_too_much() const { return needs() > r_.max_memory_bytes; }

  // By default blocks get half of `max_memory_bytes`, at least 8 MiB and at most 512 MiB. If the needs of the other
  // parts don't fit beside this, blocks get less, but at least 8 MiB.
  void lower_blocks() {
    if (r_.max_block_bytes != 0) return;
    if (r_.blocks) plan_.block_limit = std::clamp(r_.max_memory_bytes / 2, min_blocks, default_block_bytes);
    wanted_.block_limit = plan_.block_limit;
    if (needs_too_much())
      plan_.block_limit -=
          std::min(plan_.block_limit - std::min(plan_.block_limit, min_blocks), needs() - r_.max_memory_bytes);
    if (plan_.block_limit < default_block_bytes) plan_.block_option = "max_memory_bytes";
  }
  void lower_entries() {
    const std::size_t least = std::min<std::size_t>(plan_.entries, std::size_t{4} * plan_.threads);
    if (!needs_too_much() || plan_.entries <= least) return;
    const std::size_t row = std::max<std::size_t>(r_.reorder.row_bytes + r_.reorder.append_row, 1);
    const std::size_t over = (needs() - r_.max_memory_bytes + row - 1) / row;
    plan_.entries = std::max(least, plan_.entries - std::min(plan_.entries, over));
  }
  void lower_threads() {
    while (plan_.threads > 1 && needs_too_much()) {
      set_threads(r_, plan_.threads - 1, plan_);
      plan_.entries = std::min<std::size_t>(plan_.entries, std::size_t{4} * plan_.threads);
    }
  }

  [[noreturn]] void refuse() const {
    const MemoryPlan& plan = plan_;
    throw Error(Errc::out_of_memory,
                "`max_memory_bytes` = " + mib(r_.max_memory_bytes) + " is too small: " + std::to_string(min_depth) +
                    " batches of " + mib(r_.buffer_bytes + r_.append_buffer) +
                    (plan.entries == 0
                         ? ""
                         : ", " + std::to_string(plan.entries + r_.reorder.held) + " samples of " +
                               mib(r_.reorder.row_bytes + r_.reorder.append_row) + " that wait for those before them") +
                    " and working memory of " + mib(scratch_) + " each for 1 runner" +
                    (plan.shared_records == 0 ? ""
                                              : ", " + std::to_string(plan.shared_records) + " shared records of " +
                                                    mib(r_.reorder.shared_record_bytes)) +
                    (plan.block_limit == 0 ? "" : ", " + mib(plan.block_limit) + " of blocks that records share") +
                    " and the caller need " + mib(needs()) +
                    "; raise it, or lower the batch size or the sample's shape" +
                    (plan.shared_records > 4 ? ", or the window of a stream's shuffle" : "") +
                    (r_.max_block_bytes != 0 ? ", or `max_block_bytes`" : "") +
                    (r_.reorder.held != 0 ? ", or the window of `bucket`" : ""));
  }

  void note_what_was_lowered() {
    const auto note = [&](const std::string& now, const std::string& of, const std::string& wanted) {
      plan_.notes.push_back("`max_memory_bytes` allows " + now + " " + of + " instead of " + wanted);
    };
    if (plan_.block_limit < wanted_.block_limit)
      note(mib(plan_.block_limit), "of blocks that records share", mib(wanted_.block_limit));
    if (plan_.depth < wanted_.depth)
      note(std::to_string(plan_.depth), "batches in the ring", std::to_string(wanted_.depth));
    if (plan_.entries < wanted_.entries)
      note(std::to_string(plan_.entries), "finished samples to wait for those before them",
           std::to_string(wanted_.entries));
    if (plan_.threads < r_.threads) note(std::to_string(plan_.threads), "runners", std::to_string(r_.threads));
  }

  // Shares out the bytes that remain after needs and raises. If some fields have rows that differ in size, these fields
  // get half of these bytes: the same number for each row of a buffer and for each waiting sample. Runners and shared
  // records get the other bytes.
  void share_out() {
    const std::size_t left = r_.max_memory_bytes - needs() - more_scratch() - (plan_.growth ? plan_.growth->bytes : 0);
    const std::size_t for_rows = r_.append_buffer != 0 ? left / 2 : 0;
    const std::size_t more = (left - for_rows) / (runs_of(plan_.most().threads + 1) + plan_.shared_records);
    plan_.scratch_limit = scratch_ + more;
    plan_.shared_record_limit = r_.reorder.shared_record_bytes + more;
    if (r_.append_buffer == 0) return;
    const std::size_t rows = static_cast<std::size_t>(r_.rows);
    const std::size_t waiting = plan_.entries != 0 ? plan_.entries + r_.reorder.held : 0;
    const std::size_t each = for_rows / (saturating(plan_.depth, rows, waiting));
    // With a device, these rows need memory twice: in the ring, and where they are packed for the copy. Each of these
    // two memories gets half of the bytes.
    plan_.buffer_limit = saturating(rows, each, r_.append_buffer) / places();
    if (places() == 2) lower_device_rows(plan_, plan_.buffer_limit / r_.device.count, "max_memory_bytes");
    plan_.entry_limit = r_.reorder.append_row + each;
  }

  const MemoryRequest& r_;
  MemoryPlan& plan_;
  MemoryPlan wanted_;
  const std::size_t scratch_;  // the least bytes of scratch for one ChainRun
};

}  // namespace

MemoryPlan plan_memory(const MemoryRequest& r) {
  MemoryPlan plan;
  // By default the caller has one batch, one batch is ready, and at least two batches are being filled. Together, the
  // batches being filled have at least two rows per runner, unless that takes more than 4,096 batches in all.
  const std::uint64_t filling = std::max<std::uint64_t>(2, (2ull * r.threads + r.rows - 1) / r.rows);
  plan.depth =
      r.depth != 0 ? std::max(r.depth, min_depth) : static_cast<unsigned>(std::min<std::uint64_t>(2 + filling, 4096));
  plan.wanted_threads = r.threads;
  set_threads(r, r.threads, plan);
  plan_pinned(r, plan);
  plan_device(r, plan);
  limit_rows(r, plan);
  plan.device_images_limit = device_share(r, plan);
  if (r.blocks) plan.block_limit = r.max_block_bytes != 0 ? r.max_block_bytes : default_block_bytes;
  HostShares shares(r, plan);
  if (r.max_memory_bytes != 0)
    shares.divide();
  else
    shares.grow_without_limit();
  shares.price_growth();
  return plan;
}

}  // namespace penstock::detail::runtime
