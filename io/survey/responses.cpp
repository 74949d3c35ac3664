// SPDX-License-Identifier: Apache-2.0
#include "io/survey/responses.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <complex>

namespace lodestone::io::survey {

namespace mt = physics::mt;

namespace {

/// Position of an entry in a list of distinct values, in order of first appearance.
template <class T>
std::size_t place_of(const T& value, std::vector<T>& list) {
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) {
    return static_cast<std::size_t>(found - list.begin());
  }
  list.push_back(value);
  return list.size() - 1;
}

struct Axes {
  std::vector<std::string> sites;
  std::vector<double> frequencies_hz, y_m, z_m;

  explicit Axes(const std::vector<mt::Response>& responses) {
    for (const mt::Response& response : responses) {
      place_of(response.frequency_hz, frequencies_hz);
      if (place_of(response.site, sites) == y_m.size()) {
        y_m.push_back(response.y_m);
        z_m.push_back(response.z_m);
      }
    }
  }
  [[nodiscard]] std::vector<std::int64_t> shape() const {
    return {std::ssize(frequencies_hz), std::ssize(sites)};
  }
  [[nodiscard]] std::size_t count() const { return frequencies_hz.size() * sites.size(); }
};

void write_array(hdf5::Hdf5Sink& sink, const std::string& name, const Axes& axes,
                 const std::vector<mt::Complex>& values, const std::string& units) {
  sink.write(name, {core::DType::c128, axes.shape()}, std::as_bytes(std::span(values)));
  sink.attribute(name, "units", units);
}

void write_array(hdf5::Hdf5Sink& sink, const std::string& name, const Axes& axes,
                 const std::vector<double>& values, const std::string& units) {
  sink.write(name, {core::DType::f64, axes.shape()}, std::as_bytes(std::span(values)));
  sink.attribute(name, "units", units);
}

void write_mode(hdf5::Hdf5Sink& sink, const std::vector<mt::Response>& responses, Axes axes, mt::Mode mode) {
  const mt::Complex missing(mt::not_given, mt::not_given);
  std::vector<mt::Complex> impedance(axes.count(), missing), tipper(axes.count(), missing);
  std::vector<double> rho(axes.count(), mt::not_given), phase(axes.count(), mt::not_given);
  bool any = false;
  for (const mt::Response& response : responses) {
    if (response.mode != mode) {
      continue;
    }
    any = true;
    const std::size_t at = place_of(response.frequency_hz, axes.frequencies_hz) * axes.sites.size() +
                           place_of(response.site, axes.sites);
    impedance[at] = response.impedance_ohm;
    tipper[at] = response.tipper;
    rho[at] = mt::apparent_resistivity_ohm_m(response.impedance_ohm, response.frequency_hz);
    phase[at] = mt::phase_deg(response.impedance_ohm);
  }
  if (!any) {
    return;
  }
  const std::string group = mode == mt::Mode::te ? "te/" : "tm/";
  write_array(sink, group + "impedance", axes, impedance, "ohm");
  write_array(sink, group + "apparent_resistivity", axes, rho, "ohm m");
  write_array(sink, group + "phase", axes, phase, "degree");
  if (mode == mt::Mode::te) {
    write_array(sink, group + "tipper", axes, tipper, "1");
  }
}

void write_column(hdf5::Hdf5Sink& sink, const std::string& name, const std::vector<double>& values,
                  const std::string& units) {
  core::write_vector(sink, name, values);
  sink.attribute(name, "units", units);
}

/// Per site in `definition`; for all of them, or "mixed", as an attribute of the file.
void write_definitions(hdf5::Hdf5Sink& sink, const std::vector<mt::Response>& responses, Axes axes) {
  std::vector<std::string> names(axes.sites.size());
  for (const mt::Response& response : responses)
    names[place_of(response.site, axes.sites)] = core::word(response.definition);
  sink.texts("definition", names);
  const bool same =
      std::all_of(names.begin(), names.end(), [&](const std::string& name) { return name == names.front(); });
  sink.attribute("", "definition", same ? names.front() : "mixed");
}

}  // namespace

void write_responses_hdf5(const std::filesystem::path& path, const std::vector<mt::Response>& responses) {
  if (responses.empty()) {
    throw core::InvalidArgument("io::write_responses_hdf5#no_response",
                                "{}: expected at least one response, but there is none", path.string());
  }
  const Axes axes(responses);
  std::vector<double> period_s(axes.frequencies_hz.size());
  std::transform(axes.frequencies_hz.begin(), axes.frequencies_hz.end(), period_s.begin(),
                 [](double frequency) { return 1.0 / frequency; });
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, "lodestone responses", 1);
  sink.attribute("", "sign", "exp(+i omega t); phases are not folded");
  sink.texts("site", axes.sites);
  write_definitions(sink, responses, axes);
  write_column(sink, "y_m", axes.y_m, "m");
  write_column(sink, "z_m", axes.z_m, "m");
  write_column(sink, "period_s", period_s, "s");
  write_mode(sink, responses, axes, mt::Mode::te);
  write_mode(sink, responses, axes, mt::Mode::tm);
  sink.commit();
}

}  // namespace lodestone::io::survey
