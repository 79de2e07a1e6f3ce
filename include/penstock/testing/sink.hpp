// SPDX-License-Identifier: Apache-2.0
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
  /// Returns a source of the samples to store. Default (empty): 60 generated records {image: u8[?], label: i64[]} with
  /// ascending keys of 8 digits.
  std::function<AnySource()> items = {};
  /// Number of items per commit.
  std::uint64_t commit_every = 7;
  /// Whether a run must throw an Error if a folder in the store's path is in fact a file. Set it to false for a sink
  /// that keeps no file.
  bool refuses_a_bad_place = true;
  /// Whether a run must throw an Error if another job (`SinkJob::made_by`) has made or begun the store. Set it to false
  /// for a sink whose options set the job.
  bool refuses_another_job = true;
};

namespace detail {

/// Owns a sink of any type.
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

/// Checks that a sink keeps the promises of `Sink`:
///
/// - reading the store gives what was put;
/// - if a run was interrupted at any point, a second run continues it; `has` finds what was committed; the finished
///   store is the same as without interruption;
/// - the sink refuses to continue another job's store;
/// - several samples of one record stay separate;
/// - a second run over a finished store changes nothing;
/// - the sink reports failures by throwing an Error.
///
///     check_sink([](const std::string& path) { return LmdbSink({.path = path}); },
///                [](const std::string& path) { return share(LmdbSource({.path = path})); }, folder);
///
/// `make` returns a sink for the store `path`; `open` returns a source over the finished store. `folder` is an empty
/// folder for the stores, which are not deleted. If the store has a field with the name, dtype and shape of an item's
/// field, the stored field must have the item's bytes. Record i of the store must be item i. Throws only what the
/// items' source throws.
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
