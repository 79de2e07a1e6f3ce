// Views of a source: records with some values of a field.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "source/source_impl.hpp"

namespace penstock {

using slide::PackedNumbers;
using slide::SlideFile;

namespace {

// Numbers of the records that stay.
PackedNumbers kept_of(const PackedNumbers& numbers, const std::vector<bool>& wanted) {
  PackedNumbers kept(static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true)), numbers.bits());
  std::size_t record = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) kept.set(record++, numbers[i]);
  return kept;
}

}  // namespace

SlideSource::Impl::Impl(const Impl& all, std::size_t slot, std::span<const std::int64_t> values) : Impl(all) {
  const auto wants = [&](std::int64_t value) { return std::ranges::find(values, value) != values.end(); };
  const slide::SlideColumn* const column = column_of(slot);
  for (SlideFile& slide : slides) {
    std::vector<bool> wanted(static_cast<std::size_t>(slide.grid.size()), true);
    if (is_region_field(slot)) {
      if (slide.failure) continue;
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = wants(shown_class(slide, i));
    } else if (!wants(column == nullptr ? static_cast<std::int64_t>(slide.number) : column->whole[slide.number])) {
      std::fill(wanted.begin(), wanted.end(), false);
    }
    if (std::ranges::find(wanted, false) == wanted.end()) continue;
    if (!slide.shown_classes.words().empty()) slide.shown_classes = kept_of(slide.shown_classes, wanted);
    slide.grid.keep(wanted);
  }
  infos.clear();
  number();
  describe();
}

SlideSource SlideSource::only(std::string_view field, std::initializer_list<std::int64_t> values) const {
  const auto slot = impl_->schema.find(field);
  const slide::SlideColumn* const column = slot ? impl_->column_of(*slot) : nullptr;
  const bool known = slot && (*slot == Impl::slide_number || impl_->is_region_field(*slot) ||
                              (column != nullptr && !column->whole.empty()));
  if (!known)
    throw Error(Errc::invalid_argument, "there is no view by \"" + printable(field) +
                                            "\": only by `slide`, a column of whole numbers or classes, and "
                                            "`regions.field`")
        .with_source(slide::source_name);
  return SlideSource(std::make_shared<const Impl>(*impl_, *slot, std::span(values.begin(), values.size())));
}

SlideSource SlideSource::only(std::string_view field, std::initializer_list<std::string_view> names) const {
  const auto slot = impl_->schema.find(field);
  std::vector<std::int64_t> values;
  for (const std::string_view name : names) {
    const ClassNames classes = slot ? impl_->schema[*slot].classes : ClassNames();
    const auto at = std::find(classes.begin(), classes.end(), name);
    if (at == classes.end())
      throw Error(Errc::not_found, "the field \"" + printable(field) + "\" has no class \"" + printable(name) + "\"")
          .with_source(slide::source_name);
    values.push_back(at - classes.begin());
  }
  if (!slot) return only(field, std::initializer_list<std::int64_t>{});
  return SlideSource(std::make_shared<const Impl>(*impl_, *slot, std::span(std::as_const(values))));
}

}  // namespace penstock
