// SPDX-License-Identifier: Apache-2.0
#include "io/femtic/observe.hpp"
#include "io/femtic/stations.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace lodestone::io::femtic {
namespace {

using physics::mt::StationData;

constexpr const char* reader = "io::femtic::read_data";
constexpr int most_stations = 1'000'000, most_frequencies = 100'000;
constexpr double metres_per_km = 1000.0;

struct BlockName {
  std::string_view name;
  std::optional<Block> block{};  ///< absent: the block is left out
};
constexpr std::array<BlockName, 10> block_names{{{"MT", Block::impedance},
                                                 {"IMP", Block::impedance},
                                                 {"APP_RES_AND_PHS", Block::rho_and_phase},
                                                 {"VTF", Block::vertical},
                                                 {"HTF", Block::horizontal},
                                                 {"PT", Block::phase_tensor},
                                                 {"NMT"},
                                                 {"NMT2"},
                                                 {"NMT2_APP_RES_AND_PHS"},
                                                 {"ADDITIONAL_OUTPUT_POINTS"}}};
const BlockName* block_named(std::string_view word) {
  const auto* const found = std::ranges::find(block_names, word, &BlockName::name);
  return found == block_names.end() ? nullptr : found;
}

bool starts_with_letter(std::string_view line) {
  return !line.empty() &&
         ((line.front() >= 'A' && line.front() <= 'Z') || (line.front() >= 'a' && line.front() <= 'z'));
}

class ObserveReader {
 public:
  ObserveReader(const std::string& bytes, const std::string& path, const physics::mt::Conventions& chosen)
      : lines_(bytes, path, reader, ""), stations_(path, chosen) {}

  std::vector<StationData> read() {
    while (lines_.next()) {
      const auto words = text::words(lines_.text());
      if (words.front() == "END") break;
      read_block(words);
    }
    if (stations_.empty())
      lines_.refuse("no_station",
                    "expected a block MT, APP_RES_AND_PHS, VTF, HTF or PT with stations, found none");
    if (const int number = stations_.unknown_reference(); number != 0)
      lines_.refuse(
          "unknown_reference",
          fmt::format("expected a station of number {}, which an HTF station refers to, found none", number));
    return stations_.finish();
  }

 private:
  void read_block(const std::vector<std::string_view>& words) {
    const BlockName* name = block_named(words.front());
    if (name == nullptr)
      lines_.refuse("unknown_block", fmt::format("expected MT, APP_RES_AND_PHS, VTF, HTF, PT or END, got "
                                                 "\"{}\"; do the counts above fit their lists?",
                                                 text::printable(lines_.text())));
    if (words.size() != 2)
      lines_.refuse("no_count",
                    fmt::format("expected \"{} N\", a block and its number of stations, got {} words",
                                name->name, words.size()));
    int n = lines_.whole(words[1], "a number of stations", 0, most_stations);
    if (!name->block) return skip(name->name);
    for (; n > 0; --n) read_station(*name->block);
  }

  void skip(std::string_view name) {
    stations_.remark(fmt::format("{}: the block {} is left out", lines_.here(), name));
    while (!lines_.peek().empty() && !starts_with_letter(lines_.peek())) (void)lines_.next();
  }

  /// Reads "number, number of the magnetic field, [types of element and field,] x, y". The number of
  /// frequencies stands behind it or on the next line. Only control.dat states whether there are types.
  void read_station(Block block) {
    lines_.require_next("a station");
    auto words = text::words(lines_.text());
    const std::size_t most_types = block == Block::vertical || block == Block::horizontal ? 1 : 2;
    const bool counts_below = words.size() == 4 || text::words(lines_.peek()).size() == 1;
    const std::size_t n_others = counts_below ? 4 : 5;
    if (words.size() < n_others || words.size() > n_others + most_types)
      lines_.refuse(
          "wrong_station",
          fmt::format("expected the numbers of a station and of its magnetic field, up to {} types, "
                      "x and y in km, got {} words",
                      most_types, words.size()));
    const std::size_t x = words.size() - n_others + 2;
    begin_station(block, words, x);
    if (counts_below) {
      lines_.require_next("a number of frequencies");
      words = text::words(lines_.text());
      if (words.size() != 1)
        lines_.refuse("no_count",
                      fmt::format("expected a number of frequencies alone, got {} words", words.size()));
    }
    for (int n = lines_.whole(words.back(), "a number of frequencies", 0, most_frequencies); n > 0; --n)
      read_row(block);
  }

  void begin_station(Block block, const std::vector<std::string_view>& words, std::size_t x) {
    constexpr int most = std::numeric_limits<int>::max();
    const int number = lines_.whole(words[0], "the number of a station", 1, most);
    const int magnetic = lines_.whole(words[1], "the number of a station", 1, most);
    const auto metres = [&](std::string_view word, const char* what) {
      return lines_.within(word, what, physics::mt::largest_coordinate_m / metres_per_km) * metres_per_km;
    };
    const double x_m = metres(words[x], "x in km"), y_m = metres(words[x + 1], "y in km");
    if (!stations_.add(number, block, x_m, y_m))
      lines_.refuse("second_station",
                    fmt::format("expected a number of its own for each station, got a second {}", number));
    if (block == Block::horizontal) {
      if (number == magnetic)
        lines_.refuse("own_reference",
                      fmt::format("expected another station than {} as its reference", number));
      stations_.set_reference(magnetic);
    } else if (number != magnetic) {
      stations_.note_remote_field();
    }
  }

  /// Reads a frequency, the data and their errors, in lines of any length.
  void read_row(Block block) {
    const std::size_t n = 1 + 2 * n_data_of(block);
    std::vector<double> numbers;
    while (numbers.size() < n) {
      lines_.require_next(fmt::format("{} numbers of a frequency", n));
      for (const auto word : text::touching_words(lines_.text()))
        numbers.push_back(lines_.finite(word, fmt::format("{} numbers of a frequency", n)));
    }
    if (numbers.size() != n)
      lines_.refuse("wrong_columns",
                    fmt::format("expected {} numbers (frequency, {} data, as many errors), got {}", n,
                                n_data_of(block), numbers.size()));
    if (!physics::mt::is_in_frequency_range(numbers[0]))
      lines_.refuse(
          "frequency_not_positive",
          fmt::format("expected a frequency from {:g} to {:g} Hz, got {:g}", physics::mt::least_frequency_hz,
                      physics::mt::largest_frequency_hz, numbers[0]));
    const std::span<const double> all(numbers);
    stations_.take(numbers[0], all.subspan(1, n_data_of(block)), all.subspan(1 + n_data_of(block)));
  }

  text::LineReader lines_;
  Stations stations_;
};

}  // namespace

std::vector<StationData> read_data(const std::string& path, const physics::mt::Conventions& chosen) {
  const std::string bytes = text::read_text(path);
  return ObserveReader(bytes, path, chosen).read();
}

bool is_observe(std::string_view bytes) {
  bool has_block = false;
  for (const auto line : text::split_lines(bytes)) {
    const auto words = text::words(line);
    if (words.empty()) continue;
    if (has_block) return words.size() >= 4 && text::integer(words[0]) && text::integer(words[1]);
    has_block = words.size() == 2 && block_named(words[0]) != nullptr && text::integer(words[1]);
    if (!has_block) return false;
  }
  return false;
}

}  // namespace lodestone::io::femtic
