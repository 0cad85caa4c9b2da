// What a disk holds, as a tree of names and the bytes of files, and what happened to it step by step. From the steps up
// to any moment follows what a power cut at that moment may leave: everything that was flushed, and of the rest any
// part, torn within a write, in any order. That is what POSIX leaves open; file systems of today keep more, each
// another part (T. S. Pillai et al., OSDI 2014).
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
using Files = std::map<std::string, Bytes>;  // by relative name; names of folders end in '/'

struct Step {
    enum class Kind { make, make_folder, write, resize, flush, failed_flush, rename, exchange, remove };
    Kind kind = Kind::flush;
    int node = 0;        // the file or folder
    int folder = 0;      // that it has its name in
    std::string name{};  //
    int to_folder = 0;   // of renaming and exchanging
    std::string to_name{};
    std::int64_t place = 0;  // of writing; of resizing the size
    Bytes bytes{};

    bool is_of_bytes() const { return kind == Kind::write || kind == Kind::resize; }
    bool is_of_names() const { return !is_of_bytes() && kind != Kind::flush && kind != Kind::failed_flush; }
};

struct Disk {
    static constexpr int root = 0;
    std::map<int, std::map<std::string, int>> names{{root, {}}};  // of each folder
    std::map<int, Bytes> contents;                                // of each file

    bool is_folder(int node) const { return names.contains(node); }
    Files files() const;
    void apply(const Step& step);  // where it can be: what it rests on may be lost
};

Disk disk_in(const Path& folder);
Files files_in(const Path& folder);
void put_files(const Files& files, const Path& folder);

// After `steps` and no more. What a flush failed on stays lost, whatever later ones say, as on Linux (A. Rebello et
// al., USENIX ATC 2020).
Disk after_power_cut(const Disk& start, std::span<const Step> steps, std::mt19937_64& random);

}  // namespace echolux::faults
