#include "engine/io/file_name.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "compute/error.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// Follows symbolic links as far as the path exists.
Path resolved(const Path& path) {
    std::error_code problem;
    const Path absolute = std::filesystem::absolute(path, problem);
    const Path whole = std::filesystem::weakly_canonical(absolute, problem);
    return problem ? absolute.lexically_normal() : whole;
}

bool holds(const Path& folder, const Path& whole) {
    Path known = resolved(folder.empty() ? "." : folder);
    if (!known.has_filename()) known = known.parent_path();
    return std::ranges::mismatch(known, whole).in1 == known.end();
}

std::string words_for_outside(const Path& path) {
    return "move it there, or allow its folder: `ECHOLUX_DATA_FOLDERS` " + resolved(path).parent_path().string();
}

}  // namespace

bool lies_below(const Path& folder, const Path& path) {
    return holds(folder, resolved(path));
}

bool may_be_named(const Path& folder, const Path& path) {
    const Path whole = resolved(path);
    if (holds(folder, whole)) return true;
    const char* allowed = std::getenv(data_folders_variable);
    std::string_view rest = allowed == nullptr ? "" : allowed;
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(':'));
        if (!one.empty() && holds(one, whole)) return true;
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
    return false;
}

Path named_file(const Path& header, const std::string& name) {
    const Path path = header.parent_path() / name;
    if (!may_be_named(header.parent_path(), path)) {
        throw Error(ErrorCode::bad_file, "names a file outside of its folder: " + name.substr(0, 200), header.string(),
                    words_for_outside(path));
    }
    std::error_code problem;
    if (std::filesystem::is_regular_file(path, problem)) return path;
    throw Error(ErrorCode::bad_file, path.string() + " cannot be read", header.string(),
                "voxels must lie in one file beside the header");
}

void require_within(const Path& folder, const Path& path) {
    if (may_be_named(folder, path)) return;
    throw Error(ErrorCode::bad_file, "keeps a part outside of its folder: " + path.lexically_relative(folder).string(),
                folder.string(), words_for_outside(path));
}

}  // namespace echolux
