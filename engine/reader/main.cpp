// The program `echolux-reader` reads one file for Echolux in a sandbox (engine/io/contained/reader_process.h). Only
// Echolux starts it, with an open socket, shared memory and the open file.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "engine/build.h"
#include "engine/io/contained/wire.h"
#include "engine/io/foreign/gdcm/dicom_codec.h"
#include "engine/io/formats.h"
#include "engine/reader/serve.h"

namespace echolux {

// ---- The kinds of files that are read in a separate process.

namespace {

// Opens the reader for order.kind. Throws Error{bad_file, bad_setting (not part of this build)}.
std::unique_ptr<ImageReader> reader_of_kind(const OpenOrder& order) {
    if (order.kind == "hdf5") {
        if constexpr (has(Part::hdf5)) return read_hdf5(reader_file, order.path, order.part);
        refuse_missing(Part::hdf5, order.path);
    }
    if (order.kind == "tiff") {
        if constexpr (has(Part::tiff)) return read_tiff(reader_file, order.path);
        refuse_missing(Part::tiff, order.path);
    }
    if constexpr (has(Part::gdcm))
        return read_dicom_frames(reader_file, order.path, PackedFrames::of(order.numbers, order.part));
    refuse_missing(Part::gdcm, order.path);
}

}  // namespace

}  // namespace echolux

int main(int count, char** arguments) {
    const bool fits = count == 3 && std::strcmp(arguments[1], echolux::version) == 0 &&
                      std::to_string(echolux::reader_protocol) == arguments[2];
    if (fits)
        // Exit handlers would need resources that the sandbox removed.
        std::_Exit(echolux::serve_reader(echolux::reader_of_kind));
    if (count == 3) {
        echolux::send_frame(echolux::reader_socket,
                            echolux::frame_of(echolux::Error(echolux::ErrorCode::device,
                                                             "the reader next to this program has a different version",
                                                             arguments[0], "reinstall Echolux completely")));
        return 1;
    }
    std::fputs("echolux-reader reads files of other programs for Echolux, which starts it. Do not run it by hand.\n",
               stderr);
    return 2;
}
