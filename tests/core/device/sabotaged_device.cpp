// SPDX-License-Identifier: Apache-2.0
#include "core/device/sabotaged_device.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

namespace help {

using penstock::StreamRef;

// Its handle may be another's once it is gone.
class SabotagedDevice::OwnStream final : public Stream {
 public:
  OwnStream(SabotagedDevice& device, std::unique_ptr<Stream> inner) : device_(device), inner_(std::move(inner)) {}
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() override {
    const std::lock_guard lock(device_.mutex_);
    device_.streams_.erase(inner_->ref().handle());
  }
  StreamRef ref() const noexcept override { return inner_->ref(); }

 private:
  SabotagedDevice& device_;
  std::unique_ptr<Stream> inner_;
};

std::string to_string(Edge edge) {
  switch (edge) {
    case Edge::none:
      return "none";
    case Edge::pinned_is_free:
      return "1, the host waits for copies";
    case Edge::copied:
      return "2, stages wait for copies";
    case Edge::raw_is_free:
      return "3, copies wait for stages";
    case Edge::ready:
      return "4, consumers wait for batches";
    case Edge::released:
      return "5, batches wait for consumers";
  }
  return "?";
}

std::unique_ptr<SabotagedDevice::Stream> SabotagedDevice::make_stream(const char* name, Priority priority) {
  const std::string what = name;
  if (what != "copy" && what != "prep")
    throw std::logic_error("a stream of the loader's that this does not know: " + what);
  auto stream = std::make_unique<OwnStream>(*this, inner().make_stream(name, priority));
  const std::lock_guard lock(mutex_);
  streams_[stream->ref().handle()] = what == "copy" ? Role::copies : Role::stages;
  return stream;
}

std::unique_ptr<SabotagedDevice::Event> SabotagedDevice::make_event() {
  auto event = inner().make_event();
  const std::lock_guard lock(mutex_);
  recorded_.erase(event.get());  // it may stand where another stood
  return event;
}

SabotagedDevice::Role SabotagedDevice::role_of(StreamRef stream) const {
  const auto found = streams_.find(stream.handle());
  return found == streams_.end() ? Role::consumer : found->second;
}

bool SabotagedDevice::passes(Edge edge) {
  const std::lock_guard lock(mutex_);
  ++counts_[edge];
  return edge != without_;
}

void SabotagedDevice::copy(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  bool from_host = false;
  {
    const std::lock_guard lock(mutex_);
    from_host = role_of(stream) == Role::copies;
  }
  if (from_host && hooks_.before_copy) hooks_.before_copy(stream);
  inner().copy(to, from, bytes, stream);
}

void SabotagedDevice::record(Event& event, StreamRef stream) {
  inner().record(event, stream);
  const std::lock_guard lock(mutex_);
  recorded_[&event] = role_of(stream);
}

void SabotagedDevice::wait(StreamRef stream, const Event& event) {
  Role who = Role::consumer;
  std::optional<Role> whom;
  {
    const std::lock_guard lock(mutex_);
    who = role_of(stream);
    if (const auto found = recorded_.find(&event); found != recorded_.end()) whom = found->second;
  }
  Edge edge = Edge::none;
  if (who == Role::consumer)
    edge = Edge::ready;
  else if (whom == Role::consumer)
    edge = Edge::released;
  else if (who == Role::stages && whom == Role::copies)
    edge = Edge::copied;
  else if (who == Role::copies && whom == Role::stages)
    edge = Edge::raw_is_free;
  else
    throw std::logic_error("a wait that is none of the edges");
  if (passes(edge)) inner().wait(stream, event);
  if (edge == Edge::copied && hooks_.before_stages) hooks_.before_stages(stream);
}

void SabotagedDevice::synchronize(const Event& event) {
  bool of_copies = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = recorded_.find(&event);
    of_copies = found != recorded_.end() && found->second == Role::copies;
  }
  if (of_copies && hooks_.before_host_waits) hooks_.before_host_waits();
  if (!of_copies || passes(Edge::pinned_is_free)) inner().synchronize(event);
}

// To look is a wait too, for what is done already; a hook is to see each of them.
bool SabotagedDevice::reached(const Event& event) {
  if (hooks_.before_host_waits) return false;
  return !passes(Edge::pinned_is_free) || inner().reached(event);
}

std::uint64_t SabotagedDevice::count(Edge edge) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(edge);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace help
