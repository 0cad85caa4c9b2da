// Model of a disk: a tree of names and the bytes of files, and the steps that changed them. From the steps up to any
// moment follows what a power cut at that moment may leave: everything that was flushed, and any part of the rest, torn
// within a write and in any order. POSIX allows all of these states. Current file systems keep more, but not the same
// (T. S. Pillai et al., OSDI 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace echolux::faults {

using Path = std::filesystem::path;
using Bytes = std::vector<std::byte>;
using Files = std::map<std::string, Bytes>;  // by relative name; folder names end in '/'

struct Step {
    enum class Kind { make, make_folder, write, resize, flush, failed_flush, rename, exchange, remove };
    Kind kind = Kind::flush;
    int node = 0;    // the file or folder
    int folder = 0;  // the folder that contains its name
    std::string name{};
    int to_folder = 0;  // for rename and exchange
    std::string to_name{};
    std::int64_t place = 0;  // offset of a write; new size for resize
    Bytes bytes{};

    bool is_of_bytes() const { return kind == Kind::write || kind == Kind::resize; }
    bool is_of_names() const { return !is_of_bytes() && kind != Kind::flush && kind != Kind::failed_flush; }
};

struct Disk {
    static constexpr int root = 0;
    std::map<int, std::map<std::string, int>> names{{root, {}}};  // by folder
    std::map<int, Bytes> contents;                                // by file

    bool is_folder(int node) const { return names.contains(node); }
    Files files() const;
    void apply(const Step& step);  // ignored if it depends on a lost step
};

Disk disk_in(const Path& folder);
Files files_in(const Path& folder);
void put_files(const Files& files, const Path& folder);

// Returns a possible disk after a power cut that follows `steps`. Data of a failed flush is lost even if a later flush
// succeeds, as on Linux (A. Rebello et al., USENIX ATC 2020).
Disk after_power_cut(const Disk& start, std::span<const Step> steps, std::mt19937_64& random);

}  // namespace echolux::faults
