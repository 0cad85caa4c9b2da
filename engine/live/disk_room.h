// How much room the disks of a recording have. Files that lie on one disk share what is free there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/scan/striping.h"

namespace echolux {

struct DiskRoom {
    std::filesystem::path file;  // the first one on it
    std::int64_t wanted_bytes = 0;
    std::int64_t free_bytes = 0;
};

// Of the disks of `files`, which hold `bytes` together. Disks that do not say what is free are left out.
std::vector<DiskRoom> disk_rooms(const std::vector<std::filesystem::path>& files, const Striping& striping,
                                 std::int64_t bytes);

// Throws Error{output} naming a file on the disk that has too little.
void check_room(const std::vector<DiskRoom>& rooms);

}  // namespace echolux
