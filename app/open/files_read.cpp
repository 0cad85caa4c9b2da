#include "app/open/files_read.h"

#include <iterator>
#include <sstream>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/file_name.h"
#include "engine/io/regular_file.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"
#include "engine/simulate/simulator.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

template <class Work>
void as_far_as_possible(const Work& work) {
    try {
        work();
    } catch (const Error&) {
    }
}

// Adds the files named in the text of a scan or of the simulator, without opening them.
void add_files_of_scan(const Path& input, const std::vector<std::string>& settings, FileNames& files) {
    Scan scan;
    Simulation simulation;
    Settings book;
    bind(book, scan);
    book.bind("simulation", simulation);
    if (lower_ending(input) == ".toml") as_far_as_possible([&] { book.read_toml(input); });
    for (const std::string& assignment : settings) as_far_as_possible([&] { book.set_assignment(assignment); });
    for (const std::string& name : stripe_names(scan.file.stripes)) files.push_back(input.parent_path() / name);
    for (const BoundField& field : book.fields()) {
        const Value value = field.get();
        const auto* name = std::get_if<std::string>(&value);
        const bool is_of_scan = field.section != "simulation";
        const Path folder = is_of_scan ? input.parent_path() : Path();
        if (name != nullptr && is_file_name(field, *name, folder)) files.push_back(folder / *name);
    }
}

// Finds "data file: voxels.raw" of NRRD and "ElementDataFile = voxels.raw" of MetaImage.
void add_voxels_apart(const Path& header, FileNames& files) {
    constexpr std::size_t max_header = 1 << 20;
    std::string text;
    as_far_as_possible([&] { text = start_of_file(header, max_header); });
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string key = lower_case(line.substr(0, line.find_first_of(":=")));
        if (!key.starts_with("data file") && !key.starts_with("datafile") && !key.starts_with("elementdatafile"))
            continue;
        const std::size_t begin = line.find_first_not_of(" \t", line.find_first_of(":=") + 1);
        const std::size_t end = line.find_last_not_of(" \t\r");
        if (begin != std::string::npos && end >= begin) {
            files.push_back(header.parent_path() / line.substr(begin, end + 1 - begin));
        }
    }
}

void add_files_of_pattern(const Path& pattern, FileNames& files) {
    as_far_as_possible([&] {
        const FileNames fitting = volumes_of(pattern);
        files.insert(files.end(), fitting.begin(), fitting.end());
    });
}

}  // namespace

FileNames files_read(const Path& input, const std::vector<std::string>& settings) {
    FileNames files;
    if (input.empty()) {
        if (!settings.empty()) add_files_of_scan(input, settings, files);
        return files;
    }
    files.push_back(input);
    const std::string ending = lower_ending(input);
    std::error_code problem;
    const bool is_folder = std::filesystem::is_directory(input, problem) && !is_volume_name(input);
    if (is_folder || is_pattern(input)) {
        add_files_of_pattern(input, files);
    } else if (ending == ".nhdr" || ending == ".mhd") {
        add_voxels_apart(input, files);
    } else if (!is_volume_name(input)) {
        add_files_of_scan(input, settings, files);
    }
    return files;
}

FileNames files_of(const FileNames& inputs) {
    FileNames all;
    for (const Path& input : inputs) {
        const FileNames files = files_read(input);
        all.insert(all.end(), files.begin(), files.end());
    }
    return all;
}

FileNames files_read(const VolumeSource& source) {
    return files_read(source.input, source.settings);
}

void add_files_of_view(const View& view, FileNames& files) {
    for (const Field<View>& field : describe<View>()) {
        const Value value = field.get(view);
        const auto* name = std::get_if<std::string>(&value);
        if (name != nullptr && is_file_name(field, *name, "")) files.emplace_back(*name);
    }
}

}  // namespace echolux
