// SPDX-License-Identifier: Apache-2.0
#include <penstock/loader.hpp>

#include <utility>

#include "base/failure.hpp"
#include "data/state.hpp"
#include "loader/loader_impl.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

void EpochRange::advance() {
  current_.release();
  if (!loader_->impl_->goes_on(beginning_, number_)) {
    done_ = true;
  } else if (auto batch = loader_->next(stream_)) {
    current_ = std::move(*batch);
  } else {
    done_ = true;
  }
}

EpochRange::iterator EpochRange::begin() {
  advance();
  return iterator(this);
}

Loader::Loader(Pipeline pipeline, LoaderOptions options) try
    : impl_(std::make_unique<Impl>(std::move(pipeline), std::move(options))) {
} catch (...) {
  throw detail::current_error();
}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept {
  if (this != &other) {
    Loader old(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Loader::~Loader() {
  // In a forked child, does not destroy `impl_`. There are no threads to join, and threads that exist only in the
  // parent may hold locks.
  if (impl_ != nullptr && !impl_->here()) static_cast<void>(impl_.release());
}

EpochRange Loader::epoch(StreamRef stream) & {
  impl_->check({&stream, 1});  // throws before the rest of the present epoch is discarded
  impl_->begin_epoch();
  return EpochRange(this, stream, impl_->beginnings(), impl_->epoch());
}
void Loader::end_epoch() { impl_->end_epoch(); }
std::optional<Batch> Loader::next(StreamRef stream) { return impl_->next(stream); }
std::optional<std::vector<Batch>> Loader::next_parts(std::span<const StreamRef> streams) {
  return impl_->next_parts(streams);
}
State Loader::state() const { return impl_->state(); }
void Loader::resume(const State& state) { impl_->resume(state, {}); }
void Loader::save(const std::string& file) const {
  detail::save_state(impl_->state(), detail::facts_of(impl_->pipeline().data()).text(), file);
}
void Loader::resume(const std::string& file) {
  std::string text;
  const State state = detail::load_state(file, &text);
  try {
    impl_->resume(state, text);
  } catch (Error& error) {
    throw error.with_file(file);
  }
}
std::uint64_t Loader::epoch_number() const noexcept { return impl_->epoch_number(); }
void Loader::stop() noexcept { impl_->stop(); }
std::shared_ptr<detail::DeviceModel> Loader::device() const noexcept {
  const detail::runtime::DeviceModels& devices = impl_->devices();
  return devices.empty() || devices[0]->is_host() ? nullptr : devices[0];
}
const Pipeline& Loader::pipeline() const noexcept { return impl_->pipeline(); }
std::uint64_t Loader::steps_per_epoch() const { return impl_->pipeline().steps_per_epoch(); }
Report Loader::report() const { return impl_->report(); }
void Loader::write_trace(const std::string& file) const { impl_->write_trace(file); }

}  // namespace penstock
