// SPDX-License-Identifier: Apache-2.0
// The reorder buffer without threads: entries are finished in any order, and what leaves is what one loop would bring.
#include "reorder/reorder_buffer.hpp"

#include <cstring>
#include <deque>
#include <random>

#include "core/help.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

constexpr std::uint64_t rows = 3;
const ps::Schema schema{{"x", ps::DType::i64, {}}};

PipelineData pipeline(std::uint64_t samples, ps::ErrorPolicy policy = {}, ps::Tail tail = ps::Tail::keep) {
  PipelineData data;
  data.schema = schema;
  data.size = data.source_size = samples;
  data.filters = true;
  data.policy = policy;
  data.batch = BatchSpec{rows, {.tail = tail}};
  return data;
}

struct Delivered {
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::uint64_t epoch, number, filtered, bad;
  Cursor next;
  friend bool operator==(const Delivered&, const Delivered&) = default;
};

// Takes batches as the engine does, and keeps them until a test lets them go.
class Outlet : public BatchOutlet {
 public:
  explicit Outlet(std::size_t depth) : ring_(schema, rows, depth, ps::host_memory()) {}
  BatchBuffer* open_batch() noexcept override {
    BatchBuffer* const batch = ring_.acquire();
    if (batch == nullptr) set_stalled(true);
    return batch;
  }
  void close_batch(BatchBuffer& batch) noexcept override {
    closed_.push_back(&batch);
    finish(batch, static_cast<std::uint32_t>(rows + 1 - batch.valid));
  }
  void discard_batch(BatchBuffer& batch) noexcept override {
    batch.discarded = true;
    finish(batch, static_cast<std::uint32_t>(rows + 1 - batch.valid));
  }
  bool has_room_for_end() noexcept override { return true; }
  void end_epoch(EpochEnd end) noexcept override { ends.push_back(std::move(end)); }

  void rows_copied(BatchBuffer& batch, std::uint32_t copied) noexcept override { finish(batch, copied); }
  void finish(BatchBuffer& batch, std::uint32_t parts) {
    if (ring_.finish(batch, parts) == BatchRing::FinishResult::discarded) ring_.release(batch);
  }
  // The oldest batch, once it is ready. Its buffer is free afterwards.
  std::optional<Delivered> take() {
    if (closed_.empty() || closed_.front()->state.load() != BufferState::ready) return {};
    BatchBuffer& batch = *closed_.front();
    closed_.pop_front();
    Delivered out{{}, {}, {}, batch.epoch, batch.number, batch.filtered, batch.bad.size(), batch.next};
    for (std::uint64_t row = 0; row < batch.rows; ++row) {
      std::int64_t value = 0;
      std::memcpy(&value, ring_.address(batch, 0, row), sizeof(value));
      out.values.push_back(value);
      out.indices.push_back(batch.indices[row]);
      out.mask.push_back(batch.mask[row]);
    }
    batch.bad.clear();
    ring_.lease(batch);
    ring_.release(batch);
    set_stalled(false);
    return out;
  }
  const BatchRing& ring() const { return ring_; }
  std::vector<EpochEnd> ends;

 private:
  BatchRing ring_;
  std::deque<BatchBuffer*> closed_;
};

enum class Fate { kept, filtered, masked, dropped, fatal };

// One sample of the run, as its stages left it.
void make(ReorderBuffer& buffer, ReorderEntry& entry, std::uint64_t position, std::uint64_t samples, Fate fate) {
  entry.position = entry.index = entry.outcome.index = position;
  entry.place = {0, position, 0, 0};
  entry.last = position + 1 == samples;
  entry.next = entry.last ? Cursor{1, 0, 0, 0} : Cursor{0, 0, position + 1, 0};
  const auto value = static_cast<std::int64_t>(position * 10);
  std::memcpy(buffer.address(entry, 0), &value, sizeof(value));
  const ps::Error error(ps::Errc::corrupt, "sample " + std::to_string(position));
  entry.outcome.filtered = fate == Fate::filtered;
  entry.outcome.masked = fate == Fate::masked;
  entry.outcome.kept = fate == Fate::kept || fate == Fate::masked;
  if (fate == Fate::masked || fate == Fate::dropped) entry.outcome.bad = error;
  if (fate == Fate::fatal) entry.outcome.fatal = error;
  if (fate == Fate::masked) buffer.clear(entry);
}

// What one loop over the samples brings.
std::vector<Delivered> model(const std::vector<Fate>& fates, ps::Tail tail) {
  std::vector<Delivered> out;
  Delivered batch{};
  for (std::uint64_t p = 0; p < fates.size(); ++p) {
    const Fate fate = fates[p];
    if (fate == Fate::filtered) ++batch.filtered;
    if (fate == Fate::masked || fate == Fate::dropped) ++batch.bad;
    const bool last = p + 1 == fates.size();
    if (fate == Fate::kept || fate == Fate::masked) {
      batch.values.push_back(fate == Fate::masked ? 0 : static_cast<std::int64_t>(p * 10));
      batch.indices.push_back(p);
      batch.mask.push_back(fate == Fate::masked ? 0 : 1);
    }
    if (!batch.values.empty()) batch.next = last ? Cursor{1, 0, 0, 0} : Cursor{0, out.size() + 1, p + 1, 0};
    const bool whole = batch.values.size() == rows;
    if (whole || (last && !batch.values.empty() && tail == ps::Tail::keep)) {
      batch.number = out.size();
      out.push_back(std::exchange(batch, {}));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a reorder buffer brings what one loop brings, in whatever order its entries are finished and copied") {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t stalls = 0, batches = 0;
  for (int run = 0; run < 400; ++run) {
    const std::uint64_t samples = 1 + below(40);
    const ps::Tail tail = below(3) == 0 ? ps::Tail::drop : ps::Tail::keep;
    const bool drops = below(2) == 0;
    std::vector<Fate> fates;
    for (std::uint64_t i = 0; i < samples; ++i)
      fates.push_back(below(3) == 0   ? Fate::filtered
                      : below(8) == 0 ? (drops ? Fate::dropped : Fate::masked)
                                      : Fate::kept);
    const PipelineData data = pipeline(samples, {.policy = drops ? ps::OnError::drop : ps::OnError::mask}, tail);
    const BatchBounds bounds(schema, *data.batch);
    Outlet outlet(1 + below(3));
    ReorderBuffer buffer(data, bounds, 1 + below(6), ps::host_memory(), outlet);
    buffer.reset({}, {});
    std::vector<Delivered> got;
    std::vector<ReorderEntry*> working;
    std::vector<ReorderBuffer::Move> copying;
    std::uint64_t issued = 0;
    for (int step = 0; outlet.ends.empty() || !copying.empty() || got.size() < model(fates, tail).size(); ++step) {
      REQUIRE(step < 100'000);
      switch (below(5)) {
        case 0:
          if (issued == samples || !buffer.vacant(issued)) break;
          working.push_back(&buffer.take(issued));
          make(buffer, *working.back(), issued, samples, fates[issued]);
          ++issued;
          break;
        case 1:
          if (working.empty()) break;
          std::swap(working[below(working.size())], working.back());
          buffer.finish(*working.back());
          working.pop_back();
          break;
        case 2: {
          std::array<ReorderBuffer::Move, 4> moves;
          const std::size_t count = buffer.retire(std::span(moves).first(1 + below(4)));
          copying.insert(copying.end(), moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(count));
          stalls += outlet.stalled();
          break;
        }
        case 3:
          if (copying.empty()) break;
          std::swap(copying[below(copying.size())], copying.back());
          buffer.copy_rows({&copying.back(), 1}, outlet.ring());
          copying.pop_back();
          break;
        default:
          if (auto batch = outlet.take()) got.push_back(std::move(*batch));
      }
    }
    CHECK(got == model(fates, tail));
    REQUIRE(outlet.ends.size() == 1);
    std::uint64_t filtered = outlet.ends[0].filtered, bad = outlet.ends[0].bad.size();
    for (const Delivered& batch : got) filtered += batch.filtered, bad += batch.bad;
    CHECK(filtered == static_cast<std::uint64_t>(std::ranges::count(fates, Fate::filtered)));
    CHECK(bad == static_cast<std::uint64_t>(std::ranges::count(fates, drops ? Fate::dropped : Fate::masked)));
    batches += got.size();
  }
  CHECK(batches > 1000);
  CHECK(stalls > 300);  // the ring was full now and then
}

TEST_CASE("a failure that ends the run comes after what stood before it, and nothing after it is retired") {
  const PipelineData data = pipeline(10);
  const BatchBounds bounds(schema, *data.batch);
  Outlet outlet(4);
  ReorderBuffer buffer(data, bounds, 8, ps::host_memory(), outlet);
  buffer.reset({}, {});
  for (std::uint64_t i = 0; i < 8; ++i) {
    make(buffer, buffer.take(i), i, 10, i == 4 ? Fate::fatal : Fate::kept);
    buffer.finish(buffer.entry(i));
  }
  std::array<ReorderBuffer::Move, 16> moves;
  const std::size_t count = buffer.retire(moves);
  CHECK(count == 4);
  buffer.copy_rows(std::span(moves).first(count), outlet.ring());
  CHECK(outlet.take()->values == std::vector<std::int64_t>{0, 10, 20});
  const auto last = outlet.take();
  REQUIRE(last);
  CHECK(last->values == std::vector<std::int64_t>{30});
  CHECK(last->bad == 1);
  CHECK_FALSE(buffer.can_retire());
  CHECK(buffer.retire(moves) == 0);
  CHECK(outlet.ends.empty());
}

TEST_CASE("an entry belongs to its row until that is copied") {
  const PipelineData data = pipeline(4);
  const BatchBounds bounds(schema, *data.batch);
  Outlet outlet(2);
  ReorderBuffer buffer(data, bounds, 2, ps::host_memory(), outlet);
  buffer.reset({}, {});
  make(buffer, buffer.take(0), 0, 4, Fate::kept);
  make(buffer, buffer.take(1), 1, 4, Fate::filtered);
  buffer.finish(buffer.entry(1));
  CHECK_FALSE(buffer.can_retire());  // the one before it is in work
  buffer.finish(buffer.entry(0));
  std::array<ReorderBuffer::Move, 4> moves;
  REQUIRE(buffer.retire(moves) == 1);
  CHECK_FALSE(buffer.vacant(2));  // entry 0 again: its row is not copied yet
  CHECK(buffer.vacant(3));        // entry 1 again: nothing of it is left
  buffer.copy_rows(std::span(moves).first(1), outlet.ring());
  CHECK(buffer.vacant(2));
}

}  // namespace PENSTOCK_TEST_FILE
