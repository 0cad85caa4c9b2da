#include "ui/net/private_file.h"

#include <fstream>

#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {

void write_private(const std::filesystem::path& path, std::string_view text) {
    namespace fs = std::filesystem;
    make_folders_for(path);
    AtomicFile file(path);
    std::error_code problem;
    { std::ofstream(file.temporary(), std::ios::binary | std::ios::trunc); }
    fs::permissions(file.temporary(), fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::replace,
                    problem);
    std::ofstream stream(file.temporary(), std::ios::binary | std::ios::app);
    stream << text;
    stream.close();
    if (problem || !stream)
        throw Error(ErrorCode::output, "cannot be written for its owner alone", path.string(),
                    "check folder, permissions and free space");
    file.commit();
}

}  // namespace echolux
