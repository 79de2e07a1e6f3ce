#include <variant>

#include "chain.hpp"

namespace penstock::detail {

namespace {

// Where the slots of `to` were in `from`, by name.
std::vector<std::ptrdiff_t> renumber(const Schema& from, const Schema& to) {
  std::vector<std::ptrdiff_t> out;
  for (const Field& f : to) {
    const auto slot = from.find(f.name);
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
      least = static_cast<std::ptrdiff_t>(before);  // nothing kept behind a new one
    } else {
      down = down && from[i] >= least;
      least = from[i] + 1;
    }
  }
  return same ? Step::Renumber::no : down ? Step::Renumber::down : Step::Renumber::freely;
}

void relate(Step& step, const Schema& before) {
  step.from = renumber(before, step.schema);
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
  for (const BoundStage& stage : data_->stages) {
    const auto* image = std::get_if<ImageItem>(&stage.stage.model().item);
    Step& last = steps_.back();
    if (image != nullptr && last.kind == Step::Kind::image && last.executor == image->executor &&
        last.schema[last.out_slot].name == image->field) {
      last.parts.push_back({image->model.get(), stage.key, stage.label});
      last.label += " + " + stage.label;
      last.schema = stage.out;
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
      step.keeps_shape = !f->options.shape || !f->options.shape->fixed();
      if (!step.keeps_shape) step.field_map_shape = *f->options.shape;
    } else if (const auto* d = std::get_if<DecodeItem>(&stage.stage.model().item)) {
      step.kind = Step::Kind::image;
      step.decoder = d->decoder.get();
      step.decoder_label = stage.label;
      step.executor = d->executor;
      step.in_slot = step.out_slot = stage.out.slot(d->field);
    } else if (image != nullptr) {
      step.kind = Step::Kind::image;
      step.executor = image->executor;
      step.in_slot = step.out_slot = stage.out.slot(image->field);
      step.parts.push_back({image->model.get(), stage.key, stage.label});
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
    }
    relate(step, stage.in);
    steps_.push_back(std::move(step));
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
  for (const Field& field : data_->schema)
    row_bytes_.push_back(field.shape.fixed() ? static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype)
                                             : 0);
}

// The last step that makes a field's value is told the field's place in the batch. Names are followed backwards, as
// slots may be renumbered on the way.
void Chain::assign_homes() {
  for (std::size_t row = 0; row < data_->schema.size(); ++row) {
    const std::string& name = data_->schema[row].name;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const auto slot = steps_[i].schema.find(name);
      if (!slot) break;
      if (makes(steps_[i], i == 0 ? steps_[i].schema : steps_[i - 1].schema, *slot)) {
        steps_[i].homes.push_back({*slot, row});
        break;
      }
    }
  }
}

}  // namespace penstock::detail
