// Selection of the device, and messages if there is none: with given facts, and on this machine with parts removed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "render/vk/device.h"
#include "render/vk/driver_files.h"
#include "rendering.h"

namespace echolux::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const DeviceFacts old_card{"Old Card", DeviceType::discrete, 1, 1, {}, {1}};
const DeviceFacts poor_card{"Poor Card", DeviceType::discrete, 1, 3, {"timeline semaphores", "a compute queue"}, {2}};
const DeviceFacts processor{"llvmpipe", DeviceType::cpu, 1, 3, {}, {3}};
const DeviceFacts chip{"Small Graphics", DeviceType::integrated, 1, 3, {}, {4}};
const DeviceFacts cloud{"Cloud Slice", DeviceType::virtual_gpu, 1, 3, {}, {5}};
const DeviceFacts card{"NVIDIA H200", DeviceType::discrete, 1, 4, {}, {6}};

std::string refusal(const std::vector<DeviceFacts>& devices, const std::string& name) {
    const Error error = refusal_of([&] { chosen_device(devices, name); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    return error.line();
}

TEST(GpuDevice, TakesBestSuitableType) {
    const std::vector all{processor, old_card, cloud, chip, card, poor_card};
    EXPECT_EQ(chosen_device(all, ""), 4u);
    const std::vector without_card{processor, old_card, cloud, chip};
    EXPECT_EQ(chosen_device(without_card, ""), 3u);
    const std::vector servers{processor, cloud};
    EXPECT_EQ(chosen_device(servers, ""), 1u);
    const std::vector twins{old_card, processor, processor};
    EXPECT_EQ(chosen_device(twins, ""), 1u);
}

TEST(GpuDevice, NameMatchesPartInAnyCase) {
    const std::vector all{card, processor};
    EXPECT_EQ(chosen_device(all, "LLVM"), 1u);
    EXPECT_EQ(chosen_device(all, "h200"), 0u);
}

TEST(GpuDevice, PrefersGpuThatReconstructs) {
    const std::vector all{card, processor, cloud, old_card};
    EXPECT_EQ(chosen_device(all, "", cloud.id), 2u);
    EXPECT_EQ(chosen_device(all, "", old_card.id), 0u);       // this device is refused
    EXPECT_EQ(chosen_device(all, "", DeviceId{9}), 0u);       // this device does not exist
    EXPECT_EQ(chosen_device(all, "llvmpipe", cloud.id), 1u);  // a name takes precedence
    const std::vector nameless{processor, card};
    EXPECT_EQ(chosen_device(nameless, "", DeviceId{}), 1u);
}

TEST(GpuDevice, EachRefusalHasReason) {
    EXPECT_THAT(refusal({old_card, poor_card}, ""),
                AllOf(HasSubstr("\"Old Card\" has Vulkan 1.1, 1.3 is needed"),
                      HasSubstr("\"Poor Card\" lacks timeline semaphores, a compute queue")));
    EXPECT_THAT(refusal({card, old_card}, "Radeon"),
                AllOf(HasSubstr("called \"Radeon\""), HasSubstr("\"NVIDIA H200\" has a different name"),
                      HasSubstr("\"Old Card\" has Vulkan 1.1")));
    EXPECT_THAT(refusal({}, ""), AllOf(HasSubstr("no Vulkan device"), HasSubstr("mesa-vulkan-drivers")));
}

TEST(Devices, UnknownNameListsAvailableOnes) {
    const Error error =
        refusal_of([] { const Renderer renderer({.name = "no such device", .validation = false, .on_message = {}}); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), AllOf(HasSubstr("no such device"), HasSubstr("has a different name")));
}

class Variable {
  public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* old = std::getenv(name_.c_str())) old_ = old;
        setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Variable() { old_ ? setenv(name_.c_str(), old_->c_str(), 1) : unsetenv(name_.c_str()); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    std::string name_;
    std::optional<std::string> old_;
};

TEST(Devices, MissingDriverIsClearError) {
    const Variable icd("VK_ICD_FILENAMES", "/nowhere/driver.json");
    const Variable drivers("VK_DRIVER_FILES", "/nowhere/driver.json");
    const Error error = refusal_of([] { const Renderer renderer; });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), AllOf(HasSubstr("no Vulkan d"), HasSubstr("/nowhere/driver.json does not exist"),
                                    HasSubstr("correct VK_DRIVER_FILES"), HasSubstr("mesa-vulkan-drivers")));
}

// ---- Drivers that the loader skips silently.

class DriverFiles : public testing::Test {
  protected:
    DriverFiles() { std::filesystem::create_directories(icds_); }
    ~DriverFiles() override { std::filesystem::remove_all(folder_); }

    // Writes a manifest and returns its path.
    std::string manifest(const std::string& name, const std::string& library) {
        const auto file = icds_ / name;
        std::ofstream(file) << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" << library
                            << R"(", "api_version": "1.3.0"}})";
        return file.string();
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("echolux-drivers-" + std::to_string(getpid()));
    const std::filesystem::path icds_ = folder_ / "vulkan/icd.d";
};

TEST_F(DriverFiles, NamesLibraryThatDriverLacks) {
    const std::string file = manifest("lacking.json", ECHOLUX_LACKING_DRIVER);
    const Variable icd("VK_ICD_FILENAMES", file);
    const Variable drivers("VK_DRIVER_FILES", file);
    const Error error = refusal_of([] { const Renderer renderer; });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), AllOf(HasSubstr(file + " needs libecholux_absent.so, which is missing"),
                                    HasSubstr("install the package with libecholux_absent.so")));
}

TEST_F(DriverFiles, FindsManifestsInFoldersOfLoader) {
    const Variable icd("VK_ICD_FILENAMES", "");
    const Variable drivers("VK_DRIVER_FILES", "");
    const Variable home("XDG_DATA_HOME", folder_.string());
    const std::string lost = manifest("lost.json", "./libecholux_nowhere.so");
    std::ofstream(icds_ / "torn.json") << R"({"ICD": )";
    manifest("usable.json", "libm.so.6");
    std::vector<gpu::UnusableDriver> own;
    for (const gpu::UnusableDriver& driver : gpu::unusable_drivers()) {
        if (driver.manifest.starts_with(folder_.string())) own.push_back(driver);
    }
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].manifest, lost);
    EXPECT_EQ(own[1].library, "");
    EXPECT_THAT(gpu::no_driver("no driver", own).line(),
                AllOf(HasSubstr("./libecholux_nowhere.so of " + lost + " is missing"),
                      HasSubstr("torn.json is not a driver manifest")));
}

TEST_F(DriverFiles, LimitsList) {
    const std::vector<gpu::UnusableDriver> many(5, {"a.json", "liba.so", "libb.so: wrong ELF class: ELFCLASS32"});
    EXPECT_THAT(gpu::no_driver("no driver", many).line(),
                AllOf(HasSubstr("cannot be opened: libb.so: wrong ELF class"), HasSubstr("; 2 more"),
                      HasSubstr("reinstall the graphics driver")));
}

// A process that finds other files under the loader's names.
TEST(Devices, MissingLoaderIsClearError) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto folder = std::filesystem::temp_directory_path() / ("echolux-no-loader-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    for (const char* name : {"libvulkan.so", "libvulkan.so.1"}) std::ofstream(folder / name) << "not a library";
    const Variable path("LD_LIBRARY_PATH", folder.string());
    const auto start = [] {
        try {
            Renderer renderer;
        } catch (const Error& error) {
            std::fputs(error.what(), stderr);
            std::exit(error.code() == ErrorCode::device ? 3 : 4);
        }
        std::exit(0);
    };
    EXPECT_EXIT(start(), testing::ExitedWithCode(3), "loader cannot be opened");
    std::filesystem::remove_all(folder);
}

// Otherwise a silent validation layer would prove nothing.
TEST(Devices, ValidationLayerReportsMistakes) {
    std::vector<std::string> messages;
    {
        const gpu::Device device(
            {.name = "", .validation = true, .on_message = [&](const std::string& text) { messages.push_back(text); }});
        EXPECT_TRUE(messages.empty());
        const vk::raii::Buffer buffer(device.logical(), vk::BufferCreateInfo{.size = 0});
    }
    EXPECT_FALSE(messages.empty());
}

}  // namespace
}  // namespace echolux::test
