#include "engine/io/movie/ffmpeg/ffmpeg_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "compute/error.h"

namespace echolux {
namespace {

[[noreturn]] void fail(const std::string& problem) {
    throw Error(ErrorCode::device, problem, "movies",
                fmt::format("install FFmpeg {} (Debian and Ubuntu: libavcodec{} and libavformat{}), set ECHOLUX_FFMPEG "
                            "to the folder of its libraries, or write a series of pictures: frame_%04d.png",
                            LIBAVFORMAT_VERSION_MAJOR - 54, LIBAVCODEC_VERSION_MAJOR, LIBAVFORMAT_VERSION_MAJOR));
}

// Never closed: encoders have threads and devices that may outlive their owners.
void* opened(const char* name, int major) {
    const std::string file = fmt::format("lib{}.so.{}", name, major);
    const char* folder = std::getenv("ECHOLUX_FFMPEG");
    const std::string path = folder != nullptr && *folder != '\0' ? fmt::format("{}/{}", folder, file) : file;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) fail(fmt::format("{} was not found on this machine", path));
    return library;
}

Ffmpeg loaded() {
    // Each library depends on those above it.
    void* avutil = opened("avutil", LIBAVUTIL_VERSION_MAJOR);
    void* avcodec = opened("avcodec", LIBAVCODEC_VERSION_MAJOR);
    void* avformat = opened("avformat", LIBAVFORMAT_VERSION_MAJOR);
    Ffmpeg table{};
    const auto find = [](void* library, auto& function, const char* name) {
        void* found = dlsym(library, name);
        if (found == nullptr) fail(fmt::format("the FFmpeg of this machine has no function {}", name));
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
#define ECHOLUX_FIND(library, function) find(library, table.function, #function);
    ECHOLUX_FFMPEG_FUNCTIONS(ECHOLUX_FIND)
#undef ECHOLUX_FIND
    table.av_log_set_level(AV_LOG_QUIET);  // errors are reported as exceptions
    return table;
}

}  // namespace

const Ffmpeg& ffmpeg() {
    static const Ffmpeg table = loaded();  // retried after an exception
    return table;
}

}  // namespace echolux
