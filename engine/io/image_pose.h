// Position and orientation of a volume in the patient, as stored in medical formats. Provenance under "affine"
// carries them, so every format with texts keeps them. Formats with standard fields also use those.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace echolux {

// Patient coordinates in mm: x to the left, y to the back, z to the head (LPS, as in DICOM and ITK).
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

}  // namespace echolux
