// SPDX-License-Identifier: Apache-2.0
#include "io/survey/store.hpp"

#include "engine/core/error.hpp"
#include "engine/core/table.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::Complex;
using mt::StationData;
using mt::StationRow;

constexpr const char* format = "lodestone survey";
constexpr int version = 2, version_without_masks = 1;
constexpr std::size_t n_azimuths = sizeof(mt::ChannelAzimuths) / sizeof(double);
using Azimuths = std::array<double, n_azimuths>;
using Mask = std::array<std::uint8_t, mt::n_elements>;

constexpr char separator = '\n';  // of lists of sentences and names, which have one line each

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += (&text == &texts.front() ? "" : std::string(1, separator)) + text;
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  std::size_t begin = 0;
  for (std::size_t at = text.find(separator); at != text.npos; at = text.find(separator, begin)) {
    out.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  out.push_back(text.substr(begin));
  return out;
}

/// Returns a line for each remark: its kind, and what its file states.
std::string joined_kinds(const std::vector<mt::Remark>& remarks) {
  std::vector<std::string> kinds;
  for (const mt::Remark& each : remarks)
    kinds.push_back(std::string(core::word(each.kind)) + (each.stated.empty() ? "" : " " + each.stated));
  return joined(kinds);
}

/// Sets the kinds of remarks; those of files without any remain others.
void set_kinds(std::vector<mt::Remark>& remarks, const std::string& text) {
  const std::vector<std::string> kinds = split(text);
  for (std::size_t k = 0; k < std::min(kinds.size(), remarks.size()); ++k) {
    const std::size_t blank = kinds[k].find(' ');
    remarks[k].kind =
        core::find_word<mt::RemarkKind>(kinds[k].substr(0, blank)).value_or(mt::RemarkKind::other);
    if (blank != std::string::npos) remarks[k].stated = kinds[k].substr(blank + 1);
  }
}

/// A text of a station, and a number of a station, by the names of their columns.
struct TextColumn {
  const char* name;
  std::string (*get)(const StationData&);
  void (*set)(StationData&, const std::string&);
};
struct NumberColumn {
  const char *name, *units;
  double (*get)(const StationData&);
  void (*set)(StationData&, double);
};

mt::LocalFrame& frame_of(StationData& station) {
  return station.local_frame ? *station.local_frame : station.local_frame.emplace();
}

const std::array<TextColumn, 14> text_columns{
    {{"name", [](const StationData& s) { return s.site.name; },
      [](StationData& s, const std::string& t) { s.site.name = t; }},
     {"definition", [](const StationData& s) { return std::string(core::word(s.site.definition)); },
      [](StationData& s, const std::string& t) {
        s.site.definition = core::find_word<mt::Definition>(t).value_or(mt::Definition::horizontal);
      }},
     {"reference", [](const StationData& s) { return s.site.reference; },
      [](StationData& s, const std::string& t) { s.site.reference = t; }},
     {"other_names", [](const StationData& s) { return joined(s.other_names); },
      [](StationData& s, const std::string& t) { s.other_names = split(t); }},
     {"path", [](const StationData& s) { return s.path; },
      [](StationData& s, const std::string& t) { s.path = t; }},
     {"format", [](const StationData& s) { return s.format; },
      [](StationData& s, const std::string& t) { s.format = t; }},
     {"remote_reference", [](const StationData& s) { return s.remote_reference; },
      [](StationData& s, const std::string& t) { s.remote_reference = t; }},
     {"sign_in_file", [](const StationData& s) { return s.sign_in_file; },
      [](StationData& s, const std::string& t) { s.sign_in_file = t; }},
     {"units_in_file", [](const StationData& s) { return s.units_in_file; },
      [](StationData& s, const std::string& t) { s.units_in_file = t; }},
     {"header", [](const StationData& s) { return s.header; },
      [](StationData& s, const std::string& t) { s.header = t; }},
     {"remarks", [](const StationData& s) { return joined(mt::texts_of(s.remarks)); },
      [](StationData& s, const std::string& t) {
        for (std::string& each : split(t)) s.remarks.emplace_back(std::move(each));
      }},
     {"remark_kinds", [](const StationData& s) { return joined_kinds(s.remarks); },
      [](StationData& s, const std::string& t) { set_kinds(s.remarks, t); }},
     {"changes", [](const StationData& s) { return joined(s.changes); },
      [](StationData& s, const std::string& t) { s.changes = split(t); }},
     {"zero_tippers", [](const StationData& s) { return s.zero_tippers; },
      [](StationData& s, const std::string& t) { s.zero_tippers = t; }}}};

const std::array<NumberColumn, 11> number_columns{
    {{"latitude_deg", "degrees", [](const StationData& s) { return s.site.latitude_deg; },
      [](StationData& s, double v) { s.site.latitude_deg = v; }},
     {"longitude_deg", "degrees", [](const StationData& s) { return s.site.longitude_deg; },
      [](StationData& s, double v) { s.site.longitude_deg = v; }},
     {"elevation_m", "m", [](const StationData& s) { return s.site.elevation_m; },
      [](StationData& s, double v) { s.site.elevation_m = v; }},
     {"x_m", "m", [](const StationData& s) { return s.site.x_m; },
      [](StationData& s, double v) { s.site.x_m = v; }},
     {"y_m", "m", [](const StationData& s) { return s.site.y_m; },
      [](StationData& s, double v) { s.site.y_m = v; }},
     {"z_m", "m", [](const StationData& s) { return s.site.z_m; },
      [](StationData& s, double v) { s.site.z_m = v; }},
     {"tilt_deg", "degrees", [](const StationData& s) { return s.site.tilt_deg; },
      [](StationData& s, double v) { s.site.tilt_deg = v; }},
     {"turned_to_deg", "degrees", [](const StationData& s) { return s.turned_to_deg; },
      [](StationData& s, double v) { s.turned_to_deg = v; }},
     {"frame_latitude_deg", "degrees",
      [](const StationData& s) { return s.local_frame ? s.local_frame->latitude_deg : mt::not_given; },
      [](StationData& s, double v) {
        if (std::isfinite(v)) frame_of(s).latitude_deg = v;
      }},
     {"frame_longitude_deg", "degrees",
      [](const StationData& s) { return s.local_frame ? s.local_frame->longitude_deg : mt::not_given; },
      [](StationData& s, double v) {
        if (std::isfinite(v)) frame_of(s).longitude_deg = v;
      }},
     {"frame_azimuth_deg", "degrees",
      [](const StationData& s) { return s.local_frame ? s.local_frame->azimuth_deg : mt::not_given; },
      [](StationData& s, double v) {
        if (std::isfinite(v)) frame_of(s).azimuth_deg = v;
      }}}};

core::Table table_of(const std::vector<StationData>& stations) {
  core::Table table;
  for (const TextColumn& column : text_columns) {
    core::Table::Texts texts;
    for (const StationData& station : stations) texts.push_back(column.get(station));
    table.add_texts(column.name, std::move(texts));
  }
  for (const NumberColumn& column : number_columns) {
    core::Table::Numbers numbers;
    for (const StationData& station : stations) numbers.push_back(column.get(station));
    table.add_numbers(column.name, column.units, std::move(numbers));
  }
  core::Table::Numbers n_rows, n_readings;
  for (const StationData& station : stations) {
    n_rows.push_back(static_cast<double>(station.rows.size()));
    n_readings.push_back(static_cast<double>(station.readings.size() + station.masked_readings.size()));
  }
  table.add_numbers("n_rows", "", std::move(n_rows));
  table.add_numbers("n_readings", "", std::move(n_readings));
  return table;
}

/// Returns the readings of a station, those that were masked behind the others.
std::vector<mt::Reading> with_masked(const StationData& station) {
  std::vector<mt::Reading> all = station.readings;
  all.insert(all.end(), station.masked_readings.begin(), station.masked_readings.end());
  return all;
}

/// Returns 1 for each reading that was masked, in the order of the table.
std::vector<std::uint8_t> masks_of_readings(const std::vector<StationData>& stations) {
  std::vector<std::uint8_t> mask;
  for (const StationData& station : stations) {
    mask.insert(mask.end(), station.readings.size(), 0);
    mask.insert(mask.end(), station.masked_readings.size(), 1);
  }
  return mask;
}

core::Table readings_of(const std::vector<StationData>& stations) {
  core::Table::Texts datum;
  core::Table::Numbers frequency_hz, value, sigma, azimuth_deg;
  for (const StationData& station : stations) {
    for (const mt::Reading& each : with_masked(station)) {
      datum.emplace_back(mt::name_of(each.datum));
      frequency_hz.push_back(each.frequency_hz);
      value.push_back(each.value);
      sigma.push_back(each.sigma);
      azimuth_deg.push_back(each.azimuth_deg.value_or(mt::not_given));
    }
  }
  core::Table table;
  table.add_texts("datum", std::move(datum));
  table.add_numbers("frequency_hz", "Hz", std::move(frequency_hz));
  table.add_numbers("value", "of the datum", std::move(value));
  table.add_numbers("sigma", "of the datum", std::move(sigma));
  table.add_numbers("azimuth_deg", "degrees", std::move(azimuth_deg));
  return table;
}

/// Numbers of all rows one after the other, as an array with further axes.
template <class T>
class Rows {
 public:
  explicit Rows(std::vector<std::int64_t> shape_of_one) : shape_(std::move(shape_of_one)) {
    for (const std::int64_t n : shape_) size_ *= static_cast<std::size_t>(n);
  }
  void add(const T* numbers) { values_.insert(values_.end(), numbers, numbers + size_); }
  void write(core::ArraySink& sink, const std::string& name, const char* units) const {
    core::ArrayInfo info{core::dtype_of<T>, {static_cast<std::int64_t>(values_.size() / size_)}};
    info.shape.insert(info.shape.end(), shape_.begin(), shape_.end());
    sink.write(name, info, std::as_bytes(std::span(values_)));
    sink.attribute(name, "units", units);
  }
  /// Reads `n` rows. errors: FormatError for an array of another shape or kind.
  void read(const core::ArraySource& source, const std::string& name, std::size_t n) {
    const core::ArrayInfo info = source.info(name);
    std::vector<std::int64_t> expected{static_cast<std::int64_t>(n)};
    expected.insert(expected.end(), shape_.begin(), shape_.end());
    if (info.dtype != core::dtype_of<T> || info.shape != expected)
      throw core::FormatError(
          "io::survey::read_survey#wrong_array",
          "{}: expected the array {} with {} rows, got another shape or kind; is the file "
          "damaged?",
          source.location(), name, n);
    values_.resize(n * size_);
    source.read(name, 0, std::as_writable_bytes(std::span(values_)));
  }
  [[nodiscard]] bool is_empty() const { return values_.empty(); }
  [[nodiscard]] const T* row(std::size_t k) const { return values_.data() + k * size_; }

 private:
  std::vector<std::int64_t> shape_;
  std::size_t size_ = 1;
  std::vector<T> values_;
};

/// The arrays of all rows of all stations. Covariances and estimates have rows for those that have some.
struct Arrays {
  std::vector<double> frequency_hz;
  std::vector<std::uint8_t> has_covariance, has_estimates;
  Rows<Complex> values{{mt::n_elements}}, covariance{{mt::n_elements, mt::n_elements}}, signal{{2, 2}},
      noise{{3, 3}};
  Rows<double> errors{{mt::n_elements}}, azimuths_deg{{n_azimuths}};
  Rows<std::uint8_t> mask{{mt::n_elements}};

  /// Adds a row with the values that were masked, each marked as such.
  void add(const StationRow& row) {
    Mask masked{};
    for (const mt::Element element : mt::all_elements) masked.at(index_of(element)) = row.is_masked(element);
    mask.add(masked.data());
    add_numbers(row.with_masked ? *row.with_masked : row);
  }

  void add_numbers(const StationRow& row) {
    frequency_hz.push_back(row.frequency_hz);
    values.add(row.values.numbers.data());
    errors.add(row.errors.numbers.data());
    azimuths_deg.add(std::bit_cast<Azimuths>(row.azimuths).data());
    has_covariance.push_back(row.covariance ? 1 : 0);
    has_estimates.push_back(row.estimates ? 1 : 0);
    // Files have the last index run fastest; these matrices are kept column by column.
    if (row.covariance) covariance.add(mt::ElementCovariance(row.covariance->transpose()).data());
    if (!row.estimates) return;
    signal.add(Eigen::Matrix2cd(row.estimates->inverse_signal.transpose()).data());
    noise.add(Eigen::Matrix3cd(row.estimates->noise.transpose()).data());
  }

  void write(core::ArraySink& sink) const {
    core::write_vector(sink, "rows/frequency_hz", frequency_hz);
    core::write_vector(sink, "rows/has_covariance", has_covariance);
    core::write_vector(sink, "rows/has_estimates", has_estimates);
    values.write(sink, "rows/values", "ohm, and 1 of tippers and inter-station functions");
    mask.write(sink, "rows/mask", "1: the value was masked");
    errors.write(sink, "rows/errors", "of the values, one standard deviation of each part");
    azimuths_deg.write(sink, "rows/azimuths_deg", "degrees");
    covariance.write(sink, "rows/covariance", "of the products of two values");
    signal.write(sink, "rows/inverse_signal", "inverse power of H");
    noise.write(sink, "rows/noise", "power of E (ohm^2) and Hz over that of H");
  }

  void read(const core::ArraySource& source, std::size_t n, bool has_masks) {
    frequency_hz = core::read_doubles(source, "rows/frequency_hz");
    has_covariance = core::read_bytes(source, "rows/has_covariance");
    has_estimates = core::read_bytes(source, "rows/has_estimates");
    if (frequency_hz.size() != n || has_covariance.size() != n || has_estimates.size() != n)
      throw core::FormatError(
          "io::survey::read_survey#wrong_rows",
          "{}: expected {} rows as the table of stations counts them, got {}; is the file "
          "damaged?",
          source.location(), n, frequency_hz.size());
    const auto n_of = [](const std::vector<std::uint8_t>& flags) {
      return static_cast<std::size_t>(
          std::ranges::count_if(flags, [](std::uint8_t flag) { return flag != 0; }));
    };
    values.read(source, "rows/values", n);
    if (has_masks) mask.read(source, "rows/mask", n);
    errors.read(source, "rows/errors", n);
    azimuths_deg.read(source, "rows/azimuths_deg", n);
    covariance.read(source, "rows/covariance", n_of(has_covariance));
    signal.read(source, "rows/inverse_signal", n_of(has_estimates));
    noise.read(source, "rows/noise", n_of(has_estimates));
  }

  /// Returns one row; `covariances` and `estimates` count those taken so far.
  [[nodiscard]] StationRow row(std::size_t k, std::size_t& n_covariances, std::size_t& n_estimates) const {
    StationRow out;
    out.frequency_hz = frequency_hz[k];
    std::copy_n(values.row(k), mt::n_elements, out.values.numbers.begin());
    std::copy_n(errors.row(k), mt::n_elements, out.errors.numbers.begin());
    Azimuths azimuths{};
    std::copy_n(azimuths_deg.row(k), n_azimuths, azimuths.begin());
    out.azimuths = std::bit_cast<mt::ChannelAzimuths>(azimuths);
    if (has_covariance[k] != 0)
      out.covariance = Eigen::Map<const mt::ElementCovariance>(covariance.row(n_covariances++)).transpose();
    if (has_estimates[k] != 0) {
      out.estimates.emplace();
      out.estimates->inverse_signal = Eigen::Map<const Eigen::Matrix2cd>(signal.row(n_estimates)).transpose();
      out.estimates->noise = Eigen::Map<const Eigen::Matrix3cd>(noise.row(n_estimates++)).transpose();
    }
    mask_marked(out, k);
    return out;
  }

  /// Masks the values of a row that are marked.
  void mask_marked(StationRow& row, std::size_t k) const {
    if (mask.is_empty()) return;
    for (const mt::Element element : mt::all_elements)
      if (mask.row(k)[index_of(element)] != 0) row.mask(element);
  }
};

/// Returns a count of the table. errors: FormatError unless it is a whole number.
std::size_t count_of(const core::ArraySource& source, double value) {
  constexpr double most = 1e9;
  if (!(value >= 0.0 && value <= most && value == std::floor(value)))
    throw core::FormatError("io::survey::read_survey#wrong_count",
                            "{}: expected counts of rows, got {}; is the file damaged?", source.location(),
                            value);
  return static_cast<std::size_t>(value);
}

mt::Reading reading_of(const core::Table& table, std::size_t k) {
  mt::Reading reading{.datum = mt::datum_from(table.texts("datum")[k]),
                      .frequency_hz = table.numbers("frequency_hz")[k],
                      .value = table.numbers("value")[k],
                      .sigma = table.numbers("sigma")[k]};
  if (const double azimuth_deg = table.numbers("azimuth_deg")[k]; std::isfinite(azimuth_deg))
    reading.azimuth_deg = azimuth_deg;
  return reading;
}

/// Returns the marks of the readings; none in a file of the first version. errors: FormatError.
std::vector<std::uint8_t> masks_of_readings(const core::ArraySource& source, std::size_t n, bool has_masks) {
  if (!has_masks) return std::vector<std::uint8_t>(n, 0);
  std::vector<std::uint8_t> mask = core::read_bytes(source, "readings/mask");
  if (mask.size() != n)
    throw core::FormatError("io::survey::read_survey#wrong_masks",
                            "{}: expected a mark for each of {} readings, got {}; is the file damaged?",
                            source.location(), n, mask.size());
  return mask;
}

std::vector<StationData> stations_of(const core::ArraySource& source, bool has_masks) {
  const core::Table table = core::read_table(source, "stations"),
                    readings = core::read_table(source, "readings");
  std::vector<StationData> stations(table.n_rows());
  std::size_t n_rows = 0, n_readings = 0;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    // Files of the first version lack some.
    for (const TextColumn& column : text_columns)
      if (table.has(column.name) || has_masks) column.set(stations[k], table.texts(column.name)[k]);
    for (const NumberColumn& column : number_columns)
      if (table.has(column.name) || has_masks) column.set(stations[k], table.numbers(column.name)[k]);
    n_rows += count_of(source, table.numbers("n_rows")[k]);
    n_readings += count_of(source, table.numbers("n_readings")[k]);
  }
  if (n_readings != readings.n_rows())
    throw core::FormatError(
        "io::survey::read_survey#wrong_readings",
        "{}: expected {} readings as the table of stations counts them, got {}; is the file "
        "damaged?",
        source.location(), n_readings, readings.n_rows());
  Arrays arrays;
  arrays.read(source, n_rows, has_masks);
  const std::vector<std::uint8_t> mask = masks_of_readings(source, n_readings, has_masks);
  std::size_t row = 0, reading = 0, n_covariances = 0, n_estimates = 0;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    for (std::size_t i = count_of(source, table.numbers("n_rows")[k]); i > 0; --i)
      stations[k].rows.push_back(arrays.row(row++, n_covariances, n_estimates));
    for (std::size_t i = count_of(source, table.numbers("n_readings")[k]); i > 0; --i, ++reading)
      (mask[reading] != 0 ? stations[k].masked_readings : stations[k].readings)
          .push_back(reading_of(readings, reading));
  }
  return stations;
}

}  // namespace

bool is_survey(const core::ArraySource& source) {
  return source.has_attribute("", "format") && source.attribute("", "format") == format;
}

void write_survey(const std::filesystem::path& path, const std::vector<StationData>& stations) {
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, format, version);
  sink.attribute("", "sign", "exp(+i omega t)");
  sink.attribute("", "elements", "zxx zxy zyx zyy tzx tzy mxx mxy myx myy");
  sink.attribute("", "azimuths",
                 "ex ey hx hy tipper_hx tipper_hy local_hx local_hy reference_hx reference_hy");
  core::write(sink, "stations", table_of(stations));
  Arrays arrays;
  for (const StationData& station : stations)
    for (const StationRow& row : station.rows) arrays.add(row);
  arrays.write(sink);
  core::write(sink, "readings", readings_of(stations));
  core::write_vector(sink, "readings/mask", masks_of_readings(stations));
  sink.commit();
}

std::vector<StationData> read_survey(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  const int stored = hdf5::require_format(source, path.string(), {format}, {version_without_masks, version});
  return stations_of(source, stored != version_without_masks);
}

}  // namespace lodestone::io::survey
