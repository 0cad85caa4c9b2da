// Messages of OpenIGTLink (J. Tokuda et al., Int. J. Med. Robotics 5, 423, 2009; openigtlink.org), packed: what 3D
// Slicer and other programs of image-guided therapy exchange. They are few and simple, so they are written here: the
// library in Debian knows no COMMAND, listens on all addresses of a machine and trusts the sizes that it is told. Its
// receiver is what the tests compare with (docs/openigtlink.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/types.h"
#include "engine/igtl/message_reader.h"

namespace echolux::igtl {

using Bytes = std::vector<std::byte>;

// Who sends a message, and when.
struct Stamp {
    std::string device;  // at most 19 bytes
    double unix_s = 0;   // seconds since 1970
};

// Where a volume lies, in the coordinates of OpenIGTLink and Slicer: RAS, millimetres, x to the patient's right, y to
// the front, z to the head.
struct Pose {
    std::array<std::array<double, 3>, 3> directions;  // of columns (A-scans), rows (depth), slices (B-scans)
    std::array<double, 3> spacing_mm;                 // 1 where it is unknown
    std::array<double, 3> origin_mm;                  // centre of the first voxel
};

// `orientation`: where depth, A-scans and B-scans run to (engine/io/orientation.h). Where nothing says so, as in the
// files that Echolux writes: to the back, the left and the head.
Pose pose_of(const VolumeGrid& grid, const std::string& orientation = "");

// Throws Error{bad_setting}: IMAGE has no such voxels, or not so many of them.
void check_image(const VolumeGrid& grid);

// IMAGE: columns are A-scans, rows depth, slices B-scans. `voxels`: grid.bytes(), depth fastest. Throws as
// check_image().
Bytes image(const Stamp& stamp, const VolumeGrid& grid, const Pose& pose, std::span<const std::byte> voxels);

// IMAGE of one B-scan in its place, of a volume that image() has packed; the last where there are not so many.
Bytes b_scan_of(const Stamp& stamp, std::span<const std::byte> packed_image, const VolumeGrid& grid, const Pose& pose,
                std::int64_t b_scan);

// TRANSFORM: how a volume lies, without its spacing.
Bytes transform(const Stamp& stamp, const Pose& pose);

// STRING. Longer texts than its 65,535 bytes are cut.
Bytes string(const Stamp& stamp, std::string_view text);

// STATUS: that all is well, or what is wrong.
enum class StatusCode : std::uint16_t { ok = 1, unknown_error = 2, unknown_instruction = 12 };
Bytes status(const Stamp& stamp, StatusCode code, std::string_view text);

// CAPABILITY: the types of messages that are sent and understood.
Bytes capability(const Stamp& stamp);

// Of a STRING a STRING; of a COMMAND an RTS_COMMAND with its number and name, however long.
Bytes answer_to(const Request& request, double unix_s, std::string_view text);

}  // namespace echolux::igtl
