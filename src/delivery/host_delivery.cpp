// SPDX-License-Identifier: Apache-2.0
#include "delivery/host_delivery.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/process.hpp"
#include "device/devices.hpp"

namespace penstock::detail::runtime {

namespace {

void check_host(StreamRef stream) {
  if (stream.device() != host())
    throw Error(Errc::invalid_argument, "a stream of " + to_string(stream.device()) +
                                            " for batches on the host; say which device in LoaderOptions::device");
}

class HostDelivery final : public Delivery {
 public:
  explicit HostDelivery(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void check(std::span<const StreamRef> streams) const override { check_host(streams[0]); }
  void seek(const Cursor& cursor, const QuotaCount& count) override { engine_->seek(cursor, count); }
  BatchInfo* wait(std::uint64_t epoch) override { return engine_->wait(epoch); }
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) override { return engine_->take_epoch_end(epoch); }
  std::unique_ptr<Lease> make_lease(std::size_t) override { return std::make_unique<HostLease>(engine_); }
  void arrive(BatchInfo&, std::span<const StreamRef>) override {}
  void take(std::span<const std::unique_ptr<Lease>> leases, BatchInfo& batch,
            std::span<const StreamRef>) noexcept override {
    static_cast<HostLease&>(*leases[0]).take(static_cast<BatchBuffer&>(batch));
  }
  void skip(BatchInfo& batch) noexcept override {
    engine_->lease(static_cast<BatchBuffer&>(batch));
    engine_->release(static_cast<BatchBuffer&>(batch));
  }
  void stop() noexcept override { engine_->stop(); }
  void close() noexcept override { engine_->close(); }
  void describe(Report& report) const override { describe_host(report); }

 private:
  std::shared_ptr<Engine> engine_;
};

}  // namespace

HostLease::HostLease(std::shared_ptr<Engine> engine)
    : Lease(engine->data(), engine->ring().layout(), engine->ring().layout()),
      engine_(std::move(engine)),
      pid_(process_id()) {}

HostLease::~HostLease() {
  if (buffer_ == nullptr) return;
  // In a forked child, a thread that exists only in the parent may hold the mutex. So the child never frees the engine.
  if (process_id() == pid_) {
    engine_->release(*buffer_);
  } else {
    static_cast<void>(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
  }
}

void HostLease::take(BatchBuffer& buffer) {
  engine_->lease(buffer);
  buffer_ = &buffer;
  hold(buffer, buffer.data);
}

void HostLease::also_used_on(StreamRef stream) { check_host(stream); }

void describe_host(Report& report) {
  report.device = to_string(host());
  const std::string why = why_best_is_host();
  if (!why.empty()) report.notes.push_back("best_device() is the host: " + why);
}

std::unique_ptr<Delivery> host_delivery(std::shared_ptr<Engine> engine) {
  return std::make_unique<HostDelivery>(std::move(engine));
}

}  // namespace penstock::detail::runtime
