#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/sink_model.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_sink`.
struct SinkOptions {
  /// What is stored. Empty: 60 generated records {image: u8[?], label: i64[]} with ascending keys of 8 digits.
  std::function<AnySource()> items = {};
  std::uint64_t commit_every = 7;   ///< items
  bool refuses_a_bad_place = true;  ///< `open` throws Error where the store lies below a file; false for a sink that
                                    ///< keeps no file
  bool refuses_another_job = true;  ///< `open` throws Error where a store lies that was made, or begun, by another job
                                    ///< (`SinkJob::made_by`); false for a sink that is told its job by its options
};

namespace detail {

/// A sink of any type that owns itself.
class OwnedSinkModel {
 public:
  virtual ~OwnedSinkModel() = default;
  virtual penstock::detail::SinkModel& sink() = 0;
};
template <Sink S>
class OwnedSinkOf final : public OwnedSinkModel {
 public:
  explicit OwnedSinkOf(S sink) : sink_(std::move(sink)), model_(sink_) {}
  penstock::detail::SinkModel& sink() override { return model_; }

 private:
  S sink_;
  penstock::detail::SinkOf<S> model_;
};

using MakeSink = std::function<std::unique_ptr<OwnedSinkModel>(const std::string&)>;
using OpenStore = std::function<AnySource(const std::string&)>;
PENSTOCK_API Report check_sink(const MakeSink& make, const OpenStore& open, const std::string& folder,
                               const SinkOptions& options);

}  // namespace detail

/// Holds a sink to what `Sink` promises: what was put is what is read back; a run that was dropped at any point is
/// continued by another one, which finds what was committed by `has`, and the finished store is that of a run without
/// interruption; what another job has left is refused; several samples of one record don't get into each other's way; a
/// rerun of a finished one changes nothing; failures are Errors.
///
///     check_sink([](const std::string& path) { return LmdbSink({.path = path}); },
///                [](const std::string& path) { return share(LmdbSource({.path = path})); }, folder);
///
/// `make` gives a sink for the store `path`, `open` a source over the finished store. `folder` is an empty one where
/// stores may be made; they are left there. Fields that the store has with the items' name, dtype and shape must hold
/// the items' bytes; records are matched by their order. Nothing is thrown, but for what items throw.
template <class Make, class Open>
  requires Sink<std::invoke_result_t<Make&, const std::string&>> &&
      std::convertible_to<std::invoke_result_t<Open&, const std::string&>, AnySource>
          Report check_sink(Make make, Open open, const std::string& folder, const SinkOptions& options = {}) {
    using S = std::invoke_result_t<Make&, const std::string&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    const auto opens = std::make_shared<Open>(std::move(open));
    return detail::check_sink(
        [shared](const std::string& path) -> std::unique_ptr<detail::OwnedSinkModel> {
          return std::make_unique<detail::OwnedSinkOf<S>>((*shared)(path));
        },
        [opens](const std::string& path) -> AnySource { return (*opens)(path); }, folder, options);
  }

}  // namespace penstock::testing
