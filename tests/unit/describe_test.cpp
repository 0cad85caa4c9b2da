// Values of described fields: accepted values, and the messages of rejected ones.
#include "compute/plan/describe.h"

#include <cmath>
#include <limits>

#include "compute/plan/params.h"
#include "compute/plural.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

const Field<Recipe>& recipe_field(std::string_view name) {
    for (const Field<Recipe>& field : describe<Recipe>()) {
        if (field.name == name) return field;
    }
    throw std::out_of_range(std::string(name));
}

Value set_to(std::string_view name, std::string_view text) {
    const Field<Recipe>& field = recipe_field(name);
    return parsed(field, field.get({}), text, "here");
}

std::string refusal(std::string_view name, std::string_view text) {
    return error_of([&] { set_to(name, text); }).line;
}

TEST(Describe, TextsBecomeTypedValues) {
    EXPECT_EQ(set_to("dispersion", "false"), Value(false));
    EXPECT_EQ(set_to("zero_padding", " 4 "), Value(std::int64_t{4}));
    EXPECT_EQ(set_to("depth_end", "1e3"), Value(std::int64_t{1000}));
    EXPECT_EQ(set_to("low", "-7"), Value(-7.0));
    EXPECT_EQ(set_to("window", "blackman"), Value("blackman"s));
}

TEST(Describe, ErrorsNameExpectedAndActualValue) {
    EXPECT_EQ(refusal("zero_padding", "5"), "here: expected a whole number from 1 to 4, got 5");
    EXPECT_EQ(refusal("zero_padding", "1.5"), "here: expected a whole number from 1 to 4, got 1.5");
    EXPECT_EQ(refusal("zero_padding", "two"), "here: expected a whole number from 1 to 4, got two");
    EXPECT_EQ(refusal("zero_padding", ""), "here: expected a whole number from 1 to 4, got nothing");
    EXPECT_EQ(refusal("a2_rad", "2e5"), "here: expected a number from -1e+05 to 1e+05 rad, got 2e+05");
    EXPECT_EQ(refusal("dispersion", "1"), "here: expected true or false, got 1");
    EXPECT_EQ(refusal("shaping", "hnan"),
              "here: expected one of none, gaussian, hann, got hnan (did you mean \"hann\"?)");
    EXPECT_THAT(refusal("low", "nan"), HasSubstr("got nan"));
    EXPECT_THAT(refusal("low", "inf"), HasSubstr("got inf"));
    EXPECT_THAT(refusal("depth_end", "99999999999999999999"), HasSubstr("expected a whole number"));
}

// Special values are shown as a word in the help and the window, which can also be written on the command line and in
// files.
TEST(Describe, PositiveNumbersAreAboveZero) {
    Field<Recipe> field = recipe_field("low");
    field.low = 0;
    field.control.only_positive = true;
    EXPECT_EQ(parsed(field, 1.0, "0.5", "here"), Value(0.5));
    for (const std::string text : {"0", "-3", "nan"}) {
        const auto refused = error_of([&] { parsed(field, 1.0, text, "here"); });
        EXPECT_THAT(refused.line, HasSubstr("expected a positive number, got " + text));
    }
}

TEST(Describe, EverySpecialValueHasWord) {
    for (const Field<Recipe>& field : describe<Recipe>()) {
        if (!field.control.special_value) continue;
        const Value usual = field.get({});
        const Value special = checked(field, usual, Value(*field.control.special_value), "here");
        for (const std::string& word : {std::string(field.control.special_text), "auto"s}) {
            EXPECT_EQ(parsed(field, usual, " " + word, "here"), special) << field.name;
            EXPECT_EQ(checked(field, usual, word, "here"), special) << field.name;
        }
    }
    EXPECT_EQ(set_to("depth_end", "end"), Value(std::int64_t{0}));
    EXPECT_THAT(refusal("depth_end", "ent"), HasSubstr(", or end, got ent"));
    EXPECT_THAT(refusal("depth_begin", "auto"), HasSubstr("got auto"));
}

// A range like "from -1e+12 to 1e+12" is omitted, and so is a unit that is none.
TEST(Describe, OmitsUnlimitedRangesAndUnits) {
    FieldText field{"low", "value", "", Effect::view, -1e12, 1e12, {}};
    field.control.special_value = -1e12;
    const auto refused = [&](const char* text) {
        return error_of([&] { parsed(field, Value(0.0), text, "here"); }).line;
    };
    EXPECT_EQ(refused("aut"), "here: expected a number, or auto, got aut");
    EXPECT_EQ(refused("2e12"), "here: expected a number from -1e+12 to 1e+12, or auto, got 2e+12");
}

TEST(Describe, ListsAreReadAndEveryElementIsChecked) {
    const FieldText field{"list", "", "", Effect::table, -1, 1, {}};
    const Value like = std::vector<double>{};
    EXPECT_EQ(parsed(field, like, "[0.5, -1]", "here"), Value(std::vector<double>{0.5, -1}));
    EXPECT_EQ(parsed(field, like, "0.5,1", "here"), Value(std::vector<double>{0.5, 1}));
    EXPECT_EQ(parsed(field, like, "0.5", "here"), Value(std::vector<double>{0.5}));
    EXPECT_EQ(parsed(field, like, "[]", "here"), Value(std::vector<double>{}));
    EXPECT_EQ(checked(field, like, Value(std::int64_t{1}), "here"), Value(std::vector<double>{1}));
    EXPECT_THROW(parsed(field, like, "[0, 2]", "here"), Error);
    EXPECT_THROW(parsed(field, like, "[0, x]", "here"), Error);
    EXPECT_THROW(checked(field, like, std::vector<double>{std::nan("")}, "here"), Error);
}

TEST(Describe, CheckNamesFieldOutOfRange) {
    Recipe recipe;
    EXPECT_NO_THROW(check(recipe, "recipe"));
    recipe.tukey_alpha = 1.5;
    EXPECT_EQ(error_of([&] { check(recipe, "recipe"); }).line,
              "recipe.tukey_alpha: expected a number from 0 to 1, got 1.5");
}

TEST(Describe, SpellsTomlWithEveryBit) {
    EXPECT_EQ(spelled(true), "true");
    EXPECT_EQ(spelled(std::int64_t{-3}), "-3");
    EXPECT_EQ(spelled(2.0), "2.0");
    EXPECT_EQ(spelled(0.1), "0.1");
    EXPECT_EQ(spelled(1e30), "1e+30");
    EXPECT_EQ(spelled(std::vector<double>{1, 0.25}), "[1.0, 0.25]");
    EXPECT_EQ(spelled("a \"b\" \\ \n"s), R"("a \"b\" \\ \u000A")");
    const FieldText field{"x", "", "", Effect::table, 0, 1, {}};
    const double awkward = 1.0 / 3;
    EXPECT_EQ(parsed(field, 0.0, spelled(awkward), "here"), Value(awkward));
}

TEST(Describe, NearestNameFindsTypingMistakesOnly) {
    const std::vector<std::string_view> names{"window", "resample", "low", "high"};
    EXPECT_EQ(nearest_name("windw", names), "window");
    EXPECT_EQ(nearest_name("widnow", names), "window");
    EXPECT_EQ(nearest_name("Window", names), "window");
    EXPECT_EQ(nearest_name("lwo", names), "low");
    EXPECT_EQ(nearest_name("voltage", names), "");
    constexpr std::array<std::string_view, 3> sections{"scan", "simulation", "source"};
    EXPECT_EQ(nearest_name("simulate", sections), "simulation");
    EXPECT_EQ(nearest_name("simplify", sections), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name(std::string(100000, 'w'), names), "");
}

TEST(Describe, NearestNameKnowsForeignTypeNames) {
    const std::vector<std::string_view> types{"u8", "u16", "u32", "i16", "f32", "packed12"};
    EXPECT_EQ(nearest_name("uint16", types), "u16");
    EXPECT_EQ(nearest_name("uint8_t", types), "u8");
    EXPECT_EQ(nearest_name("int16", types), "i16");
    EXPECT_EQ(nearest_name("float32", types), "f32");
    EXPECT_EQ(nearest_name("float64", types), "");
}

TEST(Describe, NearestNameKnowsLongerAndShorterForms) {
    const std::vector<std::string_view> windows{"rect", "hann", "hamming", "blackman", "blackman_harris"};
    EXPECT_EQ(nearest_name("hanning", windows), "hann");
    EXPECT_EQ(nearest_name("rectangular", windows), "rect");
    EXPECT_EQ(nearest_name("blackman_harris_4", windows), "blackman_harris");
    EXPECT_EQ(nearest_name("ha", windows), "");
}

TEST(Counted, UsesSingularForOne) {
    EXPECT_EQ(plural(1, "B-scans"), "1 B-scan");
    EXPECT_EQ(plural(2, "B-scans"), "2 B-scans");
    EXPECT_EQ(plural(0, "blocks"), "0 blocks");
    EXPECT_EQ(plural(std::size_t{1}, "boundaries"), "1 boundary");
    EXPECT_EQ(plural(1, "time points"), "1 time point");
}

}  // namespace
}  // namespace echolux
