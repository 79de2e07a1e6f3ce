#pragma once

#include <memory>

#include "delivery/delivery.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

/// The buffer that the runners filled is the batch: nothing is copied.
std::unique_ptr<Delivery> host_delivery(std::shared_ptr<Engine> engine);

/// Where batches end up on the host, and why on it.
void describe_host(Report& report);

/// A buffer of the engine's own ring in somebody's hands.
class HostLease final : public Lease {
 public:
  explicit HostLease(std::shared_ptr<Engine> engine);
  ~HostLease() override;
  void take(BatchBuffer& buffer);
  Device device() const noexcept override { return host(); }
  void also_used_on(StreamRef stream) override;

 private:
  std::shared_ptr<Engine> engine_;
  BatchBuffer* buffer_ = nullptr;
  int pid_;
};

}  // namespace penstock::detail::runtime
