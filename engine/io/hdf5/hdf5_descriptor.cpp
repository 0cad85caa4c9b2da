// A read-only driver for the library's virtual file layer.
#include "engine/io/hdf5/hdf5_descriptor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace echolux::hdf5 {
namespace {

int next_descriptor = -1;  // passed from access_to() to open_next()

// The library casts between H5FD_t and the driver's struct.
struct OpenFile {
    H5FD_t common{};  // must be the first member
    int descriptor = -1;
    haddr_t size = 0;  // of the file
    haddr_t end = 0;   // end of the space that the library regards as allocated
};

OpenFile& ours(H5FD_t* file) {
    return *reinterpret_cast<OpenFile*>(file);
}

const OpenFile& ours(const H5FD_t* file) {
    return *reinterpret_cast<const OpenFile*>(file);
}

H5FD_t* open_next(const char*, unsigned flags, hid_t, haddr_t) {
    const int descriptor = std::exchange(next_descriptor, -1);
    struct stat status {};
    if (descriptor < 0 || (flags & H5F_ACC_RDWR) != 0 || fstat(descriptor, &status) != 0) return nullptr;
    auto* file = new (std::nothrow) OpenFile;
    if (file == nullptr) return nullptr;
    file->descriptor = descriptor;
    file->size = static_cast<haddr_t>(status.st_size);
    return &file->common;
}

herr_t read_at(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t place, std::size_t bytes, void* out) {
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
        const ssize_t got = pread(ours(file).descriptor, to, bytes, static_cast<off_t>(place));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) {  // drivers return zeros beyond the end
            std::memset(to, 0, bytes);
            return 0;
        }
        to += got;
        place += static_cast<haddr_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return 0;
}

const H5FD_class_t& driver() {
    static const H5FD_class_t made = [] {
        H5FD_class_t one{};
#if H5_VERSION_GE(1, 13, 0)
        one.version = H5FD_CLASS_VERSION;
        one.value = static_cast<H5FD_class_value_t>(601);  // beyond the library's own values
#endif
        one.name = "echolux descriptor";
        one.maxaddr = (haddr_t{1} << 62) - 1;
        one.fc_degree = H5F_CLOSE_WEAK;
        one.open = open_next;
        one.close = [](H5FD_t* file) -> herr_t {
            delete &ours(file);
            return 0;
        };
        one.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
            if (flags != nullptr) *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
            return 0;
        };
        one.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return ours(file).end; };
        one.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
            ours(file).end = end;
            return 0;
        };
        one.get_eof = [](const H5FD_t* file, H5FD_mem_t) { return ours(file).size; };
        one.read = read_at;
        one.write = [](H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) -> herr_t { return -1; };
        const H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
        for (std::size_t i = 0; i < std::size(kinds); ++i) one.fl_map[i] = kinds[i];
        return one;
    }();
    return made;
}

}  // namespace

Handle access_to(int descriptor) {
    static const hid_t known = H5FDregister(&driver());
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_driver(access, known, nullptr);
    next_descriptor = descriptor;
    return access;
}

}  // namespace echolux::hdf5
