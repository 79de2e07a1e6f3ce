// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock::detail {

namespace runtime {
class ChainCompiler;
}
class DeviceProgramBuilder;
class PipelineBuilder;
struct BoundStage;

/// What a Stage holds. Each kind of stage is a class of its own, in a file of src/stages/. Immutable; any thread may
/// use it.
struct StageModel {
  virtual ~StageModel() = default;
  /// Adds itself to a pipeline, after the stages there. @throws what the stage's documentation lists.
  virtual void join(PipelineBuilder& pipeline) const = 0;
};

/// A kind of stage that works on samples. After it has joined a pipeline, it adds its step to a chain.
struct WorkStage : StageModel {
  /// Adds its step to the chain of the stages before `batch`.
  virtual void compile(const BoundStage& bound, runtime::ChainCompiler& chain) const;
  /// Adds its launch to those of the stages after `batch`. Only for kinds that may stand there.
  virtual void launch(const BoundStage& bound, DeviceProgramBuilder& program) const;
  /// Returns whether the stage declares that it draws at random.
  virtual bool draws() const { return false; }
  /// Returns whether name, options and version show a change of what it computes.
  virtual bool versioned() const { return true; }
  /// Returns whether it changes the number of samples.
  virtual bool changes_count() const { return false; }
  /// Returns whether it is known to change the values of this field.
  virtual bool gives(const std::string&) const { return false; }
  /// Returns whether the values that it gives this field are labels; none if it does not change that.
  virtual std::optional<bool> gives_labels(const std::string& field) const {
    return gives(field) ? std::optional(false) : std::nullopt;
  }
  /// Returns the name that the field had before this stage.
  virtual const std::string& name_before(const std::string& name) const { return name; }
};

/// A per-sample stage that joined a pipeline.
struct BoundStage {
  std::shared_ptr<const WorkStage> work;
  std::string name;       ///< the stage's name, without its field
  std::string label;      ///< "resize(image)"
  std::string options;    ///< its result options in words
  std::uint64_t key = 0;  ///< hash of name and occurrence: the key of its random draws
  std::uint64_t version = 0;
  Schema in, out;
};

template <class Model>
Stage make_stage(Model model) {
  return Stage(std::make_shared<const Model>(std::move(model)));
}

}  // namespace penstock::detail
