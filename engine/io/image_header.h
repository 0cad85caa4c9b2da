// Image description as in files (columns, rows, slices; millimetres) with the pose in the patient, and voxel types that
// occur only in files. volume_file.h converts it to the axes of volumes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/types.h"

namespace echolux {

// ---- pose -----------------------------------------------------------------------------------------------------------

// Position and orientation of a volume in the patient, as stored in medical formats. Provenance under "affine" carries
// them, so every format with texts keeps them. Formats with standard fields also use those. Coordinates in mm: x to the
// left, y to the back, z to the head (LPS, as in DICOM and ITK).
struct ImagePose {
    std::array<std::array<double, 3>, 3> steps{};  // from a column, row, slice to the next
    std::array<double, 3> origin{};                // centre of the first voxel
    int nifti_code = 1;                            // NIfTI code of the space; 0: orientation not stated

    double spacing(std::size_t axis) const;  // length of a step

    // Returns whether columns run along x, rows along y, slices along z.
    bool is_straight() const;

    // Returns whether position, orientation and spacing agree within the precision of a float.
    bool is_close_to(const ImagePose& other) const;
};

// Returns false if a number is not finite, an axis has no length, or the axes are in one plane.
bool is_valid(const ImagePose& pose);

// Size (columns, rows, slices) and spacing (0: unknown) of a volume, to detect affine texts of another volume.
struct PosedGrid {
    std::array<std::int64_t, 3> size{};
    std::array<double, 3> spacing_mm{};
};

// Returns the rows of the affine matrix from voxels to the patient, for example "-0.9 0 0 90; 0 -0.9 0 126; 0 0 2 -72
// LPS mm, of 64 x 64 x 21 voxels of 0.9 x 0.9 x 2 mm".
std::string affine_text(const ImagePose& pose, const PosedGrid& grid);

// Parses such a text. Returns nothing for other texts, and if the size or spacing differs.
std::optional<ImagePose> pose_in(const std::string& text, const PosedGrid& grid);

// Directions of columns, rows and slices of a file in the patient's coordinates: x to the left, y to the back, z to the
// head (LPS, as in DICOM). The vectors may have any length.
using PatientAxes = decltype(ImagePose::steps);

// Returns the directions of increasing depth (rows), A-scans (columns) and B-scans (slices) in the letters of
// radiology, e.g. "PLS": left (L), right (R), back (P: posterior), front (A: anterior), head (S: superior), feet (I:
// inferior). Returns "" if an axis has no direction or two axes are parallel.
std::string orientation_of(const PatientAxes& axes);

// Returns the opposite letter: "L" for 'R'. Returns "" for other characters.
std::string opposite_side(char letter);

// ---- header ---------------------------------------------------------------------------------------------------------

struct ImageHeader {
    std::array<std::int64_t, 3> size{1, 1, 1};  // columns, rows, slices
    std::array<double, 3> spacing_mm{1, 1, 1};  // per axis; 0: unknown
    std::array<double, 3> origin_mm{};
    std::optional<ImagePose> pose{};  // as stated in the file
    bool has_unit = true;             // false: the spacings have no unit
    VoxelType type = VoxelType::f32;
    double scale = 1;  // value = code * scale + offset; 1 and 0 if the format has no scaling
    double offset = 0;
    std::int64_t time_points = 1;              // number of volumes in the file
    double time_step_s = 0;                    // interval between time points; 0: unknown
    std::vector<double> times_s;               // time of each; empty: evenly spaced from 0
    std::map<std::string, std::string> texts;  // each a single line

    std::int64_t voxels() const { return size[0] * size[1] * size[2]; }
    std::int64_t bytes() const { return voxels() * bytes_of(type); }
    std::int64_t slice_bytes() const { return size[0] * size[1] * bytes_of(type); }

    // Returns 1 if the spacing is unknown, for formats that require a spacing.
    double spacing_or_one(std::size_t axis) const { return spacing_mm[axis] > 0 ? spacing_mm[axis] : 1; }
};

// Records the orientation of a foreign file as its provenance text "orientation". Does nothing for our own files, which
// have no patient coordinates.
void add_orientation(ImageHeader& image, const PatientAxes& axes);

// ---- stored voxels --------------------------------------------------------------------------------------------------

enum class StoredType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, complex64 };

// Returns the size of one voxel in bytes.
std::int64_t bytes_of(StoredType type);

// Returns the type that voxels are converted to: i8 becomes i16, wider integers and f64 become f32.
VoxelType voxel_type(StoredType type);

// Returns the file type for a voxel type; f32 for types that files cannot hold.
StoredType stored_as(VoxelType type);

// Reverses the bytes of each number. The two parts of a complex number are swapped separately.
void swap_byte_order(StoredType type, std::span<std::byte> stored);

// Converts voxels of a file, already in this machine's byte order, to voxel_type(type).
std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored);

// Returns the size of all time points in the file, as double so that no header can cause an overflow.
double claimed_bytes(const ImageHeader& header, StoredType type);

// Checks the header against the file size before memory is allocated. Throws Error{bad_file} if it describes more
// voxels than `voxel_bytes` of the file can hold, taking compression into account.
void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path);

}  // namespace echolux
