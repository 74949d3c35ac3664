// SPDX-License-Identifier: Apache-2.0
#include "engine/core/array_io.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::core {
namespace {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
void write_flat(ArraySink& sink, const std::string& name, DType dtype, std::span<const T> values) {
  sink.write(name, {dtype, {static_cast<std::int64_t>(values.size())}}, std::as_bytes(values));
}

std::string describe(const ArrayInfo& info) {
  return fmt::format("{} of shape ({})", name_of(info.dtype), fmt::join(info.shape, ", "));
}

/// Returns the info of an array that must exist with this dtype and, unless 0, this number of axes.
ArrayInfo expect(const ArraySource& source, const std::string& name, DType dtype, std::size_t rank) {
  if (!source.contains(name))
    throw FormatError("core::read#missing_array",
                      "{}: expected an array \"{}\", found none; is the file complete?", source.location(),
                      name);
  ArrayInfo info = source.info(name);
  if (info.dtype != dtype || (rank != 0 && info.shape.size() != rank)) {
    throw FormatError("core::read#other_array",
                      "{}: expected array \"{}\" as {}{}, got {}; was the file written by another version?",
                      source.location(), name, name_of(dtype),
                      rank == 0 ? "" : fmt::format(" with {} axes", rank), describe(info));
  }
  return info;
}

template <class T>
std::vector<T> read_flat(const ArraySource& source, const std::string& name, DType dtype) {
  std::vector<T> values(static_cast<std::size_t>(expect(source, name, dtype, 0).count()));
  source.read(name, 0, std::as_writable_bytes(std::span<T>(values)));
  return values;
}

}  // namespace

std::int64_t ArrayInfo::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

void write_vector(ArraySink& sink, const std::string& name, std::span<const double> values) {
  write_flat(sink, name, DType::f64, values);
}
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::complex<double>> values) {
  write_flat(sink, name, DType::c128, values);
}
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::int64_t> values) {
  write_flat(sink, name, DType::i64, values);
}
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::uint8_t> values) {
  write_flat(sink, name, DType::u8, values);
}

void write_matrix(ArraySink& sink, const std::string& name, const Eigen::Ref<const Eigen::MatrixXd>& values) {
  const RowMajorMatrix rows = values;
  const std::span<const double> flat(rows.data(), static_cast<std::size_t>(rows.size()));
  sink.write(name, {DType::f64, {rows.rows(), rows.cols()}}, std::as_bytes(flat));
}

void ArraySink::texts(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::vector<char> padded(texts.size() * width, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::ranges::copy(texts[i], padded.begin() + static_cast<std::ptrdiff_t>(i * width));
  const ArrayInfo info{DType::u8,
                       {static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(width)}};
  write(name, info, std::as_bytes(std::span<const char>(padded)));
}

void write_texts(ArraySink& sink, const std::string& name, const std::vector<std::string>& texts) {
  sink.texts(name, texts);
}

std::vector<double> read_doubles(const ArraySource& source, const std::string& name) {
  return read_flat<double>(source, name, DType::f64);
}
std::vector<std::complex<double>> read_complexes(const ArraySource& source, const std::string& name) {
  return read_flat<std::complex<double>>(source, name, DType::c128);
}
std::vector<std::int64_t> read_integers(const ArraySource& source, const std::string& name) {
  return read_flat<std::int64_t>(source, name, DType::i64);
}
std::vector<std::uint8_t> read_bytes(const ArraySource& source, const std::string& name) {
  return read_flat<std::uint8_t>(source, name, DType::u8);
}

Eigen::MatrixXd read_matrix(const ArraySource& source, const std::string& name) {
  const ArrayInfo info = expect(source, name, DType::f64, 2);
  RowMajorMatrix rows(info.shape[0], info.shape[1]);
  source.read(name, 0,
              std::as_writable_bytes(std::span<double>(rows.data(), static_cast<std::size_t>(rows.size()))));
  return rows;
}

Eigen::VectorXd read_finite(const ArraySource& source, const std::string& name, Eigen::Index size) {
  const ArrayInfo info = expect(source, name, DType::f64, 1);
  if (size >= 0 && info.shape[0] != size)
    throw FormatError("core::read_finite#other_size", "{}: expected {} numbers in \"{}\", got {}",
                      source.location(), size, name, info.shape[0]);
  const std::vector<double> values = read_doubles(source, name);
  if (const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
      wrong != values.end())
    throw FormatError("core::read_finite#not_finite", "{}: expected finite numbers in \"{}\", got {} at {}",
                      source.location(), name, *wrong, wrong - values.begin());
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

std::vector<std::string> read_texts(const ArraySource& source, const std::string& name) {
  const auto width = static_cast<std::size_t>(expect(source, name, DType::u8, 2).shape[1]);
  const std::vector<std::uint8_t> bytes = read_bytes(source, name);
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < bytes.size(); first += width) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(width);
    texts.push_back(clean_text(std::string(begin, std::find(begin, end, std::uint8_t{0}))));
  }
  return texts;
}

void write_number(ArraySink& sink, const std::string& name, double value, const std::string& units) {
  sink.write(name, {DType::f64, {}}, std::as_bytes(std::span(&value, 1)));
  if (!units.empty()) sink.attribute(name, "units", units);
}

double read_number(const ArraySource& source, const std::string& name) {
  const std::vector<double> values = read_doubles(source, name);
  if (values.size() != 1)
    throw FormatError("core::read_number#not_one_number", "{}: expected one number in \"{}\", got {}",
                      source.location(), name, values.size());
  return values.front();
}

}  // namespace lodestone::core
