// Defines libc's file calls in this program, so that all its libraries use them. Calls that concern the watched folder
// are recorded and fail on demand. Flushes are recorded but not executed, because no power is cut here. The functions
// get their names by assembly labels, to avoid conflicts with declarations and inline variants in the headers.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdarg>
#include <cstdio>

#include <vector>

#include "allocations.h"
#include "journal.h"

namespace {

using echolux::faults::Call;
using echolux::faults::Journal;
using echolux::faults::UncountedScope;

template <class F>
F* next(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// libc's own function.
#define REAL(result, name, ...) static auto* const real = next<result(__VA_ARGS__)>(#name)

// Handles one thread at a time. Calls made in here are not counted as the program's.
thread_local bool is_inside = false;

class Watch {
  public:
    Watch() : lock_(Journal::the().mutex()), was_inside_(is_inside) { is_inside = true; }
    ~Watch() { is_inside = was_inside_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    UncountedScope not_counted_;
    std::unique_lock<std::recursive_mutex> lock_;
    bool was_inside_;
};

Journal& journal() {
    return Journal::the();
}

bool is_off() {
    return is_inside || !journal().is_on();
}

// Returns the absolute path if it is watched, otherwise "".
std::string watched(int at, const char* path) {
    const std::string whole = journal().path_of(at, path);
    return journal().watches(whole) ? whole : "";
}

bool is_there(const std::string& path) {
    struct stat unused {};
    return lstat(path.c_str(), &unused) == 0;
}

int opened(int at, const char* path, int flags, mode_t mode) {
    REAL(int, openat64, int, const char*, int, ...);
    if (is_off()) return real(at, path, flags, mode);
    const Watch watch;
    const std::string whole = watched(at, path);
    if (whole.empty()) return real(at, path, flags, mode);
    const bool is_new = (flags & O_CREAT) != 0 && !is_there(whole);
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (journal().fails(writes ? Call::make : Call::open)) return -1;
    const int descriptor = real(at, path, flags, mode);
    if (descriptor >= 0) journal().opened(descriptor, whole, is_new, writes && (flags & O_TRUNC) != 0);
    return descriptor;
}

ssize_t wrote(int descriptor, const void* bytes, std::size_t count, std::int64_t place) {
    REAL(ssize_t, pwrite64, int, const void*, size_t, off64_t);
    static auto* const real_write = next<ssize_t(int, const void*, size_t)>("write");
    const bool goes_on = place < 0;
    if (is_off()) return goes_on ? real_write(descriptor, bytes, count) : real(descriptor, bytes, count, place);
    const Watch watch;
    if (!journal().is_open(descriptor))
        return goes_on ? real_write(descriptor, bytes, count) : real(descriptor, bytes, count, place);
    if (journal().fails(Call::write, &count)) return -1;
    if (goes_on) {
        const bool appends = (fcntl(descriptor, F_GETFL) & O_APPEND) != 0;
        place = lseek64(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
    }
    const ssize_t done = goes_on ? real_write(descriptor, bytes, count) : real(descriptor, bytes, count, place);
    if (done > 0) journal().wrote(descriptor, place, bytes, static_cast<std::size_t>(done));
    return done;
}

ssize_t read_from(int descriptor, void* bytes, std::size_t count, std::int64_t place) {
    REAL(ssize_t, pread64, int, void*, size_t, off64_t);
    static auto* const real_read = next<ssize_t(int, void*, size_t)>("read");
    const auto work = [&] {
        return place < 0 ? real_read(descriptor, bytes, count) : real(descriptor, bytes, count, place);
    };
    if (is_off()) return work();
    const Watch watch;
    if (journal().is_open(descriptor) && journal().fails(Call::read, &count)) return -1;
    return work();
}

int flushed(int descriptor, int (*real)(int)) {
    if (is_off()) return real(descriptor);
    const Watch watch;
    if (!journal().is_open(descriptor)) return real(descriptor);
    const bool fails = journal().fails(Call::flush);
    const int number = errno;
    journal().flushed(descriptor, fails && number != EINTR);
    errno = number;
    return fails ? -1 : 0;
}

int renamed(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
    REAL(int, renameat2, int, const char*, int, const char*, unsigned);
    if (is_off()) return real(from_at, from, to_at, to, flags);
    const Watch watch;
    const std::string whole_from = watched(from_at, from), whole_to = watched(to_at, to);
    if (whole_from.empty() || whole_to.empty()) return real(from_at, from, to_at, to, flags);
    if (journal().fails(Call::rename)) return -1;
    const int result = real(from_at, from, to_at, to, flags);
    if (result == 0) journal().renamed(whole_from, whole_to, (flags & RENAME_EXCHANGE) != 0);
    return result;
}

int made_folder(int at, const char* path, mode_t mode) {
    REAL(int, mkdirat, int, const char*, mode_t);
    if (is_off()) return real(at, path, mode);
    const Watch watch;
    const std::string whole = watched(at, path);
    if (whole.empty()) return real(at, path, mode);
    if (journal().fails(Call::make_folder)) return -1;
    const int result = real(at, path, mode);
    if (result == 0) journal().made_folder(whole);
    return result;
}

// `flags` are those of unlinkat; a negative value removes files and folders.
int removed(int at, const char* path, int flags) {
    REAL(int, unlinkat, int, const char*, int);
    const auto work = [&] {
        if (flags >= 0) return real(at, path, flags);
        const int result = real(at, path, 0);
        return result == 0 || errno != EISDIR ? result : real(at, path, AT_REMOVEDIR);
    };
    if (is_off()) return work();
    const Watch watch;
    const std::string whole = watched(at, path);
    if (whole.empty()) return work();
    if (journal().fails(Call::remove)) return -1;
    const int result = work();
    if (result == 0) journal().removed(whole);
    return result;
}

int resized(int descriptor, std::int64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    if (is_off()) return real(descriptor, size);
    const Watch watch;
    if (!journal().is_open(descriptor)) return real(descriptor, size);
    if (journal().fails(Call::resize)) return -1;
    const int result = real(descriptor, size);
    if (result == 0) journal().resized(descriptor, size);
    return result;
}

int allocated(int descriptor, int mode, std::int64_t place, std::int64_t bytes) {
    REAL(int, fallocate64, int, int, off64_t, off64_t);
    if (is_off()) return real(descriptor, mode, place, bytes);
    const Watch watch;
    if (!journal().is_open(descriptor)) return real(descriptor, mode, place, bytes);
    if (journal().fails(Call::allocate)) return -1;
    return 0;  // needs no space here
}

// As in libc, the descriptor is closed even if this fails.
bool fails_to_close(int descriptor) {
    if (is_off()) return false;
    const Watch watch;
    if (!journal().is_open(descriptor)) return false;
    const bool writes = (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const bool fails = writes && journal().fails(Call::close);
    journal().closed(descriptor);
    return fails;
}

int descriptor_of(void* cookie) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
}

// libc's streams write by internal calls that cannot be replaced. These streams use the functions defined here.
std::FILE* stream_of(const char* path, const char* mode) {
    const std::string_view letters(mode);
    const bool both = letters.find('+') != std::string_view::npos;
    int flags = letters.starts_with('r') ? (both ? O_RDWR : O_RDONLY) : O_CREAT | (both ? O_RDWR : O_WRONLY);
    if (letters.starts_with('w')) flags |= O_TRUNC;
    if (letters.starts_with('a')) flags |= O_APPEND;
    const int descriptor = opened(AT_FDCWD, path, flags | O_CLOEXEC, 0666);
    if (descriptor < 0) return nullptr;
    static const cookie_io_functions_t functions{
        [](void* cookie, char* bytes, size_t count) { return read_from(descriptor_of(cookie), bytes, count, -1); },
        [](void* cookie, const char* bytes, size_t count) -> ssize_t {
            const ssize_t done = wrote(descriptor_of(cookie), bytes, count, -1);
            return done < 0 ? 0 : done;
        },
        [](void* cookie, off64_t* place, int from) {
            const off64_t now = lseek64(descriptor_of(cookie), *place, from);
            if (now < 0) return -1;
            *place = now;
            return 0;
        },
        [](void* cookie) { return close(descriptor_of(cookie)); }};
    return fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), mode, functions);
}

mode_t mode_in(int flags, va_list list) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(list, unsigned)) : 0;
}

}  // namespace

#define CALL(result, name, ...)                                                                         \
    extern "C" __attribute__((visibility("default"))) result faults_##name(__VA_ARGS__) __asm__(#name); \
    extern "C" __attribute__((visibility("default"))) result faults_##name(__VA_ARGS__)

#define OPENS(name, at, ...)                      \
    CALL(int, name, __VA_ARGS__, ...) {           \
        va_list list;                             \
        va_start(list, flags);                    \
        const mode_t mode = mode_in(flags, list); \
        va_end(list);                             \
        return opened(at, path, flags, mode);     \
    }

OPENS(open, AT_FDCWD, const char* path, int flags)
OPENS(open64, AT_FDCWD, const char* path, int flags)
OPENS(openat, at, int at, const char* path, int flags)
OPENS(openat64, at, int at, const char* path, int flags)
CALL(int, __open_2, const char* path, int flags) {
    return opened(AT_FDCWD, path, flags, 0);
}
CALL(int, __open64_2, const char* path, int flags) {
    return opened(AT_FDCWD, path, flags, 0);
}
CALL(int, creat, const char* path, mode_t mode) {
    return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
CALL(int, creat64, const char* path, mode_t mode) {
    return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

CALL(ssize_t, write, int file, const void* bytes, size_t count) {
    return wrote(file, bytes, count, -1);
}
CALL(ssize_t, pwrite, int file, const void* bytes, size_t count, off64_t place) {
    return wrote(file, bytes, count, place);
}
CALL(ssize_t, pwrite64, int file, const void* bytes, size_t count, off64_t place) {
    return wrote(file, bytes, count, place);
}
CALL(ssize_t, writev, int file, const iovec* parts, int count) {
    const UncountedScope not_counted;
    std::vector<char> all;
    for (int i = 0; i < count; ++i) {
        const auto* bytes = static_cast<const char*>(parts[i].iov_base);
        all.insert(all.end(), bytes, bytes + parts[i].iov_len);
    }
    return wrote(file, all.data(), all.size(), -1);
}
CALL(ssize_t, read, int file, void* bytes, size_t count) {
    return read_from(file, bytes, count, -1);
}
CALL(ssize_t, __read_chk, int file, void* bytes, size_t count, size_t) {
    return read_from(file, bytes, count, -1);
}
CALL(ssize_t, pread, int file, void* bytes, size_t count, off64_t place) {
    return read_from(file, bytes, count, place);
}
CALL(ssize_t, pread64, int file, void* bytes, size_t count, off64_t place) {
    return read_from(file, bytes, count, place);
}

CALL(int, fsync, int file) {
    return flushed(file, next<int(int)>("fsync"));
}
CALL(int, fdatasync, int file) {
    return flushed(file, next<int(int)>("fdatasync"));
}
CALL(int, ftruncate, int file, off64_t size) {
    return resized(file, size);
}
CALL(int, ftruncate64, int file, off64_t size) {
    return resized(file, size);
}
CALL(int, fallocate, int file, int mode, off64_t place, off64_t bytes) {
    return allocated(file, mode, place, bytes);
}
CALL(int, fallocate64, int file, int mode, off64_t place, off64_t bytes) {
    return allocated(file, mode, place, bytes);
}

CALL(int, rename, const char* from, const char* to) {
    return renamed(AT_FDCWD, from, AT_FDCWD, to, 0);
}
CALL(int, renameat, int a, const char* from, int b, const char* to) {
    return renamed(a, from, b, to, 0);
}
CALL(int, renameat2, int a, const char* from, int b, const char* to, unsigned flags) {
    return renamed(a, from, b, to, flags);
}
CALL(int, mkdir, const char* path, mode_t mode) {
    return made_folder(AT_FDCWD, path, mode);
}
CALL(int, mkdirat, int at, const char* path, mode_t mode) {
    return made_folder(at, path, mode);
}
CALL(int, unlink, const char* path) {
    return removed(AT_FDCWD, path, 0);
}
CALL(int, unlinkat, int at, const char* path, int flags) {
    return removed(at, path, flags);
}
CALL(int, rmdir, const char* path) {
    return removed(AT_FDCWD, path, AT_REMOVEDIR);
}
CALL(int, remove, const char* path) {
    return removed(AT_FDCWD, path, -1);
}

CALL(int, close, int file) {
    const bool fails = fails_to_close(file);
    const int number = errno;
    const int result = next<int(int)>("close")(file);
    if (!fails) return result;
    errno = number;
    return -1;
}

// std::fstream opens files by this call and then writes to the descriptor.
CALL(std::FILE*, fopen64, const char* path, const char* mode) {
    REAL(std::FILE*, fopen64, const char*, const char*);
    if (is_off()) return real(path, mode);
    const Watch watch;
    const std::string whole = watched(AT_FDCWD, path);
    if (whole.empty()) return real(path, mode);
    const bool writes = mode[0] != 'r';
    const bool is_new = writes && !is_there(whole);
    if (journal().fails(writes ? Call::make : Call::open)) return nullptr;
    std::FILE* const file = real(path, mode);
    if (file != nullptr) journal().opened(fileno(file), whole, is_new, mode[0] == 'w');
    return file;
}
CALL(std::FILE*, fopen, const char* path, const char* mode) {
    REAL(std::FILE*, fopen, const char*, const char*);
    if (is_off()) return real(path, mode);
    {
        const Watch watch;
        if (watched(AT_FDCWD, path).empty()) return real(path, mode);
    }
    return stream_of(path, mode);
}
CALL(int, closedir, DIR* folder) {
    fails_to_close(dirfd(folder));
    return next<int(DIR*)>("closedir")(folder);
}
CALL(int, fclose, std::FILE* file) {
    const int descriptor = fileno(file);
    const bool fails = descriptor >= 0 && fails_to_close(descriptor);
    const int number = errno;
    const int result = next<int(std::FILE*)>("fclose")(file);
    if (!fails) return result;
    errno = number;
    return EOF;
}
