#include "engine/io/output_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/atomic_file.h"
#include "engine/io/durable_file.h"
#include "engine/io/file_name.h"
#include "engine/io/image_format.h"
#include "engine/io/movie_file.h"
#include "engine/io/picture_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

Path resolved(const Path& path) {
    std::error_code problem;
    const Path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path, problem), problem);
    return whole.has_filename() ? whole : whole.parent_path();  // for "folder/"
}

// Also compares inodes, to detect hard links and symbolic links.
bool are_same(const Path& a, const Path& b) {
    std::error_code missing;
    return std::filesystem::equivalent(a, b, missing) || resolved(a) == resolved(b);
}

// Whether `path` is strictly inside `folder`, with links resolved.
bool is_inside(const Path& path, const Path& folder) {
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem)) return false;
    const Path inner = resolved(path), outer = resolved(folder);
    return inner != outer && std::ranges::mismatch(outer, inner).in1 == outer.end();
}

// Overwriting an existing file inside the folder of an input series would change that series; a new file there is
// harmless. Replacing a folder would remove the inputs inside it.
bool would_harm(const Path& output, const Path& input) {
    std::error_code problem;
    if (are_same(output, input)) return true;
    return std::filesystem::exists(output, problem) && (is_inside(output, input) || is_inside(input, output));
}

// A file with another ending would not be recognised, or opened as another format.
void refuse_other_endings(const Output& output) {
    if (output.endings.empty() || std::ranges::count(output.endings, lower_ending(output.path)) > 0) return;
    if (output.path.empty())
        throw Error(ErrorCode::output, "no name is given", "output", "name it *" + output.endings.front());
    throw Error(ErrorCode::output, fmt::format("does not end in {}", fmt::join(output.endings, ", ")),
                output.path.string(), "name it *" + output.endings.front());
}

void refuse_inputs(const Path& output, const FileNames& inputs) {
    for (const Path& input : inputs) {
        if (input.empty() || !would_harm(output, input)) continue;
        throw Error(ErrorCode::output, "the output would overwrite an input", output.string(), "choose another name");
    }
}

void refuse_foreign_files(const Output& output) {
    std::error_code problem;
    if (!std::filesystem::exists(output.path, problem)) return;
    const bool is_empty_folder =
        std::filesystem::is_directory(output.path, problem) && std::filesystem::is_empty(output.path, problem);
    if (is_empty_folder || (output.is_own && output.is_own(output.path))) return;
    throw Error(ErrorCode::output, "already exists and is not an earlier result of this kind", output.path.string(),
                "choose another name, or replace it with `overwrite`");
}

}  // namespace

void check_outputs(const std::vector<Output>& outputs, const FileNames& inputs, bool overwrites) {
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        if (output->path.empty()) continue;
        refuse_other_endings(*output);
        refuse_inputs(output->path, inputs);
        const bool is_taken = std::any_of(outputs.begin(), output, [&](const Output& before) {
            return !before.path.empty() && are_same(before.path, output->path);
        });
        if (is_taken) {
            throw Error(ErrorCode::output, "is the name of two outputs", output->path.string(),
                        "give each its own name");
        }
        check_folder_for(output->path);
        refuse_running_recording(output->path);
        if (!overwrites) refuse_foreign_files(*output);
    }
}

// ---- own files ------------------------------------------------------------------------------------------------------

// Unreadable files are not ours.
template <class Look>
static bool holds_true(const Look& look) {
    try {
        return look();
    } catch (const std::exception&) {
        return false;
    }
}

// Returns up to `count` bytes of a regular file from byte `begin`; fewer at its end.
static std::string part_of(const std::filesystem::path& path, std::uintmax_t begin, std::uintmax_t count) {
    std::ifstream file = regular_stream(path);
    if (!file) return {};
    std::string bytes(count, '\0');
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(bytes.data(), static_cast<std::streamsize>(count));
    bytes.resize(index(std::max<std::streamsize>(0, file.gcount())));
    return bytes;
}

bool is_own_volume(const std::filesystem::path& path) {
    return holds_true([&] { return has_own_texts(format_of(path).open(path)->header()); });
}

bool is_own_picture(const std::filesystem::path& path) {
    return holds_true([&] { return is_picture_name(path) && picture_texts(path).contains(text_pixels); });
}

bool is_own_movie(const std::filesystem::path& path) {
    return holds_true([&] {
        std::error_code problem;
        const bool is_series = lower_ending(path) == ".png" || std::filesystem::is_directory(path, problem);
        if (is_series) return is_own_picture(SeriesName(path).of(0));
        return holds_near_an_end(path, movie_program_key);
    });
}

bool begins_with(const std::filesystem::path& path, std::string_view text) {
    return part_of(path, 0, text.size()) == text;
}

bool holds_near_an_end(const std::filesystem::path& path, std::string_view text) {
    constexpr std::uintmax_t reach = 256 << 10;
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    if (problem) return false;
    const std::string wanted = lower_case(std::string(text));  // Matroska writes its keys in capitals
    const auto holds = [&](std::string bytes) {
        return lower_case(std::move(bytes)).find(wanted) != std::string::npos;
    };
    return holds(part_of(path, 0, std::min(size, reach))) || holds(part_of(path, size - std::min(size, reach), reach));
}

}  // namespace echolux
