// Operations through the library: names and values are checked, and results are returned by name. Files, refusals and
// cancellation are compared with other interfaces in tests/operations.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t depth = 64, a_scans = 32, b_scans = 8;

lux::Volume volume_from(const std::vector<float>& voxels) {
    auto grid = lux::make<echolux_grid>();
    grid.depth = depth;
    grid.a_scans = a_scans;
    grid.b_scans = b_scans;
    grid.voxel = ECHOLUX_F32;
    grid.spacing_um[0] = 2;
    grid.spacing_um[1] = grid.spacing_um[2] = 5;
    std::strcpy(grid.quantity, "intensity");
    return lux::Volume::create(grid, {reinterpret_cast<const std::byte*>(voxels.data()), 4 * voxels.size()});
}

// Speckle of a bright layer, rows 20 to 39, between dark ones.
std::vector<float> layered(unsigned seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> voxels(index(depth * a_scans * b_scans));
    for (std::size_t i = 0; i < voxels.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) % depth;
        voxels[i] = speckle(random) * (row >= 20 && row < 40 ? 1.0f : 0.01f);
    }
    return voxels;
}

std::vector<float> shifted_in_depth(const std::vector<float>& voxels, std::int64_t rows) {
    std::vector<float> moved(voxels.size());
    for (std::size_t line = 0; line < voxels.size() / depth; ++line) {
        for (std::int64_t z = 0; z < depth; ++z)
            moved[line * depth + index(z)] = voxels[line * depth + index((z + depth - rows) % depth)];
    }
    return moved;
}

// Expects an error with status, location and problem, whose text contains `says`.
template <class Work>
void expect_refused(const Work& work, echolux_status status, const std::string& says) {
    try {
        work();
        ADD_FAILURE() << "expected: " << says;
    } catch (const lux::Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
        EXPECT_FALSE(error.problem().empty() || error.where().empty()) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

template <class Work>
void expect_remedy(const Work& work, echolux_status status, const std::string& says = "") {
    expect_refused(
        [&] {
            try {
                work();
            } catch (const lux::Error& error) {
                EXPECT_FALSE(error.remedy().empty()) << error.what();
                throw;
            }
        },
        status, says);
}

Json descriptions() {
    return Json::parse(lux::operations_json());
}

// Operations that layered volumes are enough for, with their settings.
struct Example {
    std::string name;
    lux::Assignments settings{};
    int volumes = 1;
};
const std::vector<Example> examples = {
    {"attenuation", {"noise_floor_db=-20"}},
    {"filter", {"method=median"}},
    {"register", {}, 2},
    {"segment", {"preset=layers", "layers.names=top bottom", "layers.polarity=[1, -1]"}}};

lux::Volume volume_number(int number) {
    return volume_from(shifted_in_depth(layered(4), 3 * number));
}

lux::Operation in_memory(const Example& example) {
    lux::Operation operation(example.name, example.settings);
    for (int i = 0; i < example.volumes; ++i) operation.add_input("input", volume_number(i));
    operation.keep("output");
    return operation;
}

TEST(LibraryOperations, SuggestNearestNames) {
    for (const Json& one : descriptions()) {
        const std::string name = one["name"];
        SCOPED_TRACE(name);
        expect_remedy([&] { lux::Operation(name + "q"); }, ECHOLUX_BAD_SETTING, "did you mean");
        lux::Operation operation(name);
        for (const Json& argument : one["arguments"]) {
            if (argument["scan"].get<bool>()) continue;  // checked when the scan is opened
            const std::string key = argument["key"];
            expect_remedy([&] { operation.set(key + "q", "1"); }, ECHOLUX_BAD_SETTING, "did you mean");
        }
        const auto volume = volume_number(0);
        for (const Json& input : one["inputs"]) {
            const std::string wrong = input["name"].get<std::string>() + "q";
            expect_remedy([&] { operation.add_input(wrong, volume); }, ECHOLUX_BAD_SETTING, "did you mean");
        }
        for (const Json& output : one["outputs"]) {
            const std::string wrong = output["name"].get<std::string>() + "q";
            expect_remedy([&] { operation.keep(wrong); }, ECHOLUX_BAD_SETTING, "did you mean");
        }
    }
}

TEST(LibraryOperations, RefuseInvalidArguments) {
    for (const Json& one : descriptions()) {
        lux::Operation operation(one["name"]);
        for (const Json& argument : one["arguments"]) {
            if (argument["scan"].get<bool>()) continue;
            const std::string key = argument["key"];
            if (argument["type"] != "text" || argument.contains("choices"))
                expect_refused([&] { operation.set(key, "nonsense"); }, ECHOLUX_BAD_SETTING, key);
            if (argument["type"] != "integer" && argument["type"] != "number") continue;
            expect_refused([&] { operation.set(key, "1e300"); }, ECHOLUX_BAD_SETTING, key);
        }
    }
}

// `all`: the JSON object with all results but arrays.
void expect_number(double value, const std::string& name, const Json& all) {
    const Json::json_pointer place("/" + std::regex_replace(name, std::regex("[.]"), "/"));
    if (all.contains(place) && !all[place].is_null())
        EXPECT_EQ(value, all[place].is_boolean() ? (all[place].get<bool>() ? 1 : 0) : all[place].get<double>());
    else
        EXPECT_FALSE(std::isfinite(value));
}

void expect_array(const lux::Operation& operation, const std::string& name) {
    const echolux_array array = operation.array(name);
    std::int64_t count = 1;
    for (int i = 0; i < array.dims; ++i) count *= array.shape[i];
    EXPECT_EQ(array.count, count);
    EXPECT_NE(array.data, nullptr);
    EXPECT_EQ(array.words != nullptr, name.ends_with(".reason"));
    if (array.words != nullptr) {
        EXPECT_STREQ(array.words[0], "ok");
    }
    expect_remedy([&] { operation.number(name); }, ECHOLUX_BAD_ARGUMENT, "get_array");
    expect_remedy([&] { operation.text(name); }, ECHOLUX_BAD_ARGUMENT, "get_array");
}

TEST(LibraryOperations, ReturnResultsByName) {
    const Json table = descriptions();
    for (const Example& example : examples) {
        SCOPED_TRACE(example.name);
        const auto named = [&](const Json& one) { return one["name"] == example.name; };
        const Json one = *std::find_if(table.begin(), table.end(), named);
        lux::Operation operation = in_memory(example);
        operation.run();
        const Json all = Json::parse(operation.json());
        for (const Json& result : one["results"]) {
            const std::string name = result["name"], type = result["type"];
            SCOPED_TRACE(name);
            if (type == "array")
                expect_array(operation, name);
            else if (type == "bool" || type == "integer" || type == "number")
                expect_number(operation.number(name), name, all);
            else if (type == "text")
                EXPECT_EQ(operation.text(name), all[name].get<std::string>());
            else
                EXPECT_EQ(Json::parse(operation.text(name)), all[name]);
            expect_remedy([&] { operation.number(name + "q"); }, ECHOLUX_BAD_SETTING, "did you mean");
        }
        expect_remedy([&] { operation.run(); }, ECHOLUX_BAD_ARGUMENT, "create another one");
        expect_remedy([&] { operation.set("output", "x.nrrd"); }, ECHOLUX_BAD_ARGUMENT, "create another one");
    }
}

TEST(LibraryOperations, KeepVolumesBeyondTheirOperation) {
    const auto filtered = [] {
        lux::Operation operation = in_memory(examples[1]);
        operation.run();
        EXPECT_EQ(operation.volume("output").bytes().data(), operation.volume("output").bytes().data()) << "shared";
        return operation.volume("output");
    };
    const lux::Volume made = filtered();
    EXPECT_EQ(made.bytes().size(), 4 * layered(1).size());
    EXPECT_FALSE(std::isnan(made.voxels<float>()[0]));
}

// Measured in the allocator: only it sees memory that no handle holds.
TEST(LibraryOperations, ReleaseInputsOfFailedRuns) {
    constexpr std::size_t voxels = std::size_t{64} << 20;
    const auto allocated = [] {
        const auto memory = mallinfo2();
        return memory.uordblks + memory.hblkhd;
    };
    lux::Operation operation("filter");
    {
        auto grid = lux::make<echolux_grid>();
        grid.depth = 1024;
        grid.a_scans = 1024;
        grid.b_scans = 64;
        grid.voxel = ECHOLUX_U8;
        const std::vector<std::byte> bytes(voxels);
        operation.add_input("input", lux::Volume::create(grid, bytes));
    }
    const std::size_t before = allocated();
    if (before < voxels) GTEST_SKIP() << "this allocator reports no sizes";
    expect_refused([&] { operation.run(); }, ECHOLUX_BAD_SETTING, "");
    EXPECT_LT(allocated() + voxels / 2, before);
}

TEST(LibraryOperations, AcceptFileNamesThatAreNotUtf8) {
    const TemporaryFolder folder;
    const std::string file = folder / "caf\xe9.nrrd";
    lux::Operation operation = in_memory(examples[1]);
    operation.set("output", file).run();
    EXPECT_EQ(Json::parse(operation.json())["files"].size(), 1u);
    EXPECT_EQ(lux::Volume::open(file).grid().depth, depth);
}

TEST(LibraryOperations, CheckHandles) {
    auto error = lux::make<echolux_error>();
    echolux_operation* none = nullptr;
    EXPECT_EQ(echolux_operation_create(nullptr, &none, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_operation_create("filter", nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_operation_run(nullptr, nullptr, 0, nullptr, nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_operation_free(nullptr), ECHOLUX_OK);
    lux::Operation operation = in_memory(examples[1]);
    EXPECT_EQ(echolux_operation_add_input(operation.get(), "input", nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_operation_set(operation.get(), "method", nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    expect_remedy([&] { operation.number("looks"); }, ECHOLUX_BAD_ARGUMENT, "run it first");
    operation.run();
    EXPECT_EQ(echolux_operation_get_number(operation.get(), nullptr, nullptr, &error), ECHOLUX_BAD_ARGUMENT);
    echolux_array unsized_array{};
    EXPECT_EQ(echolux_operation_get_array(operation.get(), "looks", &unsized_array, &error), ECHOLUX_BAD_ARGUMENT);
    expect_remedy([&] { operation.bytes("output"); }, ECHOLUX_BAD_ARGUMENT, "get_volume");
}

}  // namespace
}  // namespace echolux::test
