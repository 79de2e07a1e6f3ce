#include "ring/memory_plan.hpp"

#include <algorithm>
#include <limits>

#include <penstock/error.hpp>

namespace penstock::detail {

namespace {

constexpr unsigned min_depth = 2;
constexpr std::size_t min_scratch = 1u << 20;
constexpr std::size_t min_blocks = 8u << 20;

// a * b + c, or the largest number there is.
std::size_t saturating(std::size_t a, std::size_t b, std::size_t c) noexcept {
  std::size_t out = 0;
  return __builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out)
             ? std::numeric_limits<std::size_t>::max()
             : out;
}

std::string mib(std::size_t bytes) {
  // Rounded numbers would not add up.
  return bytes == 0 || bytes % (1u << 20) != 0 ? std::to_string(bytes) + " bytes"
                                               : std::to_string(bytes >> 20) + " MiB";
}

void plan_pinned(const MemoryRequest& r, MemoryPlan& plan) {
  if (r.max_pinned_bytes == 0 || r.pinned_buffer_bytes == 0) return;
  const std::size_t each = saturating(r.devices, r.device_rows, r.pinned_buffer_bytes);
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
  constexpr unsigned wanted = 3;  // one with the caller, one ready, one being copied
  plan.device_depth = r.device_depth != 0 ? std::max(r.device_depth, min_depth) : wanted;
  const std::size_t each = saturating(1, r.device_rows, r.device_buffer_bytes);
  if (r.max_device_bytes == 0 || each == 0) return;
  const std::size_t fit = (r.max_device_bytes - std::min(r.max_device_bytes, r.device_fixed_bytes)) / each;
  if (fit < min_depth)
    throw Error(
        Errc::out_of_memory,
        "`max_device_bytes` = " + mib(r.max_device_bytes) + " is too small: " + std::to_string(min_depth) +
            " batches of " + mib(each) +
            (r.device_fixed_bytes == 0 ? "" : " and " + mib(r.device_fixed_bytes) + " for the stages after batch") +
            " need " + mib(saturating(min_depth, each, r.device_fixed_bytes)) +
            "; raise it, or lower the batch size or the sample's shape");
  if (fit >= plan.device_depth) return;
  plan.notes.push_back("`max_device_bytes` allows " + std::to_string(fit) + " batches on the device instead of " +
                       std::to_string(plan.device_depth));
  plan.device_depth = static_cast<unsigned>(fit);
}

// What the device's limit leaves beside fields of fixed sizes: of a batch's rows, and of its decoded images.
std::size_t device_share(const MemoryRequest& r, const MemoryPlan& plan) {
  if (r.max_device_bytes == 0) return std::numeric_limits<std::size_t>::max();
  const std::size_t taken = saturating(plan.device_depth, r.device_buffer_bytes, r.device_fixed_bytes);
  return (r.max_device_bytes - std::min(r.max_device_bytes, taken)) / (plan.device_depth + r.device_images);
}

// What the limits leave beside fields of fixed sizes.
std::size_t rows_limit(const MemoryRequest& r, const MemoryPlan& plan) {
  const std::size_t device = device_share(r, plan);
  if (r.max_pinned_bytes == 0) return device;
  const std::size_t taken = saturating(plan.depth, r.pinned_buffer_bytes, 0);
  return std::min(device, (r.max_pinned_bytes - std::min(r.max_pinned_bytes, taken)) / (plan.depth * r.devices));
}

}  // namespace

MemoryPlan plan_memory(const MemoryRequest& r) {
  MemoryPlan plan;
  // One batch with the caller, one ready, and enough being filled that every runner has a row.
  const std::uint64_t filling = std::max<std::uint64_t>(2, (2ull * r.threads + r.rows - 1) / r.rows);
  plan.depth =
      r.depth != 0 ? std::max(r.depth, min_depth) : static_cast<unsigned>(std::min<std::uint64_t>(2 + filling, 4096));
  const auto count = [&](unsigned threads) {
    plan.threads = threads;
    plan.entries = r.entries ? r.entries(threads) : 0;
    plan.shared_records = r.shared_records ? r.shared_records(threads) : 0;
  };
  count(r.threads);
  plan_pinned(r, plan);
  plan_device(r, plan);
  plan.device_rows_limit = rows_limit(r, plan);
  plan.device_images_limit = device_share(r, plan);
  if (r.blocks) plan.block_limit = r.max_block_bytes != 0 ? r.max_block_bytes : default_block_bytes;
  if (r.max_memory_bytes == 0) return plan;
  // Blocks take half of it where nothing else is said, but not what the others need at least.
  if (r.blocks && r.max_block_bytes == 0)
    plan.block_limit = std::clamp(r.max_memory_bytes / 2, min_blocks, default_block_bytes);
  const std::size_t blocks = plan.block_limit;

  const std::size_t scratch = std::max(min_scratch, saturating(2, r.sample_bytes, 0));
  // The caller may run samples too, so there is one share more than runners.
  const auto shares = [&] { return (plan.threads + std::size_t{1}) * (r.stand_ins ? 2 : 1); };
  const auto needs = [&] {
    const std::size_t rows = saturating(plan.entries + r.held, r.row_bytes + r.append_row,
                                        saturating(plan.depth, r.buffer_bytes + r.append_buffer, 0));
    std::size_t device = saturating(plan.device_depth, r.device_notes_bytes, rows);
    if (r.device_is_host)
      device = saturating(plan.device_depth, r.device_buffer_bytes, saturating(1, r.device_fixed_bytes, device));
    return saturating(shares(), scratch,
                      saturating(plan.shared_records, r.shared_record_bytes, saturating(1, plan.block_limit, device)));
  };
  if (r.max_block_bytes == 0 && needs() > r.max_memory_bytes)
    plan.block_limit -=
        std::min(plan.block_limit - std::min(plan.block_limit, min_blocks), needs() - r.max_memory_bytes);
  const unsigned depth = plan.depth;
  while (plan.depth > min_depth && needs() > r.max_memory_bytes) --plan.depth;
  const std::size_t entries = plan.entries, min_entries = std::min<std::size_t>(entries, std::size_t{4} * plan.threads);
  if (needs() > r.max_memory_bytes && plan.entries > min_entries) {
    const std::size_t row = std::max<std::size_t>(r.row_bytes + r.append_row, 1);
    const std::size_t over = (needs() - r.max_memory_bytes + row - 1) / row;
    plan.entries = std::max(min_entries, plan.entries - std::min(plan.entries, over));
  }
  while (plan.threads > 1 && needs() > r.max_memory_bytes) {
    count(plan.threads - 1);
    plan.entries = std::min<std::size_t>(plan.entries, std::size_t{4} * plan.threads);
  }
  if (needs() > r.max_memory_bytes)
    throw Error(
        Errc::out_of_memory,
        "`max_memory_bytes` = " + mib(r.max_memory_bytes) + " is too small: " + std::to_string(min_depth) +
            " batches of " + mib(r.buffer_bytes + r.append_buffer) +
            (plan.entries == 0 ? ""
                               : ", " + std::to_string(plan.entries + r.held) + " samples of " +
                                     mib(r.row_bytes + r.append_row) + " that wait for those before them") +
            " and working memory of " + mib(scratch) + " each for 1 runner" +
            (plan.shared_records == 0
                 ? ""
                 : ", " + std::to_string(plan.shared_records) + " shared records of " + mib(r.shared_record_bytes)) +
            (plan.block_limit == 0 ? "" : ", " + mib(plan.block_limit) + " of blocks that records share") +
            " and the caller need " + mib(needs()) + "; raise it, or lower the batch size or the sample's shape" +
            (plan.shared_records > 4 ? ", or the window of a stream's shuffle" : "") +
            (r.max_block_bytes != 0 ? ", or `max_block_bytes`" : "") +
            (r.held != 0 ? ", or the window of `bucket`" : ""));
  if (plan.block_limit < blocks)
    plan.notes.push_back("`max_memory_bytes` allows " + mib(plan.block_limit) +
                         " of blocks that records share instead of " + mib(blocks));
  if (plan.depth < depth)
    plan.notes.push_back("`max_memory_bytes` allows " + std::to_string(plan.depth) +
                         " batches in the ring instead of " + std::to_string(depth));
  if (plan.entries < entries)
    plan.notes.push_back("`max_memory_bytes` allows " + std::to_string(plan.entries) +
                         " finished samples to wait for those before them instead of " + std::to_string(entries));
  if (plan.threads < r.threads)
    plan.notes.push_back("`max_memory_bytes` allows " + std::to_string(plan.threads) + " runners instead of " +
                         std::to_string(r.threads));
  // Where there are fields of any size, half of what is left is for them: as much a row in a buffer as in an entry.
  const std::size_t left = r.max_memory_bytes - needs(), for_rows = r.append_buffer != 0 ? left / 2 : 0;
  const std::size_t more = (left - for_rows) / (shares() + plan.shared_records);
  plan.scratch_limit = scratch + more;
  plan.shared_record_limit = r.shared_record_bytes + more;
  if (r.append_buffer != 0) {
    const std::size_t rows = static_cast<std::size_t>(r.rows), waiting = plan.entries != 0 ? plan.entries + r.held : 0;
    const std::size_t each = for_rows / (saturating(plan.depth, rows, waiting));
    // On the way to a device the same rows lie in two places.
    const std::size_t places = r.device_rows != 0 ? 2 : 1;
    plan.buffer_limit = saturating(rows, each, r.append_buffer) / places;
    if (places == 2) plan.device_rows_limit = std::min(plan.device_rows_limit, plan.buffer_limit / r.devices);
    plan.entry_limit = r.append_row + each;
  }
  return plan;
}

}  // namespace penstock::detail
