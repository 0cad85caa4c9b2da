// Main program of all fuzz targets: see fuzz_target.h.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>

#include "compute/error.h"
#include "engine/io/image_format.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

std::map<std::string, Target>& targets() {
    static std::map<std::string, Target> all;
    return all;
}

// A folder in memory if the system supports it; removed at exit.
struct InputFolder {
    InputFolder() {
        const std::filesystem::path memory = "/dev/shm";
        std::error_code problem;
        const bool has_memory = std::filesystem::is_directory(memory, problem);
        path = (has_memory ? memory : std::filesystem::temp_directory_path()) /
               ("echolux-fuzz-" + std::to_string(getpid()));
        std::filesystem::create_directories(path);
    }
    ~InputFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }

    std::filesystem::path path;
};

const std::filesystem::path& input_folder() {
    static const InputFolder folder;
    return folder.path;
}

void write(const std::filesystem::path& path, Bytes bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool is_plain(std::string_view name) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/'; };
    return !name.empty() && name.size() < 100 && name.front() != '/' && name.find("..") == std::string_view::npos &&
           std::ranges::all_of(name, plain);
}

Target chosen_target() {
    const char* name = std::getenv("ECHOLUX_FUZZ_TARGET");
    const auto found = targets().find(name == nullptr ? "" : name);
    if (found != targets().end()) return found->second;
    std::fprintf(stderr, "ECHOLUX_FUZZ_TARGET names no target; there are:");
    for (const auto& [known, target] : targets()) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    std::_Exit(2);
}

}  // namespace

Registration::Registration(const char* name, Target target) {
    targets()[name] = target;
}

std::filesystem::path file_with(const std::string& name, Bytes bytes) {
    const std::filesystem::path path = input_folder() / name;
    write(path, bytes);
    return path;
}

std::filesystem::path folder_with(const std::string& name, Bytes bytes) {
    const std::filesystem::path folder = input_folder() / name;
    std::error_code problem;
    std::filesystem::remove_all(folder, problem);
    std::filesystem::create_directories(folder);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (int files = 0; files < 64; ++files) {
        const std::size_t space = rest.find(' '), line = rest.find('\n');
        if (line == std::string_view::npos || space > line || !is_plain(rest.substr(0, space))) break;
        const std::filesystem::path path = folder / rest.substr(0, space);
        const std::string digits(rest.substr(space + 1, line - space - 1));
        rest.remove_prefix(line + 1);
        const std::size_t size = std::min<std::size_t>(std::strtoul(digits.c_str(), nullptr, 10), rest.size());
        std::filesystem::create_directories(path.parent_path(), problem);
        write(path, std::as_bytes(std::span(rest.substr(0, size))));
        rest.remove_prefix(size);
    }
    return folder;
}

void read_all(ImageReader& reader) {
    constexpr std::int64_t max_bytes = 1 << 24, max_slices = 64, max_times = 4;
    const ImageHeader& header = reader.header();
    const std::vector<ImageHeader> levels = reader.levels();
    const std::int64_t slices = std::min(header.size[2], max_slices);
    const bool is_small = static_cast<double>(header.size[0]) * static_cast<double>(header.size[1]) *
                              static_cast<double>(slices) * static_cast<double>(bytes_of(header.type)) <=
                          static_cast<double>(max_bytes);
    if (!is_small) return;
    for (std::int64_t time = 0; time < std::min(header.time_points, max_times); ++time) {
        const std::vector<std::byte> voxels = reader.read(time, {0, slices});
        if (std::ssize(voxels) != slices * header.slice_bytes()) std::abort();
        reader.read(time, {slices - 1, slices});
    }
    if (!reader.reads_boxes()) return;
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const auto part = [&](std::size_t axis) {
            const std::int64_t size = levels[level].size[axis];
            return Interval{size / 3, std::min(size, size / 3 + 40)};
        };
        reader.read_box(header.time_points - 1, level, {part(0), part(1), part(2)});
    }
}

void read_image_file(const std::string& name, Bytes bytes) {
    const std::filesystem::path path = file_with(name, bytes);
    read_all(*image_format_of(path)->open(path));
}

}  // namespace echolux::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    setenv("ECHOLUX_MEMORY_MIB", "200", 0);  // memory budget of the readers
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const echolux::fuzz::Target target = echolux::fuzz::chosen_target();
    try {
        target(std::as_bytes(std::span(bytes, size)));
    } catch (const echolux::Error& error) {  // the only permitted failure
        static const bool tells = std::getenv("ECHOLUX_FUZZ_TELL") != nullptr;
        if (tells) std::fprintf(stderr, "%s\n", error.line().c_str());
    }
    return 0;
}
