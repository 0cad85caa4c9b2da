// Operations through the library: each one of the table refuses, stops, and returns its results by name; the same
// results from files and from memory; no made-up results for data without information.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

lux::Volume volume_from(const std::vector<float>& voxels, const char* quantity = "intensity",
                        std::int64_t slices = b_scans) {
    auto grid = lux::make<echolux_grid>();
    grid.depth = depth;
    grid.a_scans = a_scans;
    grid.b_scans = slices;
    grid.voxel = ECHOLUX_F32;
    grid.spacing_um[0] = 2;
    grid.spacing_um[1] = grid.spacing_um[2] = 5;
    std::string(quantity).copy(grid.quantity, sizeof grid.quantity - 1);
    auto facts = lux::make<echolux_volume_facts>();
    facts.time_s = 1.5;
    facts.number = 3;
    return lux::Volume::create(grid, {reinterpret_cast<const std::byte*>(voxels.data()), 4 * voxels.size()}, 0, 0,
                               facts);
}

// Speckle of a bright layer, rows 20 to 39, between dark ones.
std::vector<float> layered(unsigned seed, std::int64_t slices = b_scans) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> voxels(index(depth * a_scans * slices));
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

const lux::Assignments two_surfaces = {"preset=layers", "layers.names=top bottom", "layers.polarity=[1, -1]"};

lux::Operation segmenting(const lux::Volume& volume, lux::Assignments more = {}) {
    more.insert(more.begin(), two_surfaces.begin(), two_surfaces.end());
    lux::Operation operation("segment", more);
    operation.add_input("input", volume);
    return operation;
}

// ---- All operations

Json descriptions() {
    return Json::parse(lux::operations_json());
}

// Operations that layered volumes are enough for, with their settings.
struct Example {
    std::string name;
    lux::Assignments settings{};
    int volumes = 1;
};
const std::vector<Example> examples = {{"attenuation", {"noise_floor_db=-20"}},
                                       {"filter", {"method=median"}},
                                       {"register", {}, 2},
                                       {"segment", two_surfaces}};

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

TEST(LibraryOperations, RequireInputs) {
    for (const Json& one : descriptions()) {
        for (const Json& input : one["inputs"]) {
            if (!input["required"].get<bool>()) continue;
            SCOPED_TRACE(one["name"]);
            lux::Operation operation(one["name"]);
            for (const Json& output : one["outputs"]) {
                if (!output["file"].get<bool>()) operation.keep(output["name"]);
            }
            expect_remedy([&] { operation.run(); }, ECHOLUX_BAD_SETTING);
            expect_remedy([&] { operation.json(); }, ECHOLUX_BAD_ARGUMENT, "create another one");
        }
    }
}

TEST(LibraryOperations, StopByProgress) {
    for (const Example& example : examples) {
        SCOPED_TRACE(example.name);
        lux::Operation operation = in_memory(example);
        expect_refused([&] { operation.run([](const std::string&, std::int64_t, std::int64_t) { return false; }); },
                       ECHOLUX_CANCELLED, "was stopped");
        expect_remedy([&] { operation.volume("output"); }, ECHOLUX_BAD_ARGUMENT, "create another one");
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

TEST(LibraryOperations, MakeSameVoxelsInFilesAndInMemory) {
    const TemporaryFolder folder;
    const std::vector<std::string> files = {folder / "0.nrrd", folder / "1.nrrd"};
    for (int i = 0; i < 2; ++i) volume_number(i).write(files[index(i)]);
    for (const Example& example : examples) {
        SCOPED_TRACE(example.name);
        const std::string file = folder / (example.name + ".nrrd");
        lux::Operation by_file(example.name, example.settings), kept = in_memory(example);
        for (int i = 0; i < example.volumes; ++i) by_file.set("input", files[index(i)]);
        by_file.set("output", file).run();
        expect_remedy([&] { by_file.volume("output"); }, ECHOLUX_BAD_ARGUMENT, "echolux_operation_keep");
        EXPECT_EQ(Json::parse(by_file.json())["files"], Json::array({file}));
        const lux::Volume made = kept.run().volume("output"), read = lux::Volume::open(file);
        EXPECT_EQ(made.grid().quantity, std::string(read.grid().quantity));
        EXPECT_TRUE(std::ranges::equal(made.bytes(), read.bytes()));
        EXPECT_EQ(made.time_s(), 1.5) << "that of the input";
        EXPECT_EQ(made.number(), 3);
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

TEST(LibraryOperations, ReplaceFilesOnlyIfAllowed) {
    const TemporaryFolder folder;
    const std::string file = folder.write("notes.nrrd", "not a volume");
    const auto filter = [&](bool overwrites) {
        lux::Operation operation("filter", {"method=median", "output=" + file});
        operation.add_input("input", volume_number(0)).run({}, lux::make<echolux_device>(), overwrites);
    };
    expect_remedy([&] { filter(false); }, ECHOLUX_OUTPUT, "notes.nrrd");
    filter(true);
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

// ---- Their results

TEST(LibraryOperations, FilterReducesSpeckleAndKeepsMean) {
    const lux::Volume raw = volume_from(layered(1));
    lux::Operation filter("filter", {"method=median"});
    const lux::Volume made = filter.add_input("input", raw).keep("output").run().volume("output");
    EXPECT_EQ(made.grid().spacing_um[1], 5);
    EXPECT_NE(made.provenance().find("filter = [filter]\\nmethod = \"median\"\\n"), std::string::npos);
    const auto spread = [](const lux::Volume& volume) {
        double sum = 0, square = 0, count = 0;
        for (std::size_t i = 0; i < volume.voxels<float>().size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) % depth;
            if (row < 24 || row >= 36) continue;
            const auto value = static_cast<double>(volume.voxels<float>()[i]);
            sum += value;
            square += value * value;
            ++count;
        }
        const double mean = sum / count;
        EXPECT_NEAR(mean, 1, 0.1);
        return std::sqrt(square / count - mean * mean) / mean;
    };
    EXPECT_NEAR(spread(raw), 1, 0.1);
    EXPECT_LT(spread(made), 0.25);
    lux::Operation of_velocity("filter");
    of_velocity.add_input("input", volume_from(layered(1), "velocity")).keep("output");
    expect_refused([&] { of_velocity.run(); }, ECHOLUX_BAD_SETTING, "velocit");
}

TEST(LibraryOperations, FilterAveragesPowerOfLooks) {
    const std::vector<float> one = layered(1), other = layered(2);
    const auto average = [](const lux::Volume& a, const lux::Volume& b) {
        lux::Operation filter("filter");
        filter.add_input("input", a).add_input("input", b).keep("output").run();
        return filter;
    };
    const lux::Operation two = average(volume_from(one), volume_from(other));
    const lux::Volume mean = two.volume("output");
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(mean.voxels<float>()[i], (one[i] + other[i]) / 2, 1e-5);
    EXPECT_NEAR(two.number("effective_looks"), 2, 0.1);
    EXPECT_NEAR(average(volume_from(one), volume_from(one)).number("effective_looks"), 1, 0.01);
    expect_refused([&] { average(volume_from(one), volume_from(layered(1, 4), "intensity", 4)); }, ECHOLUX_BAD_SETTING,
                   "");
}

TEST(LibraryOperations, SegmentFindsLayers) {
    const lux::Volume volume = volume_from(layered(3));
    lux::Operation segment = segmenting(volume);
    for (const char* output : {"output", "thickness", "en_face", "flatten"}) segment.keep(output);
    segment.run();
    EXPECT_EQ(segment.text("surfaces"), R"(["top","bottom"])");
    const echolux_array rows = segment.array("places.row");
    ASSERT_EQ(rows.dims, 3);
    EXPECT_EQ(rows.shape[0], 2);
    EXPECT_EQ(rows.shape[1], b_scans);
    EXPECT_EQ(rows.shape[2], a_scans);
    const echolux_array reasons = segment.array("places.reason");
    const auto row = segment.values<float>("places.row"), at = segment.values<float>("places.depth");
    const auto reason = segment.values<std::uint8_t>("places.reason");
    for (std::size_t i = 0; i < row.size(); ++i) {
        EXPECT_NEAR(row[i], i < row.size() / 2 ? 19.5 : 39.5, 1.5) << i;
        EXPECT_FLOAT_EQ(at[i], 2 * row[i]);
        EXPECT_STREQ(reasons.words[reason[i]], "ok");
    }
    const lux::Volume thickness = segment.volume("thickness"), en_face = segment.volume("en_face");
    EXPECT_EQ(thickness.grid().b_scans, 1);
    for (const float um : thickness.voxels<float>()) EXPECT_NEAR(um, 40, 5);
    for (const float mean : en_face.voxels<float>()) EXPECT_GT(mean, 0.3);
    EXPECT_EQ(segment.volume("flatten").grid().depth, depth);
    const auto table = segment.bytes("output");
    EXPECT_EQ(std::count(table.begin(), table.end(), std::byte{'\n'}), 1 + static_cast<std::int64_t>(row.size()));
    lux::Operation upside_down = segmenting(volume, {"between=bottom:top"});
    lux::Operation misspelt = segmenting(volume, {"level=topp"});
    expect_refused([&] { upside_down.keep("thickness").run(); }, ECHOLUX_BAD_SETTING, "does not lie below");
    expect_refused([&] { misspelt.keep("flatten").run(); }, ECHOLUX_BAD_SETTING, "top");
}

TEST(LibraryOperations, SegmentContinuesWithKnownSurfaces) {
    const TemporaryFolder folder;
    const std::string file = folder / "surfaces.nrrd";
    const lux::Volume volume = volume_from(layered(3));
    lux::Operation found = segmenting(volume);
    found.set("output", file).keep("output").keep("thickness").run();
    lux::Operation of_file = segmenting(volume), of_memory = segmenting(volume);
    lux::Operation other = segmenting(volume_from(layered(1, 4), "intensity", 4));
    of_file.set("surfaces", file).keep("thickness").run();
    of_memory.add_input("surfaces", found.volume("output")).keep("thickness").run();
    EXPECT_EQ(of_file.text("surfaces"), found.text("surfaces"));
    const lux::Volume thickness = found.volume("thickness");
    for (const lux::Operation* again : {&of_file, &of_memory}) {
        const lux::Volume same = again->volume("thickness");
        ASSERT_EQ(same.voxels<float>().size(), thickness.voxels<float>().size());
        for (std::size_t i = 0; i < thickness.voxels<float>().size(); ++i)
            EXPECT_NEAR(thickness.voxels<float>()[i], same.voxels<float>()[i], 1e-3);
    }
    other.set("surfaces", file).keep("thickness");
    expect_refused([&] { other.run(); }, ECHOLUX_BAD_FILE, "surfaces.nrrd");
}

TEST(LibraryOperations, RegisterFindsShift) {
    lux::Operation registered = in_memory(examples[2]);
    registered.keep("table").run();
    const auto z = registered.values<double>("shifts.z");
    const auto reason = registered.values<std::uint8_t>("shifts.reason");
    const echolux_array reasons = registered.array("shifts.reason");
    ASSERT_EQ(z.size(), 2 * index(b_scans));
    int placed = 0;
    for (std::size_t b = 0; b < index(b_scans); ++b) {
        EXPECT_EQ(z[b], 0);
        const std::size_t second = index(b_scans) + b;
        const bool has_place = reasons.words[reason[second]] == std::string("ok");
        EXPECT_EQ(has_place, !std::isnan(z[second]));
        if (!has_place) continue;
        EXPECT_NEAR(z[second], -3, 0.2);
        ++placed;
    }
    EXPECT_GE(placed, 6);
    const auto table = registered.bytes("table");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(table.data()), 22), "# echolux registration");
    lux::Operation placed_volume = in_memory(examples[2]);
    EXPECT_EQ(placed_volume.set("registered", "1").run().volume("output").grid().b_scans, b_scans);
    for (const char* wrong : {"reference_volume", "registered"}) {
        lux::Operation refused = in_memory(examples[2]);
        refused.set(wrong, "7");
        expect_refused([&] { refused.run(); }, ECHOLUX_BAD_SETTING, wrong);
    }
}

void expect_no_result(const std::string& name, const lux::Assignments& settings,
                      const std::vector<const lux::Volume*>& volumes, const std::string& input = "input") {
    SCOPED_TRACE(name);
    lux::Operation operation(name, settings);
    for (const lux::Volume* one : volumes) operation.add_input(input, *one);
    operation.keep("output");
    expect_refused([&] { operation.run(); }, ECHOLUX_BAD_SETTING, "");
}

TEST(LibraryOperations, FindNothingInNoise) {
    std::mt19937 random(7);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> noise(index(depth * a_scans * b_scans));
    for (float& voxel : noise) voxel = speckle(random);
    const lux::Volume all_noise = volume_from(noise), structure = volume_from(layered(5));
    const lux::Volume empty = volume_from(std::vector<float>(noise.size(), 0));
    const lux::Volume nowhere = volume_from(std::vector<float>(noise.size(), std::numeric_limits<float>::quiet_NaN()));
    for (const lux::Volume* volume : {&all_noise, &empty, &nowhere}) {
        expect_no_result("segment", two_surfaces, {volume});
        expect_no_result("register", {}, {&structure, volume});
        expect_no_result("attenuation", {}, {volume});
    }
    const lux::Volume single = volume_from(layered(1, 1), "intensity", 1);
    expect_no_result("register", {}, {&single});
    const lux::Volume still = volume_from(std::vector<float>(noise.size(), 0), "velocity");
    expect_no_result("flow", {}, {&structure}, "velocity");
    expect_no_result("flow", {}, {&still}, "velocity");
}

}  // namespace
}  // namespace echolux::test
