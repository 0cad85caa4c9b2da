#include "ui/net/private_file.h"

#include <fmt/format.h>

#include <fstream>
#include <random>

#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {

// A new file is readable by others until its permissions are set, and a reader that opened it then could read on.
// Therefore the file is created in a folder that only its owner can enter.
void write_private(const std::filesystem::path& path, std::string_view text) {
    namespace fs = std::filesystem;
    make_folders_for(path);
    std::random_device random;
    const fs::path folder = path.parent_path() / fmt::format("unfinished-{:08x}{:08x}", random(), random());
    const fs::path file = folder / "text";
    std::error_code problem, ignored;
    fs::create_directory(folder, problem);
    if (!problem) fs::permissions(folder, fs::perms::owner_all, fs::perm_options::replace, problem);
    if (!problem && !(std::ofstream(file, std::ios::binary) << text).flush())
        problem = std::make_error_code(std::errc::io_error);
    if (!problem)
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::replace, problem);
    if (!problem) make_durable(file);
    if (!problem) fs::rename(file, path, problem);
    fs::remove_all(folder, ignored);
    if (problem)
        throw Error(ErrorCode::output, "cannot be written for its owner alone", path.string(),
                    "check folder, permissions and free space");
}

}  // namespace echolux
