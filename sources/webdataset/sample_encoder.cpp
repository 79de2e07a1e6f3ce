// SPDX-License-Identifier: Apache-2.0
#include "sample_encoder.hpp"

#include <algorithm>
#include <array>

#include "common/sinks/image_extension.hpp"
#include "errors.hpp"
#include "npy.hpp"
#include "tar_header.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::array<std::byte, tar_block_bytes> zeros{};

enum class Usual : std::uint8_t { image, integer, array };

Usual usual_of(const Field& field) noexcept {
  if (field.dtype == DType::u8 && field.shape.rank() == 1 && !field.shape.fixed()) return Usual::image;
  return field.dtype == DType::i64 && field.shape.rank() == 0 ? Usual::integer : Usual::array;
}

bool letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void check_extension(std::string_view extension, std::string_view field) {
  bool good = !extension.empty() && !extension.ends_with("__") && !extension.ends_with('.');
  char before = '.';
  for (const char c : extension) {
    good = good && (letter_or_digit(c) || c == '_' || c == '-' || (c == '.' && before != '.'));
    before = c;
  }
  if (!good)
    throw Error(Errc::invalid_argument,
                "the field \"" + printable(field) + "\" would get the extension \"" + printable(extension) +
                    "\"; extensions have letters, digits, '_', '-' and single dots, and don't end in \"__\"; give "
                    "another one in `extensions`");
}

std::string_view last_part(std::string_view extension) noexcept { return extension.substr(extension.rfind('.') + 1); }

}  // namespace

std::string name_as_extension(std::string_view field) {
  std::string made;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const char c = field[i] == '/' ? '.' : field[i];
    const bool dot = c == '.' && !made.empty() && !made.ends_with('.') && i + 1 != field.size();
    made += dot || letter_or_digit(c) || c == '_' || c == '-' ? c : '_';
  }
  return made;
}

SampleEncoder::SampleEncoder(const Schema& schema, const std::vector<WebDatasetExtension>& extensions)
    : schema_(schema) {
  if (schema.size() == 0) throw Error(Errc::invalid_argument, "samples without fields can't be stored");
  const auto given_to = [&](const Field& field) {
    return std::find_if(extensions.begin(), extensions.end(), [&](const auto& e) { return e.field == field.name; });
  };
  for (const WebDatasetExtension& extension : extensions) static_cast<void>(schema.slot(extension.field));
  std::vector<WebDatasetField> planned;
  for (const Field& field : schema) {
    if (field.dtype == DType::bf16)
      throw Error(Errc::unsupported, "the field \"" + printable(field.name) +
                                         "\" is bf16, which NumPy's files can't say; cast it to f32 or f16 before");
    const Usual usual = usual_of(field);
    if (const auto given = given_to(field); given != extensions.end()) {
      check_extension(given->extension, field.name);
      const bool text = usual == Usual::integer && last_part(given->extension) != "npy";
      const bool bytes = usual == Usual::image && last_part(given->extension) != "npy";
      contents_.push_back(text ? Content::digits : bytes ? Content::bytes : Content::array);
      planned.push_back({field.name, given->extension});
      continue;
    }
    const bool known =
        (usual == Usual::image && field.name == "image") || (usual == Usual::integer && field.name == "label");
    const std::string prefix = known ? "" : name_as_extension(field.name) + ".";
    switch (usual) {
      case Usual::image:
        contents_.push_back(Content::sniffed);
        planned.push_back({field.name, ""});
        for (const std::string_view extension : common::image_extensions)
          planned.back()
              .extensions.append(planned.back().extensions.empty() ? "" : ";")
              .append(prefix)
              .append(extension);
        break;
      case Usual::integer:
        contents_.push_back(Content::digits);
        planned.push_back({field.name, prefix + "cls"});
        break;
      case Usual::array:
        contents_.push_back(Content::array);
        planned.push_back({field.name, prefix + "npy"});
        break;
    }
    check_extension(prefix + "bin", field.name);
  }
  fields_ = plan_fields(planned);
  heads_.resize(fields_.size());
}

std::string SampleEncoder::text() const {
  std::string text;
  for (const PlannedField& field : fields_)
    text += (text.empty() ? "" : ", ") + field.name + "=" + extensions_text(field);
  return text;
}

std::uint64_t SampleEncoder::encode(std::string_view key, const Sample& sample) {
  pieces_.clear();
  std::uint64_t all = 0;
  for (std::size_t slot = 0; slot < fields_.size(); ++slot) {
    const TensorView tensor = sample.tensor(slot);
    std::span<const std::byte> bytes(tensor.data, tensor.bytes());
    std::string before;
    std::string_view extension = fields_[slot].extensions.front();
    if (contents_[slot] == Content::sniffed) {
      const std::string_view kind = common::image_extension(bytes);
      for (const std::string& one : fields_[slot].extensions)
        if (last_part(one) == kind) extension = one;
    } else if (contents_[slot] == Content::digits) {
      before = std::to_string(*tensor.as<const std::int64_t, 0>().data());
      bytes = {};
    } else if (contents_[slot] == Content::array) {
      before = make_npy_header(tensor.dtype, tensor.shape);
    }
    const std::uint64_t size = before.size() + bytes.size();
    std::string name(key);
    name += '.';
    name += extension;
    heads_[slot] = make_header(name, size) + before;
    const auto padding = static_cast<std::size_t>(padding_of(size));
    pieces_.push_back(std::as_bytes(std::span(heads_[slot])));
    pieces_.push_back(bytes);
    pieces_.push_back(std::span(zeros).first(padding));
    all += heads_[slot].size() + bytes.size() + padding;
  }
  return all;
}

}  // namespace penstock::webdataset
