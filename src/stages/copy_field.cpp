// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/fields.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class CopyFieldStep final : public Step {
 public:
  CopyFieldStep(const BoundStage& stage, std::string from, std::string to)
      : Step(stage.label, stage.key), name_(std::move(from)), copy_name_(std::move(to)) {}

  // Takes the order of fields from `before`, because image steps may have been moved.
  void follow(const Schema& before) override {
    Field field = before.at(name_);
    field.name = copy_name_;
    schema = before.with(std::move(field));
    from_ = schema.slot(name_);
    to_ = schema.slot(copy_name_);
  }
  bool run(ChainRun& run, const StepCall&) const override {
    const std::byte* const value = run.value(from_);
    Cell &from = run.cells[from_], &to = run.cells[to_];
    // If no later stage makes the copy, it goes to its row now. If the original lies in its row, it may be written to
    // again at the end of the sample, while a later stage has left the copy as it is.
    const bool in_row = from.writable && !run.arena.holds(value);
    if (to.destination != nullptr || to.row != 0 || in_row) {
      const std::size_t bytes = static_cast<std::size_t>(from.shape.elements()) * size_of(schema[from_].dtype);
      std::byte* const copy = run.make(to_, from.shape);
      if (bytes != 0) std::memcpy(copy, value, bytes);
      to.promise = from.promise;
      return true;
    }
    // Both have the same bytes until a stage changes one of them, which then copies the bytes.
    from.writable = false;
    to = from;
    to.destination = nullptr;
    to.row = 0;
    return true;
  }
  std::string describe(const CheckOptions&) const override {
    const Field& copy = schema[to_];
    return label + " -> " + copy.name + ": " + type_text(copy);
  }
  bool makes(const Schema&, std::size_t slot) const override { return slot == to_; }
  bool counts(std::size_t slot, bool) const override { return slot == to_; }
  const std::string& copied_from(const std::string& name) const override { return name == copy_name_ ? name_ : name; }

 private:
  const std::string name_, copy_name_;
  std::size_t from_ = 0, to_ = 0;
};

class CopyFieldStage final : public WorkStage {
 public:
  CopyFieldStage(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string label = "copy_field(" + from_ + ")";
    Field field = pipeline.at(from_, label);
    if (pipeline.schema().find(to_))
      throw Error(Errc::invalid_argument,
                  "there is a field \"" + to_ + "\" already; the fields are " + pipeline.schema().to_string())
          .with_stage(label);
    field.name = to_;
    pipeline.add_stage("copy_field", label, "to " + to_, 0, pipeline.schema().with(std::move(field)));
    if (const auto said = pipeline.data().collates.find(from_); said != pipeline.data().collates.end())
      pipeline.data().collates[to_] = said->second;
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<CopyFieldStep>(bound, from_, to_));
  }
  bool gives(const std::string& field) const override { return field == to_; }
  std::optional<bool> gives_labels(const std::string&) const override { return std::nullopt; }
  // The copy needs all pixels, so no resize after it can tell at which size they are decoded.
  std::optional<bool> awaits_resize(const std::string& field) const override {
    return field == to_ || field == from_ ? std::optional(false) : std::nullopt;
  }
  const std::string& name_before(const std::string& name) const override { return name == to_ ? from_ : name; }

 private:
  const std::string from_, to_;
};

}  // namespace

}  // namespace detail::runtime

Stage copy_field(std::string from, std::string to) {
  if (to.empty()) throw Error(Errc::invalid_argument, "say the copy's name").with_stage("copy_field(" + from + ")");
  return detail::make_stage(detail::runtime::CopyFieldStage(std::move(from), std::move(to)));
}

}  // namespace penstock
