// Free space on the disks of a recording. Files on the same disk share its free space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/scan/striping.h"

namespace echolux {

struct DiskRoom {
    std::filesystem::path file;  // the first file on this disk
    // for the recording
    std::int64_t wanted_bytes = 0;
    std::int64_t free_bytes = 0;
};

// Returns the disks of `files`, which hold `bytes` in total. Omits disks whose free space is unknown.
std::vector<DiskRoom> disk_rooms(const std::vector<std::filesystem::path>& files, const Striping& striping,
                                 std::int64_t bytes);

// Throws Error{output} with the name of a file on the disk that has too little space.
void check_room(const std::vector<DiskRoom>& rooms);

}  // namespace echolux
