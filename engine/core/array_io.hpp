// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/dtype.hpp"

#include <Eigen/Core>

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::core {

/// Dtype and row-major shape of one named array. Names are paths: "model/log10_resistivity".
struct ArrayInfo {
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
  [[nodiscard]] std::int64_t count() const;
};

/// Takes named arrays and attributes; HDF5 and other formats implement it above this layer.
class ArraySink {
 public:
  virtual ~ArraySink() = default;
  virtual void write(const std::string& name, const ArrayInfo& info, std::span<const std::byte> bytes) = 0;
  /// Text beside an array or group ("" = root), e.g. ("model/log10_resistivity", "units", "log10(ohm m)").
  virtual void attribute(const std::string& object, const std::string& key, const std::string& text) = 0;
  /// Writes texts; the default as u8 of shape (n, width), zero padded. Override where the format has texts.
  virtual void texts(const std::string& name, const std::vector<std::string>& texts);
};

/// Gives named arrays and attributes back.
class ArraySource {
 public:
  virtual ~ArraySource() = default;
  [[nodiscard]] virtual bool contains(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;  ///< all arrays, sorted
  [[nodiscard]] virtual ArrayInfo info(const std::string& name) const = 0;
  /// Reads elements [first, first + out.size()/size_of(dtype)) in row-major order. errors: FormatError on a
  /// missing array or range.
  virtual void read(const std::string& name, std::int64_t first, std::span<std::byte> out) const = 0;
  [[nodiscard]] virtual std::string attribute(const std::string& object,
                                              const std::string& key) const = 0;  ///< FormatError without it
  [[nodiscard]] virtual bool has_attribute(const std::string& object, const std::string& key) const = 0;
  [[nodiscard]] virtual std::string location() const { return "memory"; }  ///< the file, for messages
};

// Conveniences over the two interfaces. Eigen matrices are written row-major with shape (rows, cols).
// errors of the readers: FormatError when the array is missing or has another dtype or rank.
void write_vector(ArraySink& sink, const std::string& name, std::span<const double> values);
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::complex<double>> values);
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::int64_t> values);
void write_vector(ArraySink& sink, const std::string& name, std::span<const std::uint8_t> values);
void write_matrix(ArraySink& sink, const std::string& name, const Eigen::Ref<const Eigen::MatrixXd>& values);
void write_texts(ArraySink& sink, const std::string& name, const std::vector<std::string>& texts);
/// Writes one number, as an array without dimensions. `units`: its attribute; "" for none.
void write_number(ArraySink& sink, const std::string& name, double value, const std::string& units = {});
/// Reads one number. errors: also FormatError when the array holds several.
[[nodiscard]] double read_number(const ArraySource& source, const std::string& name);
[[nodiscard]] std::vector<double> read_doubles(const ArraySource& source, const std::string& name);
[[nodiscard]] std::vector<std::complex<double>> read_complexes(const ArraySource& source,
                                                               const std::string& name);
[[nodiscard]] std::vector<std::int64_t> read_integers(const ArraySource& source, const std::string& name);
[[nodiscard]] std::vector<std::uint8_t> read_bytes(const ArraySource& source, const std::string& name);
[[nodiscard]] Eigen::MatrixXd read_matrix(const ArraySource& source, const std::string& name);
/// Reads a vector whose numbers must be finite. `size`: expected number, negative: any. errors: FormatError
/// that names file and array.
[[nodiscard]] Eigen::VectorXd read_finite(const ArraySource& source, const std::string& name,
                                          Eigen::Index size = -1);
[[nodiscard]] std::vector<std::string> read_texts(const ArraySource& source, const std::string& name);

}  // namespace lodestone::core
