// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/log.hpp"
#include "engine/inspect/dry_run.hpp"
#include "io/geodesy/projection.hpp"
#include "io/model/write.hpp"
#include "io/report/report.hpp"
#include "io/report/survey.hpp"
#include "io/run/section_comparison.hpp"
#include "io/survey/edit.hpp"
#include "io/survey/read.hpp"
#include "io/survey/write.hpp"
#include "models/study/options.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/sites.hpp"
#include "physics/mt/survey.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::mt_invert::cli {

/// Text asked for by --help or --version.
struct ShowText {
  std::string text;
};

struct InvertArguments {
  std::string config_path;
  std::vector<std::string> assignments;  ///< "key=value", stronger than the file
  std::string output_folder;             ///< empty: out/<name of the configuration file>
  bool resume = false, dry_run = false;
  int dim = 2;  ///< 1: the soundings one by one
  std::optional<double> time_limit_min;
};

/// The way to the times that a dry run announces.
struct TimesArguments {
  std::optional<engine::Times> source;  ///< absent: rates with a file, else as `engine::DryRunOptions`
  std::string machine_path;             ///< rates of a machine; empty: this one
  [[nodiscard]] bool are_given() const { return source.has_value() || !machine_path.empty(); }
};

struct TrainArguments {
  std::string config_path;
  std::vector<std::string> assignments;  ///< "key=value", stronger than the file
  std::string output_folder;             ///< empty: out/<name of the configuration file>
  bool resume = false, preview = false, dry_run = false;
  TimesArguments times;  ///< those of the dry run
  std::optional<double> time_limit_min;
  double rank_timeout_s = 600.0;  ///< a rank that waits longer for another ends the run
};

struct ForwardArguments {
  std::string model_path, sites_path;
  std::vector<double> periods_s;
  physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard;
  bool mesh_report = false;
  int refined_nodes =
      0;  ///< limit of a mesh of a section that misses the accuracy by an estimate; 0: no estimate
  double check_runs = 0.0;  ///< limit of the work of that estimate and its meshes, in runs; 0: none
  physics::mt::OffSurface off_surface = physics::mt::OffSurface::refuse;
  std::optional<physics::mt::Definition> definition;  ///< absent: as the sites' file says, else horizontal
  std::string output_path;                            ///< empty: CSV on standard output
};

struct ReportArguments {
  std::vector<std::string> paths;   ///< the folder of a run; of a survey files and folders
  std::string output_folder;        ///< folder of the report of a survey; empty: the report of a run
  io::report::ReportOptions run{};  ///< pictures of a run
  io::report::SurveyOptions survey{};
  io::survey::ReadOptions read{};
};

struct CompareArguments {
  io::run::ComparedSections what;
  std::string output_path;  ///< picture, .png or .svg; empty: the table alone
};

struct InspectArguments {
  std::string path;                      ///< configuration of a training, or values that were written
  std::vector<std::string> assignments;  ///< "key=value", stronger than the file
  std::string network_path;              ///< weights; empty: the first ones of the training
  std::string checkpoint_path;           ///< state of a training; empty: none
  std::string other_path;                ///< values to compare with; empty: none
  std::string output_folder;             ///< empty: out/<name of the configuration file>
  bool arrays = false;                   ///< whole arrays are written
  TimesArguments times;
};

struct MachineArguments {
  std::string output_path;  ///< file of rates; empty: none
  bool again = false;       ///< rates are measured although they are kept
};

struct InfoArguments {
  std::vector<std::string> paths;
  bool json = false;
};

struct CheckArguments {
  std::vector<std::string> paths;  ///< files and folders
  bool json = false;
  std::string mended_path;  ///< survey file of what can be mended; empty: none
  io::survey::ReadOptions read{};
};

struct ParaviewArguments {
  std::string run_folder;
  std::string output_path;  ///< the script; empty: view.py in the folder
};

/// The place of x = y = z = 0 of a model whose file states none.
struct ModelOrigin {
  io::geodesy::GeoPoint at{};
  double elevation_m = 0.0;
  double azimuth_deg = 90.0;  ///< direction of the y axis
};
/// The output of `convert` where a model is read.
struct ModelOutput {
  io::model::ModelFormat format{};
  io::model::ModelWriteOptions options{};
  std::optional<ModelOrigin> origin{};
};
/// The output of `convert` where stations are read.
struct StationOutput {
  std::optional<io::survey::WriteFormat> format{};  ///< absent: files for ParaView
  io::survey::Edits edits{};
  io::survey::Placing placing{};  ///< places in formats with coordinates x and y
};
struct ConvertArguments {
  std::vector<std::string> paths;  ///< files and folders of stations, or a model
  std::string output_path;
  std::optional<StationOutput> stations{};  ///< absent: the output is none of stations
  std::optional<ModelOutput> model{};       ///< absent: the output is none of models
  /// An option that was given and is for stations alone, or for models alone; empty: none.
  std::string option_of_stations{}, option_of_models{};
  io::survey::ReadOptions read{};
};

/// The options of `selftest vae-synthetic`.
struct StudyArguments {
  models::study::Options options{};
  std::string network_path;   ///< empty: trained, and kept in the output folder
  std::string output_folder;  ///< empty: out/vae-synthetic
};

struct SelftestArguments {
  std::vector<std::string> names;  ///< empty: all
  physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard;
  std::string json_path;  ///< the rows for programs; empty: none
  bool list = false;
  StudyArguments study{};
};

using Command = std::variant<ShowText, InvertArguments, TrainArguments, ForwardArguments, ReportArguments,
                             CompareArguments, InspectArguments, InfoArguments, CheckArguments,
                             ConvertArguments, ParaviewArguments, MachineArguments, SelftestArguments>;

/// One checked command line.
struct CommandLine {
  Command command;
  bool log_as_json = false;
  std::optional<int> n_threads;  ///< threads of each rank; absent: core::default_threads
  std::string trace_path;        ///< Chrome trace of this run; empty: none
  [[nodiscard]] core::log::Format log_format() const {
    return log_as_json ? core::log::Format::json_lines : core::log::Format::human;
  }
};

/// Parses the command line. errors: ConfigError on wrong usage.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

/// Returns "mt_invert 0.1.0" and one line per fact of the build.
[[nodiscard]] std::string version_text();

/// Returns a word quoted for a POSIX shell: in single quotes if it holds more than letters, digits and _ - .
/// / : = , + @ %.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// Returns the command that continues a stopped run: "mt_invert <command> <config> --set … -o <folder>
/// --resume", with the assignments it was started with, and the dimension where it is not the usual one.
[[nodiscard]] std::string resume_command(const std::string& command, const std::string& config_path,
                                         const std::vector<std::string>& assignments,
                                         const std::string& folder, int dim = InvertArguments{}.dim);

}  // namespace lodestone::mt_invert::cli
