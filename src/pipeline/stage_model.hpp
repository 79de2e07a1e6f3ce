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

/// What a Stage holds. Each kind of stage is a class of its own, in a file of src/stages/. Immutable; any thread.
struct StageModel {
  virtual ~StageModel() = default;
  /// Adds what it means to a pipeline, after what stands there already. @throws what the stage's documentation says.
  virtual void join(PipelineBuilder& pipeline) const = 0;
};

/// A kind of stage that makes something of samples: once it has joined a pipeline, it is asked to become a step.
struct WorkStage : StageModel {
  /// Adds its step to the chain of the stages before `batch`.
  virtual void compile(const BoundStage& bound, runtime::ChainCompiler& chain) const;
  /// Adds its launch to those of the stages after `batch`. Only for kinds that may stand there.
  virtual void launch(const BoundStage& bound, DeviceProgramBuilder& program) const;
  /// It draws at random, as far as it says so.
  virtual bool draws() const { return false; }
  /// A change of what it computes can be told from its name, options and version.
  virtual bool versioned() const { return true; }
  /// The number of samples after it is not that before it.
  virtual bool changes_count() const { return false; }
  /// It is known to give this field other values.
  virtual bool gives(const std::string&) const { return false; }
  /// Whether the values that it gives this field are labels; none: it leaves them what they are.
  virtual std::optional<bool> gives_labels(const std::string& field) const {
    return gives(field) ? std::optional(false) : std::nullopt;
  }
  /// What the field was called before it.
  virtual const std::string& name_before(const std::string& name) const { return name; }
};

/// A per-sample stage that joined a pipeline.
struct BoundStage {
  std::shared_ptr<const WorkStage> work;
  std::string name;       ///< the stage's name, without its field
  std::string label;      ///< "resize(image)"
  std::string options;    ///< its result options in words
  std::uint64_t key = 0;  ///< hash of name and occurrence: what its random draws are keyed by
  std::uint64_t version = 0;
  Schema in, out;
};

template <class Model>
Stage make_stage(Model model) {
  return Stage(std::make_shared<const Model>(std::move(model)));
}

}  // namespace penstock::detail
