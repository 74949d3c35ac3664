// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/survey.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lodestone::io::profile {

/// What a data file says whose stations lie on a profile already.
struct ProfileData {
  physics::mt::ObservedData data;  ///< ohm, e^{+iωt}, phases not folded; absent data are masked as missing
  std::vector<double> z_m;         ///< per station, downwards; NaN: the file does not say
  std::vector<double> tilt_deg;    ///< per station: dip of the sensors' y axis, positive downwards to +y
  std::vector<std::string> warnings;  ///< what was left out or assumed, with file:line
};

/// (value, σ) by quantity, frequency and station, in any order.
using DataByKey = std::map<std::tuple<physics::mt::Quantity, int, int>, std::pair<double, double>>;

/// The data on a full survey of these stations and frequencies. A σ that is not positive or not finite masks
/// the datum as bad_error, a value that is not finite (or absent) as missing.
[[nodiscard]] physics::mt::ObservedData on_full_survey(const std::vector<physics::mt::Station>& stations,
                                                       const std::vector<double>& frequencies_hz,
                                                       const DataByKey& values);

/// Collects data that come in any order for `on_full_survey`.
class ProfileDataCollector {
 public:
  ProfileDataCollector(std::string reader, std::vector<physics::mt::Station> stations,
                       std::vector<double> frequencies_hz);

  /// errors: FormatError at `where` when the datum is there already.
  void set(const physics::mt::DatumKey& key, double value, double sigma, const std::string& where);
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// What a user should know of the errors of a file; nothing where all is well.
  [[nodiscard]] std::vector<std::string> warnings(const std::string& path) const;
  [[nodiscard]] physics::mt::ObservedData data() const {
    return on_full_survey(stations_, frequencies_hz_, values_);
  }

 private:
  std::string reader_;
  std::vector<physics::mt::Station> stations_;
  std::vector<double> frequencies_hz_;
  DataByKey values_;
  int n_negative_ = 0;  ///< errors
};

/// The lines of a text file one by one, without comments and empty lines.
class LineReader {
 public:
  /// `comment_marks`: what follows one of these characters on a line is left out. `bytes` must live as long
  /// as the reader.
  LineReader(const std::string& bytes, std::string path, std::string reader, std::string comment_marks);

  /// False at the end of the file.
  [[nodiscard]] bool next();
  /// As `next`, but the end of the file is a FormatError that says what was expected.
  void require_next(const std::string& what);
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string here() const;
  /// A word of this line. errors: FormatError at this line.
  [[nodiscard]] double finite(std::string_view word, const std::string& what) const;
  /// A whole number from `least` to `most`.
  [[nodiscard]] int whole(std::string_view word, const std::string& what, int least, int most) const;
  [[noreturn]] void refuse(const std::string& text) const;

 private:
  std::vector<std::string_view> lines_;
  std::string path_, reader_, comment_marks_;
  std::string_view text_;
  std::size_t next_ = 0;
};

}  // namespace lodestone::io::profile
