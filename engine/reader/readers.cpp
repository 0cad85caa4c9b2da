#include "engine/reader/readers.h"

#include "engine/io/foreign/gdcm/dicom_frames.h"
#include "engine/io/hdf5/hdf5_reader.h"
#include "engine/io/tiff/tiff_reader.h"
#include "engine/parts.h"

namespace echolux {

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

}  // namespace echolux
