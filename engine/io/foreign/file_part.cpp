#include "engine/io/file_name.h"

namespace echolux {

FilePart file_part(const std::filesystem::path& path) {
    std::error_code problem;
    if (std::filesystem::exists(path, problem)) return {path, {}};
    const std::string text = path.string();
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return {path, {}};
    const std::filesystem::path file = text.substr(0, colon);
    if (!std::filesystem::exists(file, problem)) return {path, {}};
    return {file, text.substr(colon + 1)};
}

}  // namespace echolux
