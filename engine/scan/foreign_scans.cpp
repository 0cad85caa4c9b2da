#include "engine/scan/foreign_scans.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/cubic.h"
#include "engine/io/file_bytes.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"
#include "engine/io/regular_file.h"
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

void describe_samples(const Description& description, Scan& scan) {
    const std::int64_t bits = description.whole("bit_depth", 32);
    scan.format.sample_format = bits <= 8 ? SampleFormat::u8 : bits <= 16 ? SampleFormat::u16 : SampleFormat::u32;
    if (description.is_set("bitshift")) scan.format.shift = 4;  // as in OCTproZ: 12 bits in the high end of 16
}

// The number of volumes follows from the file size.
void describe_geometry(const Description& description, std::int64_t file_bytes, Scan& scan) {
    constexpr std::int64_t max = 1 << 20;
    ScanGeometry& geometry = scan.geometry;
    geometry.samples = description.whole("width", max);
    geometry.a_scans = description.whole("height", max);
    const std::int64_t buffers =
        description.has("buffers_per_volume") ? description.whole("buffers_per_volume", max) : 1;
    const std::int64_t described = description.whole("depth", max) * buffers;
    const std::int64_t frame_bytes = line_bytes(scan.format, geometry) * geometry.a_scans;
    const std::int64_t recorded = file_bytes / frame_bytes;
    geometry.b_scans = std::clamp<std::int64_t>(described, 1, std::max<std::int64_t>(recorded, 1));
    geometry.volumes = std::max<std::int64_t>(recorded / geometry.b_scans, 1);
    geometry.bidirectional = description.is_set("flip_bscans");
    scan.file.trailer_bytes = std::max<std::int64_t>(
        0, file_bytes - geometry.volumes * geometry.b_scans * frame_bytes);  // of an incomplete volume
}

// Both polynomials have the argument i / (n - 1). Their values are in samples and in radians.
void describe_calibration(const Description& description, Scan& scan) {
    if (description.is_set("resampling") && !description.is_set("custom_resampling")) {
        for (const char* key : {"resampling_c0", "resampling_c1", "resampling_c2", "resampling_c3"}) {
            scan.calibration.k_polynomial.push_back(description.real(key));
        }
    }
    if (!description.is_set("dispersion_compensation")) return;
    const auto last = static_cast<double>(std::max<std::int64_t>(scan.geometry.samples - 1, 1));
    for (std::int64_t i = 0; i < scan.geometry.samples; ++i) {
        const double x = static_cast<double>(i) / last;
        scan.calibration.dispersion_rad.push_back(description.real("dispersion_compensation_d0") +
                                                  x * (description.real("dispersion_compensation_d1") +
                                                       x * (description.real("dispersion_compensation_d2") +
                                                            x * description.real("dispersion_compensation_d3"))));
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
        throw Error(ErrorCode::bad_file, "there are no spectra next to it", path.string(),
                    fmt::format("they are expected in {0}_raw.raw or {0}.raw", common_name(path)));
    }
    const Description description(settings, keys_of(settings));
    scan.file.file = raw.filename().string();
    describe_samples(description, scan);
    describe_geometry(description, FileBytes(raw).size(), scan);
    describe_calibration(description, scan);
}

// ---- Reads SD01RAW2 files. The layout was determined from recorded files.

static_assert(std::endian::native == std::endian::little, "numbers are read as the file stores them");

constexpr std::string_view magic = "SD01RAW2";
constexpr std::int64_t header_bytes = 512;
constexpr std::int64_t b_scan_header_bytes = 40;
constexpr std::size_t samples_at = 0x14;           // u32
constexpr std::size_t a_scans_at = 0x24;           // u32
constexpr std::size_t background_lines_at = 0x54;  // u16

using Header = std::array<char, header_bytes>;

template <class T>
static T number_at(const Header& header, std::size_t place) {
    T number{};
    std::memcpy(&number, header.data() + place, sizeof(T));
    return number;
}

template <class T>
static std::vector<T> numbers_at(std::ifstream& stream, std::int64_t place, std::int64_t count,
                                 const std::string& where) {
    std::vector<T> numbers(index(count));
    stream.seekg(place);
    stream.read(std::bit_cast<char*>(numbers.data()), count * static_cast<std::int64_t>(sizeof(T)));
    if (!stream) throw Error(ErrorCode::bad_file, "cannot be read", where);
    return numbers;
}

// The mean is exact, since sums of up to 65535 u16 lines fit into the mantissa.
static std::vector<double> mean_line(const std::vector<std::uint16_t>& lines, std::int64_t count,
                                     std::int64_t samples) {
    std::vector<double> mean(index(samples));
    for (std::size_t i = 0; i < lines.size(); ++i) mean[i % mean.size()] += lines[i];
    for (double& value : mean) value /= static_cast<double>(count);
    return mean;
}

// The file stores the position of each sample on the uniform k grid; a k map is the inverse. (Without inversion, the
// apparent dispersion grows with depth: -8 rad at bin 30, -95 at bin 200 of a silicone phantom. With it, it is 3 to 4
// rad everywhere, and the map agrees with the one published for the instrument.)
static std::vector<double> sample_positions(std::vector<double> on_grid) {
    std::vector<double> sample = index_range(std::ssize(on_grid));
    if (on_grid.front() > on_grid.back()) {
        std::reverse(on_grid.begin(), on_grid.end());
        std::reverse(sample.begin(), sample.end());
    }
    const CubicSpline sample_at(on_grid, sample);
    const double first = on_grid.front(), last = on_grid.back();
    std::vector<double> positions = index_range(std::ssize(on_grid));
    const double points = positions.back();
    for (double& position : positions) position = sample_at(first + (last - first) * position / points);
    positions.front() = sample.front();
    positions.back() = sample.back();
    return positions;
}

bool is_sd01raw2(const std::filesystem::path& path) {
    std::array<char, magic.size()> start{};
    regular_stream(path).read(start.data(), start.size());
    return std::string_view(start.data(), start.size()) == magic;
}

void describe_sd01raw2(const std::filesystem::path& path, Scan& scan) {
    const std::string where = path.string();
    std::ifstream stream = regular_stream(path);
    Header header{};
    if (!stream.read(header.data(), header.size())) {
        throw Error(ErrorCode::bad_file, "ends within its 512-byte header", where, "copy the file again");
    }
    scan.file.file = path.filename().string();
    scan.geometry.samples = number_at<std::uint32_t>(header, samples_at);
    scan.geometry.a_scans = number_at<std::uint32_t>(header, a_scans_at);
    scan.geometry.b_scans = 1;
    const std::int64_t background_lines = number_at<std::uint16_t>(header, background_lines_at);
    const std::int64_t samples = scan.geometry.samples;
    check(scan.geometry, where + ", scan");
    scan.file.offset_bytes = header_bytes;
    scan.file.frame_offset_bytes = b_scan_header_bytes + background_lines * samples * 2;
    scan.file.trailer_bytes = 2 * samples * 4;
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, where);
    check_file_size(layout, scan.geometry, static_cast<std::int64_t>(std::filesystem::file_size(path)), where);

    if (background_lines > 0) {
        const auto lines =
            numbers_at<std::uint16_t>(stream, header_bytes + b_scan_header_bytes, background_lines * samples, where);
        scan.calibration.background = mean_line(lines, background_lines, samples);
    }
    const auto positions = numbers_at<float>(stream, layout.file_bytes() - samples * 4, samples, where);
    for (const float position : positions) {
        if (!std::isfinite(position)) throw Error(ErrorCode::bad_file, "k-linear positions are not finite", where);
    }
    const std::vector<double> on_grid(positions.begin(), positions.end());
    check_k_positions(on_grid, samples, where + ", k-linear positions");
    scan.calibration.k_positions = sample_positions(on_grid);
}

// ---- Finds attributes by name with a text search. This suffices, because the files have one element of each kind and
// no entities.

constexpr std::string_view sizes_element = "<Volume_Size";

// Returns the beginning of the file, or "" if it is unreadable.
static std::string text_of(const std::filesystem::path& xml) {
    std::string text(64 << 10, '\0');
    std::ifstream stream = regular_stream(xml);
    stream.read(text.data(), std::ssize(text));
    text.resize(index(stream.gcount()));
    return text;
}

// Returns the value of `name="12"` in the first such element. Returns 0 if it is missing or is not a positive integer.
static std::int64_t attribute(std::string_view text, std::string_view element, std::string_view name) {
    const std::size_t begin = text.find(element);
    if (begin == text.npos) return 0;
    const std::string_view inside = text.substr(begin, text.find('>', begin) - begin);
    const std::string key = std::string(name) + "=\"";
    std::size_t at = inside.find(key);
    while (at != inside.npos && at > 0 && std::string_view(" \t\r\n").find(inside[at - 1]) == std::string_view::npos) {
        at = inside.find(key, at + 1);
    }
    if (at == inside.npos) return 0;
    std::int64_t number = 0;
    const char* first = inside.data() + at + key.size();
    const auto [end, problem] = std::from_chars(first, inside.data() + inside.size(), number);
    return problem == std::errc() && number > 0 && number <= 1 << 24 ? number : 0;
}

std::filesystem::path xml_of_unp(const std::filesystem::path& path) {
    return std::filesystem::path(path).replace_extension(".xml");
}

bool is_unp(const std::filesystem::path& path) {
    std::error_code problem;
    return lower_ending(path) == ".unp" && std::filesystem::is_regular_file(path, problem) &&
           text_of(xml_of_unp(path)).find(sizes_element) != std::string::npos;
}

// The number of frames may or may not include repeats, depending on the program; this follows from the file size.
void describe_unp(const std::filesystem::path& path, Scan& scan) {
    const std::filesystem::path xml = xml_of_unp(path);
    const std::string text = text_of(xml);
    const auto size = [&](std::string_view name) { return attribute(text, sizes_element, name); };
    const std::int64_t samples = size("Width"), a_scans = size("Height"), frames = size("Number_of_Frames");
    const std::int64_t volumes = std::max<std::int64_t>(1, size("Number_of_Volumes"));
    const std::int64_t repeats =
        std::max<std::int64_t>(1, attribute(text, "<Scanning_Parameters", "Number_of_BM_scans"));
    if (samples == 0 || a_scans == 0 || frames == 0) {
        throw Error(ErrorCode::bad_file, "has no Width, Height or Number_of_Frames in Volume_Size", xml.string(),
                    "describe the spectra in a TOML file: docs/scan-files.md");
    }
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    const double described = 2.0 * static_cast<double>(samples) * static_cast<double>(a_scans) *
                             static_cast<double>(frames) * static_cast<double>(volumes);
    const bool has_repeats_in = bytes == described && frames % repeats == 0;
    const bool has_repeats_besides = bytes == described * static_cast<double>(repeats);
    if (!has_repeats_in && !has_repeats_besides) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("has {:.0f} bytes, {} describes {:.0f}", bytes, xml.filename().string(), described),
                    path.string(), "copy the file again, or describe it in a TOML file: docs/scan-files.md");
    }
    scan.file.file = path.filename().string();
    scan.format.sample_format = SampleFormat::u16;
    scan.geometry.samples = samples;
    scan.geometry.a_scans = a_scans;
    scan.geometry.b_scans = has_repeats_in ? frames / repeats : frames;
    scan.geometry.b_repeats = repeats;
    scan.geometry.volumes = volumes;
}

}  // namespace echolux
