// Finds attributes by name with a text search. This suffices, because the files have one element of each kind and no
// entities.
#include "engine/scan/unp_scan.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "compute/error.h"
#include "engine/io/lower_case.h"
#include "engine/io/regular_file.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

constexpr std::string_view sizes_element = "<Volume_Size";

// Returns the beginning of the file, or "" if it is unreadable.
std::string text_of(const std::filesystem::path& xml) {
    std::string text(64 << 10, '\0');
    std::ifstream stream = regular_stream(xml);
    stream.read(text.data(), std::ssize(text));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

// Returns the value of `name="12"` in the first such element. Returns 0 if it is missing or is not a positive integer.
std::int64_t attribute(std::string_view text, std::string_view element, std::string_view name) {
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

}  // namespace

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
        throw Error(ErrorCode::bad_file, "says no Width, Height or Number_of_Frames in Volume_Size", xml.string(),
                    "describe the spectra by a TOML file: docs/scan-files.md");
    }
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    const double described = 2.0 * static_cast<double>(samples) * static_cast<double>(a_scans) *
                             static_cast<double>(frames) * static_cast<double>(volumes);
    const bool has_repeats_in = bytes == described && frames % repeats == 0;
    const bool has_repeats_besides = bytes == described * static_cast<double>(repeats);
    if (!has_repeats_in && !has_repeats_besides) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("has {:.0f} bytes, {} describes {:.0f}", bytes, xml.filename().string(), described),
                    path.string(), "copy the file again, or describe it by a TOML file: docs/scan-files.md");
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
