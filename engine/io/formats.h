// Readers and writers of the image formats in the table of image_format.cpp. Each is described where it is implemented:
// in engine/io/NAME_file.cpp, in a separate folder if it is a part that a build may leave out, or in engine/io/foreign/
// if only other programs write it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"
#include "engine/io/image_stream.h"

namespace echolux {

// Formats that Echolux reads and writes. See ImageFormat::open and ImageFormat::create.
std::unique_ptr<ImageReader> open_nrrd(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_nrrd(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

std::unique_ptr<ImageReader> open_nifti(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_nifti(const std::filesystem::path& path, const ImageHeader& header,
                                          const ImageStorage& storage, const std::string& where);

std::unique_ptr<ImageReader> open_meta(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_meta(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

std::unique_ptr<ImageReader> open_npy(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_npy(const std::filesystem::path& path, const ImageHeader& header,
                                        const ImageStorage& storage, const std::string& where);

std::unique_ptr<ImageReader> open_tiff(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_tiff(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

// Returns whether the folder contains the metadata of a Zarr group or array.
bool is_zarr(const std::filesystem::path& folder);
std::unique_ptr<ImageReader> open_ome_zarr(const std::filesystem::path& path);
std::unique_ptr<ImageWriter> create_ome_zarr(const std::filesystem::path& path, const ImageHeader& header,
                                             const ImageStorage& storage, const std::string& where);

std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path);
// Opens a given dataset, named without the leading slash. An empty name selects it as open_hdf5().
std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string& name);
std::unique_ptr<ImageWriter> create_hdf5(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

// ---- Formats that Echolux only reads.

// Returns whether the path is a folder with DICOM files or a DICOM file with another ending. Checks only a few files.
bool is_dicom_series(const std::filesystem::path& path);
// Opens the series. Throws Error{bad_file, bad_setting (unknown series; a codec is not part of this build),
// out_of_memory}.
std::unique_ptr<ImageReader> open_dicom(const std::filesystem::path& path);

// Opens the volume. Throws Error{bad_file, bad_setting (unknown variable; 7.3 is not part of this build),
// out_of_memory}.
std::unique_ptr<ImageReader> open_matlab(const std::filesystem::path& path);

// Opens the file. Throws Error{bad_file, out_of_memory}.
std::unique_ptr<ImageReader> open_heidelberg_vol(const std::filesystem::path& path);

// Opens the picture. Throws Error{bad_file}; for archives with only spectra, the message explains how to reconstruct
// them.
std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path);

// Returns whether a folder contains pictures and no volumes. Reads only names and the first TIFF.
bool is_picture_stack(const std::filesystem::path& folder);
// Opens the volume. Throws Error{bad_file} if a picture is damaged or differs from the first in size or type.
std::unique_ptr<ImageReader> open_picture_stack(const std::filesystem::path& folder);

// ---- Readers that run in a reader process (engine/reader/), because their libraries are not hardened against hostile
// files. open_hdf5() and open_tiff() start that process.

// Reads an open file. `path` is for messages. `part` is the dataset; if empty, /volume, else the largest.
std::unique_ptr<ImageReader> read_hdf5(int descriptor, const std::filesystem::path& path, const std::string& part);
// Reads an open file and closes the descriptor. `path` is for messages.
std::unique_ptr<ImageReader> read_tiff(int descriptor, const std::filesystem::path& path);

}  // namespace echolux
