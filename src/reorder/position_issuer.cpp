// SPDX-License-Identifier: Apache-2.0
#include "reorder/position_issuer.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"

namespace penstock::detail::runtime {

namespace {
constexpr std::uint64_t positions_at_once = 64;
}

PositionIssuer::PositionIssuer(const RunSetup& setup, IssueProgress& intake, ReorderBuffer& buffer,
                               SharedRecords* records)
    : epochs_(setup.epochs),
      issue_progress_(intake),
      buffer_(buffer),
      records_(records),
      positions_(*setup.data, setup.ranges),
      chunk_(
          std::clamp<std::uint64_t>((records != nullptr ? records->size() : buffer.size()) / 4, 1, positions_at_once)),
      indices_(chunk_) {}

void PositionIssuer::reset(const Cursor& cursor) {
  positions_.begin(cursor);
  want();
}

bool PositionIssuer::vacant(std::uint64_t number) noexcept {
  return records_ != nullptr ? records_->at(number).vacant.load(std::memory_order_seq_cst) : buffer_.vacant(number);
}

bool PositionIssuer::can_issue() noexcept {
  if (issue_progress_.exhausted() || issue_progress_.busy()) return false;
  const std::uint64_t number = issue_progress_.issued(), wanted = wanted_.load(std::memory_order_seq_cst);
  return wanted != 0 && vacant(number) && vacant(number + wanted - 1);
}

PositionIssuer::Issued PositionIssuer::issue() noexcept {
  const std::uint64_t first = issue_progress_.issued();
  std::uint64_t count = 0;
  while (count < wanted_.load(std::memory_order_relaxed) && vacant(first + count)) ++count;
  if (count == 0 || issue_progress_.exhausted()) return {};
  std::optional<Error> error;
  const std::uint64_t good = fill(count, error), issued = std::min(good + 1, count), pass = positions_.place(0).epoch;
  for (std::uint64_t i = 0; i < issued; ++i) {
    if (records_ != nullptr)
      set_up_record(records_->take(first + i), i);
    else
      set_up_entry(buffer_.take(first + i), i);
  }
  if (good != issued) fail(first + good, std::move(error));
  positions_.skip(issued);
  if (good != issued || (epochs_ != 0 && !positions_.endless() && positions_.epoch() >= epochs_)) issue_progress_.end();
  want();
  issue_progress_.issue_up_to(first + issued);
  return {first, issued, {indices_.data(), static_cast<std::size_t>(good)}, pass};
}

// Asks the order for `count` positions. If the order fails, finds the first position at which it fails, so that the
// samples before this position are made. Returns the number of positions before the failure, or `count` if there
// is no failure.
std::uint64_t PositionIssuer::fill(std::uint64_t count, std::optional<Error>& error) noexcept {
  try {
    positions_.fill(0, {indices_.data(), static_cast<std::size_t>(count)});
    return count;
  } catch (...) {  // the loop below finds the position
  }
  std::uint64_t good = 0;
  try {
    for (; good < count; ++good) positions_.fill(good, {&indices_[good], 1});
  } catch (...) {
    error = described_error("order");
  }
  return good;
}

void PositionIssuer::set_up_record(SharedRecord& record, std::uint64_t i) {
  const Place place = positions_.place(i);
  record.epoch = place.epoch;
  record.position = place.position;
  record.index = record.outcome.index = indices_[i];
  record.at = positions_.at(i);
  record.last = positions_.last(i);
}

void PositionIssuer::set_up_entry(ReorderEntry& entry, std::uint64_t i) {
  entry.place = positions_.place(i);
  entry.position = positions_.at(i).position;
  entry.index = indices_[i];
  entry.last = positions_.last(i);
  entry.next = positions_.after(i);
}

// Notes that the order failed at an entry or shared record. If `error` is none, there was no memory for the error.
void PositionIssuer::fail(std::uint64_t number, std::optional<Error> error) noexcept {
  (records_ != nullptr ? records_->at(number).broken : buffer_.entry(number).broken) = !error;
  (records_ != nullptr ? records_->at(number).outcome : buffer_.entry(number).outcome).fatal = std::move(error);
}

void PositionIssuer::want() noexcept { wanted_.store(std::min(chunk_, positions_.left()), std::memory_order_seq_cst); }

}  // namespace penstock::detail::runtime
