#include "engine/file_hash.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>

namespace echolux {

std::string file_hash(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return "missing";
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte) {
        hash = (hash ^ static_cast<unsigned char>(*byte)) * 0x100000001b3u;
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace echolux
