// The program `echolux-reader` reads one file for Echolux in a sandbox (engine/io/contained/reader_process.h). Only
// Echolux starts it, with an open socket, shared memory and the open file.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/reader/readers.h"
#include "engine/reader/serve.h"
#include "engine/version.h"

int main(int count, char** arguments) {
    const bool fits = count == 3 && std::strcmp(arguments[1], echolux::version) == 0 &&
                      std::to_string(echolux::reader_protocol) == arguments[2];
    if (fits)
        // Exit handlers would need resources that the sandbox removed.
        std::_Exit(echolux::serve_reader(echolux::reader_of_kind));
    if (count == 3) {
        echolux::send_frame(echolux::reader_socket,
                            echolux::frame_of(echolux::Error(echolux::ErrorCode::device,
                                                             "the reader beside this program is of another version",
                                                             arguments[0], "install Echolux again, whole")));
        return 1;
    }
    std::fputs(
        "echolux-reader reads files of other programs for Echolux, which starts it. There is nothing to do by hand.\n",
        stderr);
    return 2;
}
