// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Overloads that explain a mistake: a type that is not a source, a stage or a pipeline is used as one. pipeline.hpp
/// includes this header at its end.
#include <concepts>
#include <memory>
#include <utility>

#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Overload of `from` for all types that no overload in pipeline.hpp takes. Takes pointers that convert to a shared
/// pointer to a const SourceModel. For types that are not sources, fails to compile with the reason.
template <class S>
Pipeline from(S source) {
  if constexpr (std::convertible_to<S, std::shared_ptr<const detail::SourceModel>>) {
    return Pipeline(std::shared_ptr<const detail::SourceModel>(std::move(source)));
  } else if constexpr (std::same_as<S, Pipeline>) {
    detail::explain_pipeline_in_from<S>();
    return source;
  } else {
    detail::explain_source<S>();
    return Pipeline(std::shared_ptr<const detail::SourceModel>());
  }
}
/// Overload of `|` for all types that no overload in pipeline.hpp takes after a pipeline. Takes types derived from
/// Stage. For types that are not stages, fails to compile with the reason.
template <class F>
Pipeline operator|(const Pipeline& pipeline, F f) {
  if constexpr (std::derived_from<F, Stage>) {
    return pipeline | static_cast<const Stage&>(f);
  } else {
    if constexpr (std::same_as<F, Pipeline>)
      detail::explain_pipeline_after<F>();
    else
      detail::explain_stage<F>();
    return pipeline;
  }
}
/// Overload for a stage after something that is not a pipeline: fails to compile with the reason.
template <class S>
  requires(!std::convertible_to<const S&, const Pipeline&>)
auto operator|(const S&, const Stage& stage) {
  detail::explain_beginning<S>();
  if constexpr (std::same_as<S, Stage>)
    return stage;
  else
    return Pipeline(std::shared_ptr<const detail::SourceModel>());
}

/// Overload for a pipeline after something that is not a pipeline: fails to compile, with the reason that pipelines
/// come before `|`.
template <class S>
  requires(!std::convertible_to<const S&, const Pipeline&>)
Pipeline operator|(const S&, const Pipeline& pipeline) {
  detail::explain_pipeline_after<S>();
  return pipeline;
}

}  // namespace penstock
