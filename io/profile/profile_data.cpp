// SPDX-License-Identifier: Apache-2.0
#include "io/profile/profile_data.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/transfer_functions.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::io::profile {

using physics::mt::DatumKey;
using physics::mt::MaskReason;
using physics::mt::not_given;
using physics::mt::ObservedData;
using physics::mt::Quantity;

ProfileDataCollector::ProfileDataCollector(std::string reader, std::vector<physics::mt::Station> stations,
                                           std::vector<double> frequencies_hz)
    : reader_(std::move(reader)),
      stations_(std::move(stations)),
      frequencies_hz_(std::move(frequencies_hz)) {}

void ProfileDataCollector::set(const DatumKey& key, double value, double sigma, const std::string& where) {
  if (std::isfinite(value) && sigma < 0.0) ++n_negative_;
  if (values_.try_emplace({key.quantity, key.frequency, key.station}, value, sigma).second) return;
  throw core::FormatError(
      reader_, "{}: expected one value of each kind per station and frequency, got a second {} of station {}",
      where, name_of(key.quantity), stations_[static_cast<std::size_t>(key.station)].name);
}

std::vector<std::string> ProfileDataCollector::warnings(const std::string& path) const {
  if (n_negative_ == 0) return {};
  return {
      fmt::format("{}: {} data have a negative standard error and are not used; write positive ones, or 0 "
                  "for data not to be fitted",
                  path, n_negative_)};
}

ObservedData on_full_survey(const std::vector<physics::mt::Station>& stations,
                            const std::vector<double>& frequencies_hz, const DataByKey& values) {
  std::vector<Quantity> quantities;
  for (const auto& [key, datum] : values) {
    if (quantities.empty() || quantities.back() != std::get<0>(key)) quantities.push_back(std::get<0>(key));
  }
  ObservedData out;
  out.survey = physics::mt::full_survey(stations, frequencies_hz, quantities);
  const auto n = static_cast<Eigen::Index>(out.survey.keys.size());
  out.value.setConstant(n, not_given);
  out.sigma.setConstant(n, not_given);
  out.mask.assign(out.survey.keys.size(), MaskReason::missing);
  out.interpolated.assign(out.survey.keys.size(), 0);
  for (std::size_t i = 0; i < out.survey.keys.size(); ++i) {
    const DatumKey& key = out.survey.keys[i];
    const auto found = values.find({key.quantity, key.frequency, key.station});
    if (found == values.end() || !std::isfinite(found->second.first)) continue;
    const auto [value, sigma] = found->second;
    out.value[static_cast<Eigen::Index>(i)] = value;
    out.sigma[static_cast<Eigen::Index>(i)] = sigma;
    out.mask[i] = sigma > 0.0 && std::isfinite(sigma) ? MaskReason::kept : MaskReason::bad_error;
  }
  return out;
}

LineReader::LineReader(const std::string& bytes, std::string path, std::string reader,
                       std::string comment_marks)
    : lines_(text::split_lines(bytes)),
      path_(std::move(path)),
      reader_(std::move(reader)),
      comment_marks_(std::move(comment_marks)) {}

bool LineReader::next() {
  while (next_ < lines_.size()) {
    const std::string_view line = lines_[next_++];
    text_ = text::trimmed(line.substr(0, line.find_first_of(comment_marks_)));
    if (!text_.empty()) return true;
  }
  text_ = {};
  return false;
}

void LineReader::require_next(const std::string& what) {
  if (!next()) refuse(fmt::format("expected {}, got the end of the file; is it cut off?", what));
}

std::string LineReader::here() const { return fmt::format("{}:{}", path_, next_); }

double LineReader::finite(std::string_view word, const std::string& what) const {
  const auto value = text::number(word);
  if (!value || !std::isfinite(*value))
    refuse(fmt::format("expected {}, got \"{}\"", what, text::printable(word)));
  return *value;
}

int LineReader::whole(std::string_view word, const std::string& what, int least, int most) const {
  const auto value = text::integer(word);
  if (!value || *value < least || *value > most)
    refuse(fmt::format("expected {} from {} to {}, got \"{}\"", what, least, most, text::printable(word)));
  return *value;
}

void LineReader::refuse(const std::string& text) const {
  throw core::FormatError(reader_, "{}: {}", here(), text);
}

}  // namespace lodestone::io::profile
