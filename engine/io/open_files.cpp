#include "engine/io/regular_file.h"

#include <cerrno>

#include "compute/error.h"

namespace echolux {

void check_open_files(int problem, const std::string& where) {
    if (problem != EMFILE && problem != ENFILE) return;
    throw Error(ErrorCode::device, "cannot be opened: too many files are open", where,
                problem == EMFILE ? "close some, or allow more with ulimit -n" : "close other programs");
}

}  // namespace echolux
