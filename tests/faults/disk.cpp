#include "disk.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include "compute/indexing.h"

namespace echolux::faults {
namespace {

constexpr std::int64_t sector = 512;  // bytes that a disk writes atomically

void put(Bytes& content, std::int64_t place, std::span<const std::byte> bytes) {
    const std::size_t end = index(place) + bytes.size();
    if (content.size() < end) content.resize(end);
    std::ranges::copy(bytes, content.begin() + place);
}

// Applies a random subset of the write's sectors. The file gets the full length of the write or ends at the last
// sector.
void put_torn(Bytes& content, const Step& step, std::mt19937_64& random) {
    const auto end = step.place + std::ssize(step.bytes);
    if (random() % 2 == 0 && std::ssize(content) < end) content.resize(index(end));
    for (std::int64_t at = step.place; at < end;) {
        const std::int64_t next = std::min(end, (at / sector + 1) * sector);
        const auto part = std::span(step.bytes).subspan(index(at - step.place), index(next - at));
        if (random() % 2 == 0) put(content, at, part);
        at = next;
    }
}

// Marks the steps that later flushes make durable. Flushing a file covers its bytes, flushing a folder its names, and a
// durable name also covers the file's earlier names.
std::vector<bool> flushed(std::span<const Step> steps) {
    std::vector<bool> is(steps.size(), false);
    std::set<int> nodes;     // flushed later
    std::set<int> names_of;  // nodes with a name that is flushed later
    for (std::size_t i = steps.size(); i-- > 0;) {
        const Step& step = steps[i];
        if (step.kind == Step::Kind::flush) {
            nodes.insert(step.node);
            is[i] = true;
        } else if (step.kind == Step::Kind::failed_flush) {
            nodes.erase(step.node);
        } else if (step.is_of_bytes()) {
            is[i] = nodes.contains(step.node);
        } else {
            const bool moves = step.kind == Step::Kind::rename || step.kind == Step::Kind::exchange;
            is[i] = nodes.contains(step.folder) || (moves && nodes.contains(step.to_folder)) ||
                    names_of.contains(step.node);
            if (is[i]) names_of.insert(step.node);
        }
    }
    return is;
}

}  // namespace

void Disk::apply(const Step& step) {
    const auto named = [&](int folder, const std::string& name) {
        const auto of = names.find(folder);
        if (of == names.end()) return -1;
        const auto found = of->second.find(name);
        return found == of->second.end() ? -1 : found->second;
    };
    switch (step.kind) {
        case Step::Kind::make_folder: names[step.node]; [[fallthrough]];
        case Step::Kind::make:
            if (names.contains(step.folder)) names[step.folder][step.name] = step.node;
            if (step.kind == Step::Kind::make) contents[step.node];
            break;
        case Step::Kind::write: put(contents[step.node], step.place, step.bytes); break;
        case Step::Kind::resize: contents[step.node].resize(index(step.place)); break;
        case Step::Kind::flush:
        case Step::Kind::failed_flush: break;
        case Step::Kind::rename:
            if (named(step.folder, step.name) != step.node || !names.contains(step.to_folder)) break;
            names[step.folder].erase(step.name);
            names[step.to_folder][step.to_name] = step.node;
            break;
        case Step::Kind::exchange: {
            const int other = named(step.to_folder, step.to_name);
            if (named(step.folder, step.name) != step.node || other < 0) break;
            names[step.folder][step.name] = other;
            names[step.to_folder][step.to_name] = step.node;
            break;
        }
        case Step::Kind::remove:
            if (named(step.folder, step.name) == step.node) names[step.folder].erase(step.name);
            break;
    }
}

Files Disk::files() const {
    Files files;
    const std::function<void(int, const std::string&)> add = [&](int folder, const std::string& before) {
        for (const auto& [name, node] : names.at(folder)) {
            if (!is_folder(node)) {
                files[before + name] = contents.at(node);
                continue;
            }
            files[before + name + "/"] = {};
            add(node, before + name + "/");
        }
    };
    add(root, "");
    return files;
}

Disk disk_in(const Path& folder) {
    Disk disk;
    int next = Disk::root + 1;
    const std::function<void(int, const Path&)> add = [&](int node, const Path& path) {
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            const int child = next++;
            disk.names[node][entry.path().filename().string()] = child;
            if (entry.is_directory()) {
                disk.names[child];
                add(child, entry.path());
                continue;
            }
            Bytes bytes(entry.file_size());
            std::ifstream(entry.path(), std::ios::binary)
                .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
            disk.contents[child] = std::move(bytes);
        }
    };
    add(Disk::root, folder);
    return disk;
}

Files files_in(const Path& folder) {
    return disk_in(folder).files();
}

void put_files(const Files& files, const Path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove_all(entry.path());
    for (const auto& [name, bytes] : files) {
        if (name.ends_with('/')) {
            std::filesystem::create_directory(folder / name.substr(0, name.size() - 1));
            continue;
        }
        std::ofstream(folder / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
}

Disk after_power_cut(const Disk& start, std::span<const Step> steps, std::mt19937_64& random) {
    enum class Kept { nothing, all, first_part, any };
    const auto one_of = [&] { return static_cast<Kept>(random() % 4); };
    const Kept names = one_of(), bytes = one_of();
    const std::size_t part = random() % (steps.size() + 1);
    const std::vector<bool> is_flushed = flushed(steps);
    const auto is_kept = [&](Kept kept, std::size_t i) {
        if (kept == Kept::first_part) return i < part;
        return kept == Kept::all || (kept == Kept::any && random() % 2 == 0);
    };
    Disk disk = start;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        if (is_flushed[i] || is_kept(step.is_of_names() ? names : bytes, i))
            disk.apply(step);
        else if (step.kind == Step::Kind::write && bytes == Kept::any && random() % 2 == 0)
            put_torn(disk.contents[step.node], step, random);
    }
    return disk;
}

}  // namespace echolux::faults
