#include "journal.h"

#include "allocations.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace echolux::faults {

bool can_meet(Call call, Trouble trouble, bool for_good) {
    switch (trouble) {
        case Trouble::input_output: return true;
        case Trouble::full: return call != Call::open && call != Call::read && call != Call::remove;
        // A caller that retries would do so forever.
        case Trouble::interrupted:
            return !for_good && call != Call::rename && call != Call::make_folder && call != Call::remove;
        case Trouble::half: return call == Call::read || call == Call::write;
    }
    return false;
}

Journal& Journal::the() {
    static Journal journal;
    return journal;
}

void Journal::begin(const Path& folder, const Fault& fault) {
    const std::scoped_lock lock(mutex_);
    record_ = {};
    record_.start = disk_in(folder);
    now_ = {};
    now_.names = record_.start.names;
    next_node_ = 1 + static_cast<int>(record_.start.names.size() + record_.start.contents.size());
    folder_ = folder.string() + "/";
    fault_ = fault;
    open_.clear();
    is_on_ = true;
}

Record Journal::end() {
    const std::scoped_lock lock(mutex_);
    is_on_ = false;
    return std::move(record_);
}

void Journal::say(std::int64_t much) {
    const UncountedScope not_counted;
    const std::scoped_lock lock(mutex_);
    record_.said.emplace_back(record_.steps.size(), much);
}

bool Journal::watches(const std::string& path) const {
    return is_on_ && (path + "/").starts_with(folder_);
}

std::string Journal::path_of(int at, const char* path) const {
    constexpr int current_folder = -100;  // AT_FDCWD
    if (path[0] == '/') return Path(path).lexically_normal().string();
    std::error_code problem;
    const std::string where = at == current_folder ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(at);
    return (std::filesystem::read_symlink(where, problem) / path).lexically_normal().string();
}

bool Journal::fails(Call call, std::size_t* bytes) {
    const auto number = std::ssize(record_.calls);
    record_.calls.push_back(call);
    const bool is_due = fault_.at >= 0 && (fault_.for_good ? number >= fault_.at : number == fault_.at);
    if (!is_due || !can_meet(call, fault_.trouble, fault_.for_good)) return false;
    switch (fault_.trouble) {
        case Trouble::input_output: errno = EIO; break;
        case Trouble::full: errno = ENOSPC; break;
        case Trouble::interrupted: errno = EINTR; break;
        case Trouble::half:
            if (bytes != nullptr && *bytes > 1) *bytes /= 2;
            return false;
    }
    return true;
}

Journal::Name Journal::name_of(const std::string& path) const {
    std::string rest = path.size() < folder_.size() ? "" : path.substr(folder_.size());
    while (rest.ends_with('/')) rest.pop_back();
    Name found{Disk::root, rest};
    for (std::size_t slash = found.name.find('/'); slash != std::string::npos; slash = found.name.find('/')) {
        found.folder = node_at({found.folder, found.name.substr(0, slash)});
        found.name.erase(0, slash + 1);
    }
    return found;
}

int Journal::node_at(const Name& name) const {
    if (name.name.empty()) return Disk::root;
    const auto folder = now_.names.find(name.folder);
    if (folder == now_.names.end()) return -1;
    const auto found = folder->second.find(name.name);
    return found == folder->second.end() ? -1 : found->second;
}

void Journal::note(Step step) {
    if (step.is_of_names()) now_.apply(step);
    record_.steps.push_back(std::move(step));
}

void Journal::opened(int descriptor, const std::string& path, bool is_new, bool is_emptied) {
    const Name name = name_of(path);
    if (is_new) note({.kind = Step::Kind::make, .node = next_node_++, .folder = name.folder, .name = name.name});
    const int node = node_at(name);
    open_[descriptor] = node;
    if (!is_new && is_emptied) note({.kind = Step::Kind::resize, .node = node});
}

void Journal::wrote(int descriptor, std::int64_t place, const void* bytes, std::size_t count) {
    Step step{.kind = Step::Kind::write, .node = open_.at(descriptor), .place = place};
    const auto* begin = static_cast<const std::byte*>(bytes);
    step.bytes.assign(begin, begin + count);
    note(std::move(step));
}

void Journal::resized(int descriptor, std::int64_t size) {
    note({.kind = Step::Kind::resize, .node = open_.at(descriptor), .place = size});
}

void Journal::flushed(int descriptor, bool has_failed) {
    note({.kind = has_failed ? Step::Kind::failed_flush : Step::Kind::flush, .node = open_.at(descriptor)});
}

void Journal::renamed(const std::string& from, const std::string& to, bool exchanged) {
    const Name a = name_of(from), b = name_of(to);
    note({.kind = exchanged ? Step::Kind::exchange : Step::Kind::rename,
          .node = node_at(a),
          .folder = a.folder,
          .name = a.name,
          .to_folder = b.folder,
          .to_name = b.name});
}

void Journal::made_folder(const std::string& path) {
    const Name name = name_of(path);
    note({.kind = Step::Kind::make_folder, .node = next_node_++, .folder = name.folder, .name = name.name});
}

void Journal::removed(const std::string& path) {
    const Name name = name_of(path);
    note({.kind = Step::Kind::remove, .node = node_at(name), .folder = name.folder, .name = name.name});
}

}  // namespace echolux::faults
