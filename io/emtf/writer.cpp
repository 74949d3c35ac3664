// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/emtf/names.hpp"
#include "io/emtf/xml.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace lodestone::io::emtf {
namespace {

namespace mt = physics::mt;
using mt::Complex;
using mt::StationData;
using mt::StationRow;

/// Returns a number that is not finite as files of this format write it.
std::string number_text(double value) { return text::shortest(value, "1e32"); }
std::string number_text(Complex value) { return number_text(value.real()) + " " + number_text(value.imag()); }

Complex in_field_units(Complex ohm) {
  return {mt::in_field_units(ohm.real()), mt::in_field_units(ohm.imag())};
}

/// Returns a covariance of outputs in the units of a file: those of E are scaled.
Complex in_file_units(Complex noise, Eigen::Index i, Eigen::Index j) {
  const int n_electric = (i < 2 ? 1 : 0) + (j < 2 ? 1 : 0);
  if (n_electric == 0) return noise;
  if (n_electric == 1) return in_field_units(noise);
  return {mt::in_squared_field_units(noise.real()), mt::in_squared_field_units(noise.imag())};
}

class XmlWriter {
 public:
  explicit XmlWriter(const StationData& station)
      : rows_(station.rows), station_(station), lost_(mt::not_held(station, {.estimates = true})) {
    if (std::string turned = mt::put_in_one_frame(rows_, false); !turned.empty())
      lost_.push_back(std::move(turned));
    const mt::ChannelAzimuths &at = rows_.front().azimuths, along = mt::ChannelAzimuths::along(at.hx_deg);
    by_channel_ = at.hy_deg != along.hy_deg || at.ex_deg != along.ex_deg || at.ey_deg != along.ey_deg;
  }

  mt::Written write() {
    pugi::xml_node declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    pugi::xml_node root = document_.append_child("EM_TF");
    text_child(root, "Description", "Magnetotelluric Transfer Functions");
    text_child(root, "ProductId", station_.site.name);
    text_child(root, "SubType", "MT_TF");
    write_site(root);
    write_processing(root);
    write_types(root);
    if (by_channel_) write_layout(root);
    pugi::xml_node data = root.append_child("Data");
    data.append_attribute("count") = rows_.size();
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) write_period(data, *row);
    write_range(root);
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return {out.str(), std::move(lost_)};
  }

 private:
  static pugi::xml_node text_child(pugi::xml_node parent, const char* name, const std::string& text) {
    pugi::xml_node child = parent.append_child(name);
    child.text().set(text.c_str());
    return child;
  }
  static void attribute(pugi::xml_node node, const char* name, std::string_view value) {
    node.append_attribute(name) = std::string(value).c_str();
  }

  void write_site(pugi::xml_node root) {
    pugi::xml_node site = root.append_child("Site");
    text_child(site, "Id", station_.site.name);
    text_child(site, "Name", station_.site.name);
    pugi::xml_node location = site.append_child("Location");
    location.append_attribute("datum") = "WGS84";
    const auto place = [&](const char* name, double value) {
      return std::isfinite(value) ? text_child(location, name, text::shortest(value)) : pugi::xml_node();
    };
    place("Latitude", station_.site.latitude_deg);
    place("Longitude", station_.site.longitude_deg);
    if (pugi::xml_node elevation = place("Elevation", station_.site.elevation_m))
      elevation.append_attribute("units") = "meters";
    const double azimuth_deg = rows_.front().azimuths.hx_deg;
    pugi::xml_node orientation = text_child(site, "Orientation", by_channel_ ? "sitelayout" : "orthogonal");
    attribute(orientation, "angle_to_geographic_north", text::shortest(by_channel_ ? 0.0 : azimuth_deg));
  }

  void write_processing(pugi::xml_node root) {
    pugi::xml_node processing = root.append_child("ProcessingInfo");
    text_child(processing, "SignConvention", "exp(+ i\\omega t)");
    if (!station_.remote_reference.empty())
      attribute(processing.append_child("RemoteRef"), "type", station_.remote_reference);
  }

  [[nodiscard]] bool has(std::string_view type) const {
    return std::ranges::any_of(rows_, [&](const StationRow& row) {
      return std::ranges::any_of(named_elements, [&](const NamedElement& each) {
        return each.type == type && !row.is_missing(each.element);
      });
    });
  }

  void write_types(pugi::xml_node root) const {
    pugi::xml_node types = root.append_child("DataTypes");
    const auto type = [&](const char* name, const char* output, const char* units) {
      if (!has(name)) return;
      pugi::xml_node node = types.append_child("DataType");
      for (const auto& [key, value] : {std::pair{"name", name},
                                       {"type", "complex"},
                                       {"output", output},
                                       {"input", "H"},
                                       {"units", units}})
        attribute(node, key, value);
    };
    type("Z", "E", "[mV/km]/[nT]");
    type("T", "H", "[]");
  }

  void write_layout(pugi::xml_node root) const {
    const mt::ChannelAzimuths& at = rows_.front().azimuths;
    pugi::xml_node layout = root.append_child("SiteLayout");
    pugi::xml_node inputs = layout.append_child("InputChannels"),
                   outputs = layout.append_child("OutputChannels");
    const auto channel = [](pugi::xml_node side, const char* kind, const char* name, double azimuth_deg) {
      pugi::xml_node node = side.append_child(kind);
      attribute(node, "name", name);
      attribute(node, "orientation", text::shortest(azimuth_deg));
    };
    channel(inputs, "Magnetic", "Hx", at.hx_deg);
    channel(inputs, "Magnetic", "Hy", at.hy_deg);
    channel(outputs, "Magnetic", "Hz", 0.0);
    channel(outputs, "Electric", "Ex", at.ex_deg);
    channel(outputs, "Electric", "Ey", at.ey_deg);
  }

  /// Adds the elements of a type that have a value, each with what `text` makes of it.
  template <class Text>
  static void write_elements(pugi::xml_node period, const StationRow& row, std::string_view type,
                             const std::string& name, const char* kind, const Text& text) {
    pugi::xml_node tensor;
    for (const NamedElement& each : named_elements) {
      if (each.type != type || row.is_missing(each.element)) continue;
      const std::string number = text(each.element);
      if (number.empty()) continue;
      if (!tensor) {
        tensor = period.append_child(name.c_str());
        attribute(tensor, "type", kind);
        attribute(tensor, "size", type == "Z" ? "2 2" : "1 2");
        if (name == type) attribute(tensor, "units", type == "Z" ? "[mV/km]/[nT]" : "[]");
      }
      pugi::xml_node value = text_child(tensor, "value", number);
      for (const auto& [key, word] :
           {std::pair{"name", each.name}, {"output", each.output}, {"input", each.input}})
        attribute(value, key, word);
    }
  }

  template <std::size_t n, class Number>
  static void write_matrix(pugi::xml_node period, const std::string& name,
                           const std::array<std::string_view, n>& names, Eigen::Index first,
                           Eigen::Index last, const Number& number) {
    pugi::xml_node matrix = period.append_child(name.c_str());
    attribute(matrix, "type", "complex");
    for (Eigen::Index i = first; i < last; ++i) {
      for (Eigen::Index j = first; j < last; ++j) {
        pugi::xml_node value = text_child(matrix, "value", number_text(number(i, j)));
        attribute(value, "output", names[static_cast<std::size_t>(i)]);
        attribute(value, "input", names[static_cast<std::size_t>(j)]);
      }
    }
  }

  static void write_period(pugi::xml_node data, const StationRow& row) {
    pugi::xml_node period = data.append_child("Period");
    attribute(period, "value", text::shortest(1.0 / row.frequency_hz));
    attribute(period, "units", "secs");
    for (const std::string type : {"Z", "T"}) {
      const bool is_z = type == "Z";
      write_elements(period, row, type, type, "complex", [&](mt::Element e) {
        return number_text(is_z ? in_field_units(row.values[e]) : row.values[e]);
      });
      write_elements(period, row, type, type + ".VAR", "real", [&](mt::Element e) {
        const double sigma = row.errors[e], unit = is_z ? mt::ohm_per_field_unit : 1.0;
        return std::isfinite(sigma) ? text::shortest(mt::variance_of_complex(sigma, unit)) : std::string();
      });
      const Eigen::Index first = is_z ? 0 : 2, last = is_z ? 2 : 3;
      if (!row.estimates || !row.estimates->noise.block(first, first, last - first, last - first).allFinite())
        continue;
      write_matrix(period, type + ".INVSIGCOV", input_names, 0, 2,
                   [&](Eigen::Index i, Eigen::Index j) { return row.estimates->inverse_signal(i, j); });
      write_matrix(
          period, type + ".RESIDCOV", output_names, first, last,
          [&](Eigen::Index i, Eigen::Index j) { return in_file_units(row.estimates->noise(i, j), i, j); });
    }
  }

  void write_range(pugi::xml_node root) const {
    pugi::xml_node range = root.append_child("PeriodRange");
    attribute(range, "min", text::shortest(1.0 / rows_.front().frequency_hz));
    attribute(range, "max", text::shortest(1.0 / rows_.back().frequency_hz));
  }

  std::vector<StationRow> rows_;
  const StationData& station_;
  pugi::xml_document document_;
  std::vector<std::string> lost_;
  bool by_channel_ = false;
};

}  // namespace

mt::Written text_of(const StationData& station) {
  if (station.site.name.empty() || station.rows.empty())
    throw core::InvalidArgument(
        "io::emtf::text_of#nothing",
        "expected a station with a name and impedances or tippers, got \"{}\" with {} "
        "frequencies",
        station.site.name, station.rows.size());
  return XmlWriter(station).write();
}

}  // namespace lodestone::io::emtf
