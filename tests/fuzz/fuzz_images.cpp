// Volume formats, each opened through the table of formats as the program does.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "compute/error.h"
#include "engine/io/contained/reader_process.h"
#include "engine/io/formats.h"
#include "engine/io/image_format.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

template <std::size_t N>
struct Name {  // file name as a template argument
    constexpr Name(const char (&text)[N]) { std::copy_n(text, N, name); }
    char name[N];
};

template <Name File>
void read_file(Bytes bytes) {
    read_image_file(File.name, bytes);
}

void read_zarr(Bytes bytes) {
    const std::filesystem::path folder = folder_with("x.zarr", bytes);
    read_all(*image_format_of(folder)->open(folder));
}

// True if the work ends in a copy of this process, with or without an Error. Crashes of the HDF5 library are not
// findings, because the program reads HDF5 in a process that may crash.
bool survives(const std::function<void()>& work) {
    const pid_t copy = fork();
    if (copy == 0) {
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(fault, SIG_DFL);
        constexpr unsigned longest_s = 5;
        alarm(longest_s);
        try {
            work();
        } catch (const Error&) {
        }
        _exit(0);
    }
    int status = 1;
    return copy > 0 && waitpid(copy, &status, 0) == copy && status == 0;
}

// Reads without the reader process, which takes longer to start than most files take to read.
void read_hdf5_file(Bytes bytes) {
    const std::filesystem::path path = file_with("x.h5", bytes);
    const auto read = [&] {
        const Descriptor file = open_regular(path);
        read_all(*read_hdf5(file.number(), path, ""));
    };
    if (survives(read)) read();
}

// Reads a picture in a separate folder.
void read_png(Bytes bytes) {
    const std::filesystem::path folder = file_with("x", {}).parent_path() / "pictures";
    std::filesystem::create_directory(folder);
    file_with("pictures/1.png", bytes);
    read_all(*open_picture_stack(folder));
}

// The volume, the lines and the picture of the fundus.
void read_heidelberg(Bytes bytes) {
    const std::string path = file_with("x.vol", bytes).string();
    for (const char* part : {"", ":surfaces", ":fundus"}) {
        try {
            read_all(*open_heidelberg_vol(path + part));
        } catch (const Error&) {
        }
    }
}

const Registration registrations[] = {
    {"nifti", read_file<"x.nii">},
    {"nifti_gz", read_file<"x.nii.gz">},
    {"nrrd", read_file<"x.nrrd">},
    {"meta", read_file<"x.mha">},
    {"tiff", read_file<"x.tif">},
    {"npy", read_file<"x.npy">},
    {"hdf5", read_hdf5_file},
    {"zarr", read_zarr},
    {"png", read_png},
    {"dicom", read_file<"x.dcm">},
    {"thorlabs", read_file<"x.oct">},
    {"heidelberg", read_heidelberg},
    {"matlab", read_file<"x.mat">},
};

}  // namespace
}  // namespace echolux::fuzz
