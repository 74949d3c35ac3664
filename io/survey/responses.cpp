// SPDX-License-Identifier: Apache-2.0
#include "io/survey/responses.hpp"

#include "engine/core/error.hpp"
#include "io/csv/rows.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iterator>

namespace lodestone::io::survey {

namespace mt = physics::mt;

namespace {

constexpr std::string_view responses_header =
    "site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition";

constexpr std::string_view full_responses_header =
    "site,period_s,x_m,y_m,Zxx_re_ohm,Zxx_im_ohm,Zxy_re_ohm,Zxy_im_ohm,Zyx_re_ohm,Zyx_im_ohm,Zyy_re_ohm,"
    "Zyy_im_ohm,rho_xy_ohm_m,phase_xy_deg,rho_yx_ohm_m,phase_yx_deg,Tzx_re,Tzx_im,Tzy_re,Tzy_im";
constexpr std::array impedances{mt::Element::zxx, mt::Element::zxy, mt::Element::zyx, mt::Element::zyy};
constexpr std::string_view interstation_header =
    ",reference,Mxx_re,Mxx_im,Mxy_re,Mxy_im,Myx_re,Myx_im,Myy_re,Myy_im";
constexpr std::array tippers{mt::Element::tzx, mt::Element::tzy};
constexpr std::array interstation{mt::Element::mxx, mt::Element::mxy, mt::Element::myx, mt::Element::myy};

/// Returns "zxy", "tzx" …
std::string word_of(mt::Element element) { return text::lower(mt::rule_of(element).name); }

/// Returns the name of the array of an element over a volume.
std::string array_of(mt::Element element) {
  const char* group = mt::is_impedance(element) ? "impedance/"
                      : mt::is_tipper(element)  ? "tipper/"
                                                : "interstation/";
  return group + word_of(element);
}

bool has_references(const mt::Survey& survey) {
  return std::ranges::any_of(survey.stations,
                             [](const mt::Station& each) { return !each.reference.empty(); });
}

/// Returns the position of an entry in a list of distinct values, in order of first appearance.
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

  Axes() = default;
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

/// Writes what files of sections and of volumes have in common.
void write_head(hdf5::Hdf5Sink& sink, const Axes& axes, const std::vector<double>& period_s) {
  hdf5::write_header(sink, "lodestone responses", 1);
  sink.attribute("", "sign", "exp(+i omega t); phases are not folded");
  sink.texts("site", axes.sites);
  write_column(sink, "y_m", axes.y_m, "m");
  write_column(sink, "z_m", axes.z_m, "m");
  write_column(sink, "period_s", period_s, "s");
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
    throw core::InvalidArgument("io::survey::write_responses_hdf5#no_response",
                                "{}: expected at least one response, but there is none", path.string());
  }
  const Axes axes(responses);
  std::vector<double> period_s(axes.frequencies_hz.size());
  std::transform(axes.frequencies_hz.begin(), axes.frequencies_hz.end(), period_s.begin(),
                 [](double frequency) { return 1.0 / frequency; });
  hdf5::Hdf5Sink sink(path);
  write_head(sink, axes, period_s);
  write_definitions(sink, responses, axes);
  write_mode(sink, responses, axes, mt::Mode::te);
  write_mode(sink, responses, axes, mt::Mode::tm);
  sink.commit();
}

std::string full_responses_csv_text(const mt::Survey& survey, const Eigen::VectorXd& predicted) {
  const mt::ElementTable table(survey, predicted);
  const bool with_references = has_references(survey);
  std::string text(full_responses_header);
  if (with_references) text += interstation_header;
  const auto add = [&](double number) { text += ',' + text::shortest(number, ""); };
  for (std::size_t f = 0; f < survey.frequencies_hz.size(); ++f) {
    for (std::size_t s = 0; s < survey.stations.size(); ++s) {
      const mt::Station& station = survey.stations[s];
      const auto& elements = table.at(static_cast<int>(f), static_cast<int>(s));
      const double frequency_hz = survey.frequencies_hz[f];
      text += '\n' + csv::quoted_if_needed(station.name);
      add(1.0 / frequency_hz);
      add(station.x_m);
      add(station.y_m);
      const auto add_complex = [&](mt::Element element) {
        add(elements[element].real());
        add(elements[element].imag());
      };
      for (const mt::Element element : impedances) add_complex(element);
      for (const mt::Element element : {mt::Element::zxy, mt::Element::zyx}) {
        add(mt::apparent_resistivity_ohm_m(elements[element], frequency_hz));
        add(mt::phase_deg(elements[element]));
      }
      for (const mt::Element element : tippers) add_complex(element);
      if (!with_references) continue;
      text += ',' + csv::quoted_if_needed(station.reference);
      for (const mt::Element element : interstation) add_complex(element);
    }
  }
  return text + '\n';
}

void write_full_responses_hdf5(const std::filesystem::path& path, const mt::Survey& survey,
                               const Eigen::VectorXd& predicted, const std::vector<double>& z_m) {
  const mt::ElementTable table(survey, predicted);
  Axes axes;
  std::vector<double> period_s, x_m;
  for (const double frequency_hz : survey.frequencies_hz) period_s.push_back(1.0 / frequency_hz);
  axes.frequencies_hz = survey.frequencies_hz;
  for (const mt::Station& station : survey.stations) {
    axes.sites.push_back(station.name);
    x_m.push_back(station.x_m);
    axes.y_m.push_back(station.y_m);
  }
  axes.z_m = z_m;
  hdf5::Hdf5Sink sink(path);
  write_head(sink, axes, period_s);
  write_column(sink, "x_m", x_m, "m");
  const auto of_all = [&](auto number) {
    std::vector<decltype(number(table.at(0, 0), 0.0))> all;
    for (std::size_t f = 0; f < survey.frequencies_hz.size(); ++f) {
      for (std::size_t s = 0; s < survey.stations.size(); ++s)
        all.push_back(number(table.at(static_cast<int>(f), static_cast<int>(s)), survey.frequencies_hz[f]));
    }
    return all;
  };
  if (has_references(survey)) {
    std::vector<std::string> references;
    for (const mt::Station& station : survey.stations) references.push_back(station.reference);
    sink.texts("reference", references);
  }
  for (const mt::Element element : mt::all_elements) {
    if (mt::is_interstation(element) && !has_references(survey)) continue;
    write_array(sink, array_of(element), axes,
                of_all([=](const auto& elements, double) { return elements[element]; }),
                mt::is_impedance(element) ? "ohm" : "1");
  }
  for (const auto& [element, ending] :
       {std::pair(mt::Element::zxy, "_xy"), std::pair(mt::Element::zyx, "_yx")}) {
    const mt::Element of = element;
    write_array(sink, std::string("apparent_resistivity") + ending, axes,
                of_all([of](const auto& elements, double frequency_hz) {
                  return mt::apparent_resistivity_ohm_m(elements[of], frequency_hz);
                }),
                "ohm m");
    write_array(sink, std::string("phase") + ending, axes,
                of_all([of](const auto& elements, double) { return mt::phase_deg(elements[of]); }), "degree");
  }
  sink.commit();
}

StoredResponses stored_responses(const core::ArraySource& source) {
  StoredResponses stored{.sites = core::read_texts(source, "site"),
                         .frequencies_hz = core::read_doubles(source, "period_s"),
                         .elements = {}};
  for (double& number : stored.frequencies_hz) number = 1.0 / number;
  if (source.contains("te/impedance")) stored.elements = {"zxy", "tzy"};
  if (source.contains("tm/impedance")) stored.elements.emplace_back("zyx");
  for (const mt::Element element : mt::all_elements) {
    if (source.contains(array_of(element))) stored.elements.push_back(word_of(element));
  }
  return stored;
}

std::string responses_csv_text(const std::vector<mt::Response>& responses) {
  std::string text(responses_header);
  text += '\n';
  for (const mt::Response& r : responses) {
    const bool has_z = std::isfinite(r.impedance_ohm.real()) && std::isfinite(r.impedance_ohm.imag());
    const double rho =
        has_z ? mt::apparent_resistivity_ohm_m(r.impedance_ohm, r.frequency_hz) : mt::not_given;
    const double phase = has_z ? mt::phase_deg(r.impedance_ohm) : mt::not_given;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   csv::quoted_if_needed(r.site), r.mode == mt::Mode::te ? "TE" : "TM",
                   text::shortest(1.0 / r.frequency_hz, ""), text::shortest(r.y_m, ""),
                   text::shortest(r.z_m, ""), text::shortest(rho, ""), text::shortest(phase, ""),
                   text::shortest(r.impedance_ohm.real(), ""), text::shortest(r.impedance_ohm.imag(), ""),
                   text::shortest(r.tipper.real(), ""), text::shortest(r.tipper.imag(), ""),
                   core::word(r.definition));
  }
  return text;
}

std::vector<mt::Response> read_responses_csv(const std::string& path) {
  constexpr const char* component = "io::read_responses_csv";
  const csv::Rows table = csv::read_rows(path, component);
  if (fmt::format("{}", fmt::join(table.header, ",")) != responses_header) {
    throw core::FormatError("io::read_responses_csv#wrong_header",
                            "{}:{}: expected the header line `{}`, got `{}`", path, table.header_line,
                            responses_header,
                            text::printable(fmt::format("{}", fmt::join(table.header, ",")), 200));
  }
  std::vector<mt::Response> responses;
  for (const auto& [line, f] : table.rows) {
    const auto value = [&, n = line, &row = f](std::size_t column) {
      return row[column].empty() ? mt::not_given
                                 : csv::real_field(row[column], path, n, component, table.header[column]);
    };
    if (f[1] != "TE" && f[1] != "TM")
      throw core::FormatError("io::read_responses_csv#unknown_mode",
                              "{}:{}: expected mode TE or TM, got \"{}\"", path, line, text::printable(f[1]));
    const double period = value(2);
    if (!mt::is_in_frequency_range(period))
      throw core::FormatError("io::read_responses_csv#period_not_positive",
                              "{}:{}: expected a period from {:g} to {:g} s, got \"{}\"", path, line,
                              mt::least_frequency_hz, mt::largest_frequency_hz, text::printable(f[2]));
    responses.push_back({text::checked_name(f[0], component, fmt::format("{}:{}", path, line)),
                         f[1] == "TE" ? mt::Mode::te : mt::Mode::tm,
                         1.0 / period,
                         value(3),
                         value(4),
                         {value(7), value(8)},
                         {value(9), value(10)},
                         core::parse<mt::Definition, core::FormatError>(
                             f[11], fmt::format("{}:{}: column definition", path, line))});
  }
  return responses;
}

}  // namespace lodestone::io::survey
