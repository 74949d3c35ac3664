// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/rates_file.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/file_lock.hpp"
#include "engine/core/log.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/private_folder.hpp"
#include "engine/core/regular_file.hpp"
#include "engine/inspect/calibration.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

namespace lodestone::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using core::log::Id;

/// Counts changes of a record. Records of other versions are left as they are.
constexpr int version = 1;
constexpr const char* list_key = "machines";
constexpr std::string_view id_of_damage = "engine::read_rates#damaged";

// ---- Records ---------------------------------------------------------------------------------------------

Json json_of(const KernelRates& rates) {
  Json result{{"levels", Json::array()}, {"rates", Json::object()}, {"kinds", rates.kinds}};
  for (const auto& [bytes, bytes_per_s] : rates.levels) result["levels"].push_back({bytes, bytes_per_s});
  for (const auto& [name, list] : rates.rates) {
    Json& points = result["rates"][name] = Json::array();
    for (const auto& [per_byte, per_s] : list) points.push_back({per_byte, per_s});
  }
  return result;
}

Json json_of(const MachineRates& rates) {
  const MachineKey& machine = rates.machine;
  Json result{{"version", version},           {"processor", machine.processor},
              {"threads", machine.n_threads}, {"instructions", machine.instructions},
              {"build", machine.build},       {"launch_s", rates.launch_s},
              {"wake_s", rates.wake_s},       {"alone", json_of(rates.alone)}};
  if (machine.n_threads > 1) result["shared"] = json_of(rates.shared);
  return result;
}

/// Reads one record; every error names the file.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[nodiscard]] MachineRates rates(const Json& json) const {
    MachineRates result;
    result.machine = key(json);
    result.launch_s = not_negative(json, "launch_s");
    result.wake_s = not_negative(json, "wake_s");
    result.alone = kernel_rates(json.at("alone"));
    if (result.machine.n_threads > 1) result.shared = kernel_rates(json.at("shared"));
    return result;
  }
  template <class Expected, class Got>
  [[noreturn]] void fail(const Expected& expected, const Got& got) const {
    throw core::FormatError(id_of_damage,
                            "{}: expected {}, got {}; the file is damaged, or holds no rates of machines: "
                            "write it again on that machine",
                            path_, expected, got);
  }

 private:
  [[nodiscard]] MachineKey key(const Json& json) const {
    MachineKey key;
    key.processor = json.at("processor").get<std::string>();
    const auto n_threads = json.at("threads").get<std::int64_t>();
    if (n_threads < 1 || n_threads > core::most_threads)
      fail(fmt::format("1 … {} threads", core::most_threads), n_threads);
    key.n_threads = static_cast<int>(n_threads);
    key.instructions = json.at("instructions").get<std::string>();
    key.build = json.at("build").get<std::string>();
    return key;
  }
  [[nodiscard]] double not_negative(const Json& json, const char* name) const {
    const auto value = json.at(name).get<double>();
    if (value < 0.0) fail(fmt::format("{} of 0 or more", name), value);
    return value;
  }
  [[nodiscard]] double positive(double value, const std::string& name) const {
    if (!(value > 0.0)) fail(fmt::format("a positive rate of \"{}\"", name), value);
    return value;
  }
  /// Returns pairs of a number and a rate, the numbers in rising order; at least one.
  template <class Pair>
  [[nodiscard]] std::vector<Pair> pairs(const Json& json, const std::string& name) const {
    std::vector<Pair> result;
    for (const auto& [x, rate] : json.get<std::vector<std::pair<double, double>>>())
      result.push_back({x, positive(rate, name)});
    const auto is_rising = [](const Pair& a, const Pair& b) {
      const auto& [x, rate_of_x] = a;
      const auto& [y, rate_of_y] = b;
      return x < y;
    };
    if (result.empty() || std::ranges::adjacent_find(result, std::not_fn(is_rising)) != result.end())
      fail(fmt::format("rates of \"{}\" in rising order", name), json.dump());
    return result;
  }
  [[nodiscard]] KernelRates kernel_rates(const Json& json) const {
    KernelRates rates;
    rates.levels = pairs<KernelRates::Level>(json.at("levels"), "levels");
    for (const auto& [name, list] : json.at("rates").items())
      rates.rates[name] = pairs<KernelRates::Rate>(list, name);
    for (const auto& [name, rate] : json.at("kinds").items())
      rates.kinds[name] = positive(rate.get<double>(), name);
    return rates;
  }

  const std::string& path_;
};

// ---- Files -----------------------------------------------------------------------------------------------

/// Calls f, and says of what JSON refuses which file it is in.
template <class F>
auto told_with_file(const std::string& path, F&& f) {
  try {
    return f();
  } catch (const Json::exception& error) {
    Reader(path).fail("rates of machines as JSON", std::string_view(error.what()));
  }
}

/// Returns the content of a file, with a list of records.
Json document_at(const std::string& path) {
  core::require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  return told_with_file(path, [&] {
    Json document = Json::parse(file);
    if (!document.at(list_key).is_array()) Reader(path).fail("a list of machines", "something else");
    return document;
  });
}

std::vector<MachineRates> rates_in(const Json& document, const std::string& path) {
  return told_with_file(path, [&] {
    std::vector<MachineRates> all;
    for (const Json& each : document.at(list_key))
      if (each.at("version") == version) all.push_back(Reader(path).rates(each));
    return all;
  });
}

/// Adds a record to a document, in the place of one for the same machine.
void put(Json& document, const MachineRates& rates) {
  Json record = json_of(rates), others = Json::array();
  const auto is_same = [&](const Json& other) {
    return std::ranges::all_of(
        std::array{"version", "processor", "threads", "instructions", "build"},
        [&](const char* name) { return other.contains(name) && other[name] == record[name]; });
  };
  for (const Json& each : document[list_key])
    if (!is_same(each)) others.push_back(each);
  others.push_back(std::move(record));
  document[list_key] = std::move(others);
}

Json empty_document() { return {{list_key, Json::array()}}; }

void write_document(const std::string& path, const Json& document) {
  core::write_file(path, document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// The file of a folder that keeps rates for one user.
class RatesFolder {
 public:
  explicit RatesFolder(const fs::path& folder)
      : path_(folder / "machine.json"), lock_path_(folder / "machine.lock") {
    core::make_private_folder(folder);
  }

  /// Returns the rates of a machine, if they are there.
  [[nodiscard]] std::optional<MachineRates> find(const MachineKey& machine) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path_, ignored))) return {};
    try {
      if (const std::string why = core::objection_to(path_); !why.empty())
        throw core::FileError("engine::kept_rates#not_own", "{}: {}", path_, why);
      document_ = document_at(path_);
      for (MachineRates& each : rates_in(document_, path_))
        if (each.machine == machine) return std::move(each);
    } catch (const core::Error& error) {
      core::log::warning(Id("engine::kept_rates#measured_again"),
                         "{}; the rates of this machine are measured again", error.what());
      document_ = empty_document();
      fs::remove_all(path_, ignored);
    }
    return {};
  }
  void keep(const MachineRates& rates) {
    put(document_, rates);
    write_document(path_, document_);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  /// Returns the right to measure and write, once nobody else has it.
  [[nodiscard]] core::FileLock lock() const {
    using namespace std::chrono_literals;
    while (true) {
      if (auto lock = core::FileLock::take(lock_path_)) return *std::move(lock);
      std::this_thread::sleep_for(10ms);
    }
  }

 private:
  std::string path_, lock_path_;
  Json document_ = empty_document();
};

}  // namespace

void write_rates(const std::string& path, const MachineRates& rates) {
  Json document = empty_document();
  put(document, rates);
  write_document(path, document);
}

std::vector<MachineRates> read_rates(const std::string& path) { return rates_in(document_at(path), path); }

MachineRates rates_for_threads(const std::string& path, int n_threads) {
  std::vector<MachineRates> all = read_rates(path);
  std::string found;
  for (const MachineRates& each : all) found += (found.empty() ? "" : "; ") + each.machine.text();
  std::erase_if(all, [&](const MachineRates& each) { return each.machine.n_threads != n_threads; });
  const auto is_of_this_build = [build = MachineKey::of_process().build](const MachineRates& each) {
    return each.machine.build == build;
  };
  if (std::ranges::any_of(all, is_of_this_build)) std::erase_if(all, std::not_fn(is_of_this_build));
  if (all.size() == 1) return std::move(all[0]);
  throw core::InvalidArgument(
      "engine::rates_for_threads#not_one_machine",
      "{}: expected the rates of one machine for {} thread(s), got {}: {}; {}", path, n_threads,
      all.empty() ? "none" : "several", found.empty() ? "the file is empty" : found,
      all.empty() ? "set the number of threads to that of a record, or measure with this one on the machine"
                  : "write a file of one machine");
}

MachineRates kept_rates(const fs::path& folder, const MachineKey& machine,
                        const std::function<MachineRates()>& measure, Kept which) {
  std::optional<MachineRates> measured;
  try {
    RatesFolder kept(folder);
    const core::FileLock lock = kept.lock();
    if (auto rates = kept.find(machine); rates && which == Kept::used) return *std::move(rates);
    measured = measure();
    kept.keep(*measured);
  } catch (const core::FileError& error) {
    core::log::warning(Id("engine::kept_rates#not_kept"),
                       "{}; the rates of this machine are not kept for other processes", error.what());
  }
  return measured ? *std::move(measured) : measure();
}

MachineRates rates_of_this_machine(Kept which) {
  static std::mutex mutex;
  static std::map<MachineKey, MachineRates> measured;  // here, in case nothing can be kept
  const std::lock_guard lock(mutex);
  const MachineKey machine = MachineKey::of_process();
  if (const auto known = measured.find(machine); known != measured.end() && which == Kept::used)
    return known->second;
  const auto measure = [&] {
    const CalibrationOptions options;
    core::log::info("the rates of {} are measured once, within {:g} s", machine.text(), options.most_s);
    return measured[machine] = calibrated_rates(options);
  };
  return kept_rates(core::cache_folder(), machine, measure, which);
}

}  // namespace lodestone::engine
