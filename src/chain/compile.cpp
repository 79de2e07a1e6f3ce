#include <algorithm>
#include <variant>

#include "chain/chain.hpp"

namespace penstock::detail {

namespace {

// Where the slots of `to` were in `from`, by name.
std::vector<std::ptrdiff_t> renumber(const Schema& from, const Schema& to, const std::string& renamed_from,
                                     const std::string& renamed_to) {
  std::vector<std::ptrdiff_t> out;
  for (const Field& f : to) {
    const auto slot = from.find(f.name == renamed_to ? renamed_from : f.name);
    out.push_back(slot ? static_cast<std::ptrdiff_t>(*slot) : -1);
  }
  return out;
}

Step::Renumber renumbering(const std::vector<std::ptrdiff_t>& from, std::size_t before) {
  bool same = from.size() == before, down = true;
  std::ptrdiff_t least = 0;  // old slot that the next kept one may have
  for (std::size_t i = 0; i < from.size(); ++i) {
    same = same && from[i] == static_cast<std::ptrdiff_t>(i);
    if (from[i] < 0) {
      least = static_cast<std::ptrdiff_t>(before);  // nothing kept after a new one
    } else {
      down = down && from[i] >= least;
      least = from[i] + 1;
    }
  }
  return same ? Step::Renumber::no : down ? Step::Renumber::down : Step::Renumber::freely;
}

void relate(Step& step, const Schema& before) {
  step.from = renumber(before, step.schema, step.renamed_from, step.renamed_to);
  step.renumber = renumbering(step.from, before.size());
  for (std::size_t i = 0; i < step.from.size(); ++i) {
    if (step.from[i] < 0) continue;
    const Field& old = before[static_cast<std::size_t>(step.from[i])];
    if (old.dtype != step.schema[i].dtype || old.shape.rank() != step.schema[i].shape.rank()) step.cleared.push_back(i);
  }
}

// True when the step replaces this field's value, rather than changing it in place or leaving it alone.
bool makes(const Step& step, const Schema& before, std::size_t slot) {
  switch (step.kind) {
    case Step::Kind::read:
    case Step::Kind::cache:
      return true;
    case Step::Kind::image:
      return slot == step.out_slot;
    case Step::Kind::field_map:
      return slot == step.out_slot && !step.field_map->in_place;
    case Step::Kind::map: {
      const auto old = before.find(step.schema[slot].name);
      return !old || !(before[*old] == step.schema[slot]);
    }
    case Step::Kind::flat_map: {
      const auto old = before.find(step.schema[slot].name);
      return !old || !(before[*old] == step.schema[slot]);
    }
    case Step::Kind::draws:
      return !before.find(step.schema[slot].name);
    case Step::Kind::select:
    case Step::Kind::filter:
      return false;
  }
  return false;
}

}  // namespace

void Chain::compile() {
  Step read;
  read.label = "read";
  read.schema = data_->source_schema;
  if (data_->source->is_stream()) children_begin_ = 1;
  steps_.push_back(std::move(read));
  const auto add_cache = [&] {
    Step step;
    step.kind = Step::Kind::cache;
    step.label = data_->cache->label;
    const std::size_t before = data_->cache->stages;
    step.schema = before == 0 ? data_->source_schema : data_->stages[before - 1].out;
    step.out_slot = step.schema.size();
    cache_step_ = steps_.size();
    steps_.push_back(std::move(step));
    images_begin_ = steps_.size();
  };
  for (const BoundStage& stage : data_->stages) {
    if (data_->cache && data_->cache->stages == static_cast<std::size_t>(&stage - data_->stages.data())) add_cache();
    if (const auto* image = std::get_if<ImageItem>(&stage.stage.model().item)) {
      add_image(stage, *image);
      continue;
    }
    Step step;
    step.label = stage.label;
    step.key = stage.key;
    step.schema = stage.out;
    if (const auto* m = std::get_if<MapItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::map;
      step.map = m->model.get();
      step.out_slot = stage.out.size();
    } else if (const auto* f = std::get_if<FieldMapItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::field_map;
      step.field_map = f->model.get();
      step.in_slot = stage.out.slot(f->field);
      step.out_slot = stage.out.slot(f->options.out.empty() ? f->field : f->options.out);
      step.in_dtype = stage.in.at(f->field).dtype;
      step.out_dtype = stage.out[step.out_slot].dtype;
      const Shape& result = stage.out[step.out_slot].shape;
      if (f->model->decides_shape)
        step.result_shape = Step::ResultShape::decided;
      else if (result.fixed())
        step.result_shape = Step::ResultShape::fixed;
      else if (f->model->any_type)
        step.result_shape = Step::ResultShape::asked;
      step.fixed_shape = result;
    } else if (const auto* d = std::get_if<DecodeItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::image;
      step.decoder = d->decoder.get();
      step.decoder_label = stage.label;
      step.executor = d->executor;
      step.in_slot = step.out_slot = stage.out.slot(d->field);
      step.result = stage.out[step.out_slot];
    } else if (const auto* filter = std::get_if<FilterItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::filter;
      step.filter = filter->model.get();
      step.out_slot = stage.out.size();
    } else if (const auto* flat_map = std::get_if<FlatMapItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::flat_map;
      step.flat_map = flat_map->model.get();
      step.out_slot = stage.out.size();
      children_begin_ = steps_.size();
    } else {
      step.kind = Step::Kind::select;
      step.out_slot = stage.out.size();
      if (const auto* rename = std::get_if<RenameItem>(&stage.stage.model().item)) {
        add_rename(std::move(step), *rename);
        continue;
      }
    }
    steps_.push_back(std::move(step));
    if (steps_.back().kind != Step::Kind::image) images_begin_ = steps_.size();
  }
  if (data_->cache && data_->cache->stages == data_->stages.size()) add_cache();
  if (data_->device) {
    Step& step = steps_.emplace_back();
    step.kind = Step::Kind::draws;
    step.label = "draws";
    step.schema = data_->schema;
    step.out_slot = step.schema.size();
  }
  relate_steps();
}

// A name stands for a slot, which stays: so it can be another one before the image steps in work, and they go on
// folding.
void Chain::add_rename(Step step, const RenameItem& item) {
  step.renamed_from = item.from;
  step.renamed_to = item.to;
  for (std::size_t i = images_begin_; i < steps_.size(); ++i)
    if (steps_[i].result.name == item.from) steps_[i].result.name = item.to;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(images_begin_), std::move(step));
  ++images_begin_;
}

// Stages of one field fold into its last step. Image steps of different fields only meet in shared draws, so those in
// between are no hindrance.
void Chain::add_image(const BoundStage& stage, const ImageItem& item) {
  const std::string& first = item.fields[0].name;
  for (const ImageField& field : item.fields) {
    FoldPart part;
    part.model = item.model.get();
    part.key = stage.key;
    part.label = stage.label;
    part.filter = field.filter;
    part.shared = shared_draws_;
    if (item.fields.size() > 1) part.draw = field.name == first ? FoldPart::Draw::lead : FoldPart::Draw::follow;
    std::size_t at = last_image_step(field.name, item.executor);
    if (part.draw == FoldPart::Draw::follow && at < last_image_step(first, item.executor)) at = moved_to_the_end(at);
    if (at == steps_.size()) {
      Step& step = steps_.emplace_back();
      step.kind = Step::Kind::image;
      step.key = stage.key;
      step.executor = item.executor;
      step.in_slot = step.out_slot = stage.out.slot(field.name);
    }
    Step& step = steps_[at];
    step.label += (step.label.empty() ? "" : " + ") + stage.label;
    step.result = stage.out[step.out_slot];
    step.parts.push_back(std::move(part));
  }
  if (item.fields.size() > 1) ++shared_draws_;
}

std::size_t Chain::last_image_step(const std::string& field, const ImageExecutor* executor) const {
  for (std::size_t i = steps_.size(); i-- > images_begin_;)
    if (steps_[i].result.name == field) return steps_[i].executor == executor ? i : steps_.size();
  return steps_.size();
}

// The step's new place; or the end of the list, where a new step must begin, because others follow its draws.
std::size_t Chain::moved_to_the_end(std::size_t at) {
  for (const FoldPart& lead : steps_[at].parts)
    for (std::size_t i = at + 1; i < steps_.size(); ++i)
      for (const FoldPart& part : steps_[i].parts)
        if (lead.draw == FoldPart::Draw::lead && part.draw == FoldPart::Draw::follow && part.shared == lead.shared)
          return steps_.size();
  const auto step = steps_.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(step, step + 1, steps_.end());
  return steps_.size() - 1;
}

// Image steps were folded and moved, so what the sample looks like between them is known only now.
void Chain::relate_steps() {
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    const Schema& before = steps_[i - 1].schema;
    if (steps_[i].kind == Step::Kind::image) {
      if (steps_[i].decoder == nullptr) steps_[i].element = before.at(steps_[i].result.name).dtype;
      steps_[i].schema = before.with(steps_[i].result);
    }
    if (!steps_[i].renamed_to.empty()) {
      std::vector<Field> fields(before.begin(), before.end());
      for (Field& field : fields)
        if (field.name == steps_[i].renamed_from) field.name = steps_[i].renamed_to;
      steps_[i].schema = Schema(std::move(fields));
    }
    relate(steps_[i], before);
  }
}

// Fixed sizes are held against the limit here, once; the others with each sample.
void Chain::check_fixed_sizes() {
  for (Step& step : steps_) {
    step.fields = step.schema.size();
    for (std::size_t slot = 0; slot < step.fields; ++slot) {
      const Field& field = step.schema[slot];
      const bool one_slot = step.kind == Step::Kind::field_map || step.kind == Step::Kind::image;
      if (!field.shape.fixed()) {
        if (!one_slot || slot == step.out_slot) step.varying.push_back(slot);
      } else if (field.shape.elements() * size_of(field.dtype) > check_.max_sample_bytes) {
        throw Error(Errc::limit_exceeded,
                    "field \"" + field.name + "\" of shape " + field.shape.to_string() +
                        " is larger than `max_sample_bytes` = " + std::to_string(check_.max_sample_bytes))
            .with_stage(step.label);
      }
    }
  }
  if (!layout_) return;
  for (const RowField& field : layout_->fields())
    row_bytes_.push_back(field.kind == RowField::Kind::dense ? field.row_bytes : 0);
}

// The last step that makes a field's value is told the field's place in the batch. Names are followed backwards, as
// slots may be renumbered on the way.
void Chain::assign_homes() {
  for (std::size_t row = 0; row < data_->schema.size(); ++row) {
    std::string name = data_->schema[row].name;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const auto slot = steps_[i].schema.find(name);
      if (!slot) break;
      if (makes(steps_[i], i == 0 ? steps_[i].schema : steps_[i - 1].schema, *slot)) {
        const bool dense = !layout_ || (*layout_)[row].kind == RowField::Kind::dense;
        (dense ? steps_[i].homes : steps_[i].varying_homes).push_back({*slot, row});
        break;
      }
      if (!steps_[i].renamed_to.empty() && name == steps_[i].renamed_to) name = steps_[i].renamed_from;
    }
  }
}

}  // namespace penstock::detail
