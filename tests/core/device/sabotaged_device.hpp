// SPDX-License-Identifier: Apache-2.0
// A device that leaves out one kind of the waits that hold staging together, so that tests can show that it is missed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/device/forwarding_device.hpp"

namespace help {

/// Who waits for whom. A stream is the loader's if the device made it, else a consumer's.
enum class Edge : std::uint8_t {
  none,
  pinned_is_free,  ///< the host, before a batch in pinned memory is written to again: for its copy
  copied,          ///< stages after `batch`: for the copy of what they read
  raw_is_free,     ///< a copy: for the stages that read what it writes over
  ready,           ///< a consumer's stream: for whoever writes its batch
  released         ///< who writes to a batch: for the consumer's streams that read it before
};
std::string to_string(Edge edge);

/// Leaves out the waits of one edge. It knows them by the stream that waits, and by the one where the event was
/// recorded last. Any thread.
class SabotagedDevice final : public ForwardingDevice {
 public:
  /// Called before what is said; it may put work on the stream, to make sure that what is too early comes too early.
  struct Hooks {
    std::function<void(penstock::StreamRef)> before_copy;    ///< from the host
    std::function<void(penstock::StreamRef)> before_stages;  ///< of one batch
    std::function<void()> before_host_waits;                 // for a copy
  };

  SabotagedDevice(std::shared_ptr<DeviceModel> inner, Edge without, Hooks hooks = {})
      : ForwardingDevice(std::move(inner)), without_(without), hooks_(std::move(hooks)) {}

  std::unique_ptr<Stream> make_stream(const char* name, Priority priority) override;
  std::unique_ptr<Event> make_event() override;
  void copy(void* to, const void* from, std::size_t bytes, penstock::StreamRef stream) override;
  void record(Event& event, penstock::StreamRef stream) override;
  void wait(penstock::StreamRef stream, const Event& event) override;
  void synchronize(const Event& event) override;
  bool reached(const Event& event) override;  ///< only of copies
  using ForwardingDevice::synchronize;

  /// How many waits of this edge there were, and looks instead of one, left out or not.
  std::uint64_t count(Edge edge) const;

 private:
  class OwnStream;
  enum class Role : std::uint8_t { copies, stages, consumer };

  Role role_of(penstock::StreamRef stream) const;  // under the mutex
  bool passes(Edge edge);                          // counts it

  const Edge without_;
  const Hooks hooks_;
  mutable std::mutex mutex_;
  std::map<const void*, Role> streams_;    // ours, by their handles
  std::map<const Event*, Role> recorded_;  // where, last
  std::map<Edge, std::uint64_t> counts_;
};

}  // namespace help
