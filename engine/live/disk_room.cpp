#include "engine/live/disk_room.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "compute/error.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// Returns the bytes available to the user, -1 if unknown.
std::int64_t free_bytes(const Path& folder) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::space(folder, unknown).available;
    constexpr std::uintmax_t max = std::numeric_limits<std::int64_t>::max();
    return unknown ? -1 : static_cast<std::int64_t>(std::min(bytes, max));
}

// Returns the device that a folder is on. Files on one device share its free space.
std::optional<dev_t> device_of(const Path& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) return {};
    return status.st_dev;
}

}  // namespace

std::vector<DiskRoom> disk_rooms(const std::vector<Path>& files, const Striping& striping, std::int64_t bytes) {
    std::map<dev_t, DiskRoom> rooms;
    for (std::size_t part = 0; part < files.size(); ++part) {
        std::error_code unknown;
        const Path folder = std::filesystem::absolute(files[part], unknown).parent_path();
        const std::optional<dev_t> device = device_of(folder);
        const std::int64_t free = free_bytes(folder);
        if (!device || free < 0) continue;
        DiskRoom& room = rooms.try_emplace(*device, DiskRoom{files[part]}).first->second;
        room.wanted_bytes += striping.bytes_of(part, bytes);
        room.free_bytes = free;
    }
    std::vector<DiskRoom> found;
    for (auto& [device, room] : rooms) found.push_back(std::move(room));
    return found;
}

void check_room(const std::vector<DiskRoom>& rooms) {
    for (const DiskRoom& room : rooms) {
        if (room.free_bytes >= room.wanted_bytes) continue;
        throw Error(ErrorCode::output,
                    fmt::format("needs {:.4g} GB, {:.4g} GB are free", 1e-9 * static_cast<double>(room.wanted_bytes),
                                1e-9 * static_cast<double>(room.free_bytes)),
                    room.file.string(), "record for a shorter time, or to another disk");
    }
}

}  // namespace echolux
