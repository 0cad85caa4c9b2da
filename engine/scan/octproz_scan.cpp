#include "engine/scan/octproz_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "compute/error.h"
#include "engine/io/foreign/file_bytes.h"
#include "engine/io/lower_case.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;
using Keys = std::map<std::string, std::string>;

constexpr std::int64_t max_settings_bytes = 1 << 20;

bool is_file(const Path& path) {
    std::error_code problem;
    return std::filesystem::is_regular_file(path, problem);
}

// Returns key and value of each line. Groups are ignored, because the group name depends on the acquisition system.
Keys keys_of(const Path& settings) {
    FileBytes file(settings);
    std::istringstream lines(file.text(0, std::min(file.size(), max_settings_bytes)));
    Keys keys;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equal = line.find('=');
        if (equal == std::string::npos) continue;
        if (line.ends_with('\r')) line.pop_back();
        keys.try_emplace(lower_case(line.substr(0, equal)), line.substr(equal + 1));
    }
    return keys;
}

bool are_octproz(const Keys& keys) {
    return keys.contains("bit_depth") && keys.contains("width") && keys.contains("height") && keys.contains("depth");
}

// Returns the common part NAME of NAME_raw.raw, NAME.raw, NAME_meta.txt, ...
std::string common_name(const Path& path) {
    std::string name = path.stem().string();
    for (const char* ending : {"_raw", "_meta"}) {
        if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    }
    return name;
}

// Returns "" if there is none.
Path settings_beside(const Path& raw) {
    for (const char* ending : {"_meta.txt", "_meta.ini", ".ini", "_settings.ini"}) {
        const Path settings = raw.parent_path() / (common_name(raw) + ending);
        if (is_file(settings)) return settings;
    }
    return {};
}

Path raw_beside(const Path& settings) {
    for (const char* ending : {"_raw.raw", ".raw"}) {
        const Path raw = settings.parent_path() / (common_name(settings) + ending);
        if (is_file(raw)) return raw;
    }
    return {};
}

// Returns the settings file for either file, or "".
Path settings_of(const Path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".raw") return settings_beside(path);
    return (ending == ".txt" || ending == ".ini") && is_file(path) ? path : Path();
}

class Description {
  public:
    Description(const Path& settings, Keys keys) : settings_(settings), keys_(std::move(keys)) {}

    // Returns 0 if the key is missing.
    double real(const char* key) const {
        const auto found = keys_.find(key);
        if (found == keys_.end()) return 0;
        double value = 0;
        const char* end = found->second.data() + found->second.size();
        const auto [stop, problem] = std::from_chars(found->second.data(), end, value);
        if (problem != std::errc() || stop != end || !std::isfinite(value)) fail(key, "a number");
        return value;
    }

    std::int64_t whole(const char* key, std::int64_t max) const {
        const double value = real(key);
        if (value < 1 || value > static_cast<double>(max)) fail(key, fmt::format("1 to {}", max));
        return static_cast<std::int64_t>(value);
    }

    bool is_set(const char* key) const {
        const auto found = keys_.find(key);
        return found != keys_.end() && (found->second == "true" || found->second == "1");
    }

    bool has(const char* key) const { return keys_.contains(key); }

  private:
    [[noreturn]] void fail(const char* key, const std::string& expected) const {
        throw Error(ErrorCode::bad_file, "expected " + expected, settings_.string() + ", " + key,
                    "check that it is a settings file of OCTproZ");
    }

    Path settings_;
    Keys keys_;
};

void describe_samples(const Description& says, Scan& scan) {
    const std::int64_t bits = says.whole("bit_depth", 32);
    scan.format.sample_format = bits <= 8 ? SampleFormat::u8 : bits <= 16 ? SampleFormat::u16 : SampleFormat::u32;
    if (says.is_set("bitshift")) scan.format.shift = 4;  // as in OCTproZ: 12 bits in the high end of 16
}

// The number of volumes follows from the file size.
void describe_geometry(const Description& says, std::int64_t file_bytes, Scan& scan) {
    constexpr std::int64_t max = 1 << 20;
    ScanGeometry& geometry = scan.geometry;
    geometry.samples = says.whole("width", max);
    geometry.a_scans = says.whole("height", max);
    const std::int64_t buffers = says.has("buffers_per_volume") ? says.whole("buffers_per_volume", max) : 1;
    const std::int64_t described = says.whole("depth", max) * buffers;
    const std::int64_t frame_bytes = line_bytes(scan.format, geometry) * geometry.a_scans;
    const std::int64_t recorded = file_bytes / frame_bytes;
    geometry.b_scans = std::clamp<std::int64_t>(described, 1, std::max<std::int64_t>(recorded, 1));
    geometry.volumes = std::max<std::int64_t>(recorded / geometry.b_scans, 1);
    geometry.bidirectional = says.is_set("flip_bscans");
    scan.file.trailer_bytes = std::max<std::int64_t>(
        0, file_bytes - geometry.volumes * geometry.b_scans * frame_bytes);  // of an incomplete volume
}

// Both polynomials have the argument i / (n - 1). Their values are in samples and in radians.
void describe_calibration(const Description& says, Scan& scan) {
    if (says.is_set("resampling") && !says.is_set("custom_resampling")) {
        for (const char* key : {"resampling_c0", "resampling_c1", "resampling_c2", "resampling_c3"}) {
            scan.calibration.k_polynomial.push_back(says.real(key));
        }
    }
    if (!says.is_set("dispersion_compensation")) return;
    const auto last = static_cast<double>(std::max<std::int64_t>(scan.geometry.samples - 1, 1));
    for (std::int64_t i = 0; i < scan.geometry.samples; ++i) {
        const double x = static_cast<double>(i) / last;
        scan.calibration.dispersion_rad.push_back(
            says.real("dispersion_compensation_d0") +
            x * (says.real("dispersion_compensation_d1") +
                 x * (says.real("dispersion_compensation_d2") + x * says.real("dispersion_compensation_d3"))));
    }
    scan.calibration.dispersion_holds = PhaseMeaning::correction;
}

}  // namespace

bool is_octproz_scan(const Path& path) {
    const Path settings = settings_of(path);
    return !settings.empty() && are_octproz(keys_of(settings));
}

void describe_octproz(const Path& path, Scan& scan) {
    const Path settings = settings_of(path);
    const Path raw = settings == path ? raw_beside(path) : path;
    if (raw.empty()) {
        throw Error(ErrorCode::bad_file, "there are no spectra beside it", path.string(),
                    fmt::format("they are expected in {0}_raw.raw or {0}.raw", common_name(path)));
    }
    const Description says(settings, keys_of(settings));
    scan.file.file = raw.filename().string();
    describe_samples(says, scan);
    describe_geometry(says, FileBytes(raw).size(), scan);
    describe_calibration(says, scan);
}

}  // namespace echolux
