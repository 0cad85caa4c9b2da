// Settings: keys, TOML input and output, and the messages of every rejection.
#include "engine/scan/settings.h"

#include "app/jobs/settings_table.h"
#include "compute/plan/params.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Lamp {
    bool on = false;
    std::string kind = "wave";
    double glow = 1;
    double pulse_s = 2;
    double spare = 3;
};

}  // namespace

template <>
const std::vector<Field<Lamp>>& describe<Lamp>() {
    static const Fields<Lamp> fields{
        flag("on", &Lamp::on, Effect::view, "lit").in("Switch"),
        text("kind", &Lamp::kind, Effect::view, "kind of the lamp").only_while("lamp.on", {"true"}),
        number("glow", &Lamp::glow, 0, 9, "W", Effect::view, "its power")
            .in("Power")
            .found_by("shine")
            .only_while("lamp.on", {"true"}),
        number("pulse_s", &Lamp::pulse_s, 0, 9, "s", Effect::view, "period").only_while("lamp.kind", {"wave", "blink"}),
        number("spare", &Lamp::spare, 0, 9, "", Effect::view, "spare lamps")
            .unless("lamp.glow", {"0"})
            .or_while("lamp.pulse_s", {"1"}),
    };
    return fields.list();
}

namespace {

class SettingsTest : public testing::Test {
  protected:
    SettingsTest() {
        settings_.bind("scan", geometry_);
        settings_.bind("scan", format_);
        settings_.bind("recipe", recipe_);
    }

    Caught reading(std::string_view toml) {
        const auto path = folder_.write("scan.toml", toml);
        Caught caught = error_of([&] { settings_.read_toml(path); });
        const std::size_t at = caught.line.find(path.string());
        if (at != std::string::npos) caught.line.replace(at, path.string().size(), "scan.toml");
        return caught;
    }

    TemporaryFolder folder_;
    ScanGeometry geometry_;
    RawFormat format_;
    Recipe recipe_;
    Settings settings_;
};

TEST_F(SettingsTest, AssignmentsSetBoundStructs) {
    settings_.set_assignment("recipe.window=tukey");
    settings_.set_assignment("scan.samples=2048");
    settings_.set_assignment("scan.sample_format=packed12");
    EXPECT_EQ(recipe_.window, Window::tukey);
    EXPECT_EQ(geometry_.samples, 2048);
    EXPECT_EQ(format_.sample_format, SampleFormat::packed12);
}

TEST_F(SettingsTest, WrongAssignmentsAreExplained) {
    const auto line = [&](const char* assignment) {
        return error_of([&] { settings_.set_assignment(assignment); }).line;
    };
    EXPECT_EQ(line("recipe.windw=hann"), "command line, recipe.windw: unknown key (did you mean \"recipe.window\"?)");
    EXPECT_EQ(line("recipe.samples=4"), "command line, recipe.samples: unknown key (did you mean \"scan.samples\"?)");
    EXPECT_EQ(line("window=hann"), "command line, window: unknown key (did you mean \"recipe.window\"?)");
    EXPECT_EQ(line("recipes.windw=1"),
              "command line, recipes.windw: there is no section [recipes] here (did you mean \"recipe\"?)");
    EXPECT_EQ(line("recipe.window"),
              "command line: expected KEY=VALUE, got recipe.window (for example recipe.window=hann)");
    EXPECT_THAT(line("recipe.window=hannn"), StartsWith("command line, recipe.window: expected one of rect, hann,"));
    EXPECT_EQ(recipe_.window, Window::hann);
}

TEST_F(SettingsTest, TomlSetsBoundStructs) {
    EXPECT_EQ(reading("[scan]\nsamples = 1024\nspacing_a_um = 10\n[recipe]\nwindow = \"rect\"\nlow = -3.5\n").line, "");
    EXPECT_EQ(geometry_.samples, 1024);
    EXPECT_EQ(geometry_.spacing_a_um, 10);
    EXPECT_EQ(recipe_.window, Window::rect);
    EXPECT_EQ(recipe_.low, -3.5);
}

TEST_F(SettingsTest, WrongTomlIsExplainedWithItsLine) {
    EXPECT_EQ(reading("[scan]\n\nsample = 1024\n").line,
              "scan.toml line 3, scan.sample: unknown key (did you mean \"scan.samples\"?)");
    EXPECT_EQ(reading("[scam]\nsamples = 1\n").line,
              "scan.toml line 2, scam.samples: unknown key (did you mean \"scan.samples\"?)");
    EXPECT_EQ(reading("[scan]\nsamples = \"many\"\n").line,
              "scan.toml line 2, scan.samples: expected a whole number from 0 to 1048576, got \"many\"");
    EXPECT_EQ(reading("[scan]\nsamples = -4\n").line,
              "scan.toml line 2, scan.samples: expected a whole number from 0 to 1048576, got -4");
    EXPECT_EQ(reading("[recipe]\nlow = nan\n").line, "scan.toml line 2, recipe.low: expected a number, got nan");
    EXPECT_EQ(reading("[recipe]\nlow = [1, 2]\n").line,
              "scan.toml line 2, recipe.low: expected a number, got [1.0, 2.0]");
    EXPECT_EQ(reading("[recipe]\nlow = 2024-01-01\n").line,
              "scan.toml line 2, recipe.low: expected one value or a list of numbers");
    EXPECT_EQ(reading("samples = 4\n").line,
              "scan.toml line 1, samples: key outside of a section (write it below a line such as [scan])");
    const Caught malformed = reading("[scan]\nsamples = = 4\n");
    EXPECT_THAT(malformed.line, StartsWith("scan.toml line 2 column "));
    EXPECT_EQ(malformed.code, ErrorCode::bad_file);
    EXPECT_THAT(reading("[scan]\nsamples = 4\nsamples = 5\n").line, HasSubstr("line 3"));
}

TEST_F(SettingsTest, InvalidFileChangesNoSetting) {
    EXPECT_NE(reading("[scan]\nsamples = 7\n[recipe]\nwindow = \"none\"\n").line, "");
    EXPECT_EQ(geometry_.samples, 0);
}

TEST_F(SettingsTest, RejectsFilesOtherThanToml) {
    EXPECT_THAT(error_of([&] { settings_.read_toml(folder_ / "missing.toml"); }).line, HasSubstr("does not exist"));
    EXPECT_THAT(error_of([&] { settings_.read_toml(folder_.path()); }).line, HasSubstr("is not a file"));
    const auto raw = folder_.zeros("spectra.raw", std::uintmax_t{1} << 40);
    EXPECT_THAT(error_of([&] { settings_.read_toml(raw); }).line, HasSubstr("not its raw spectra"));
    EXPECT_EQ(reading(std::string(1000, '\0')).code, ErrorCode::bad_file);
    EXPECT_EQ(reading("[scan]\nsamples = " + std::string(100000, '[')).code, ErrorCode::bad_file);
}

TEST_F(SettingsTest, WrittenTomlReadsBackSame) {
    geometry_.samples = 640;
    geometry_.depth_flip = true;
    recipe_.window = Window::gaussian;
    recipe_.gaussian_sigma = 1.0 / 3;
    EXPECT_EQ(settings_.toml(),
              "[scan]\nsamples = 640\ndepth_flip = true\n\n[recipe]\nwindow = \"gaussian\"\n"
              "gaussian_sigma = 0.3333333333333333\n");
    for (const bool all : {false, true}) {
        const std::string text = settings_.toml(all);
        geometry_ = {};
        recipe_ = {};
        EXPECT_EQ(reading(text).line, "");
        EXPECT_EQ(settings_.toml(all), text);
        EXPECT_EQ(recipe_.gaussian_sigma, 1.0 / 3);
    }
}

class LampTest : public testing::Test {
  protected:
    LampTest() { settings_.bind("lamp", lamp_); }

    std::string unused(const std::string& key) const {
        const std::vector<std::string> lines = unused_settings(settings_, std::vector{key + "=1"});
        return lines.empty() ? "" : lines.front();
    }

    Lamp lamp_;
    Settings settings_;
};

// The line that describes lamp.glow is all that there is of it.
TEST_F(LampTest, OneLineDescribesSettingEverywhere) {
    const BoundField* glow = settings_.field("lamp.glow");
    ASSERT_NE(glow, nullptr);
    EXPECT_EQ(glow->group, "Power");
    EXPECT_EQ(glow->words, "shine");
    EXPECT_THAT(settings_rows(settings_),
                HasSubstr("| `lamp.glow` | `1.0` | 0 .. 9 | W | view | Power | `lamp.on` is true | its power |\n"));
    EXPECT_THAT(error_of([&] { settings_.set("lamp.glwo", "2"); }).line, HasSubstr("did you mean \"lamp.glow\"?"));
    EXPECT_EQ(unused("lamp.glow"), "lamp.glow has no effect: lamp.on is false");
    settings_.set("lamp.glow", "2");
    EXPECT_EQ(settings_.toml(), "[lamp]\nglow = 2.0\n");
    settings_.set("lamp.on", "true");
    EXPECT_EQ(unused("lamp.glow"), "");
}

TEST_F(LampTest, FieldWithoutGroupJoinsPreviousField) {
    EXPECT_EQ(settings_.field("lamp.kind")->group, "Switch");
    EXPECT_EQ(settings_.field("lamp.spare")->group, "Power");
}

TEST_F(LampTest, SettingWithoutEffectFulfilsNoCondition) {
    EXPECT_EQ(unused("lamp.pulse_s"), "lamp.pulse_s has no effect: lamp.on is false");
    lamp_.on = true;
    EXPECT_EQ(unused("lamp.pulse_s"), "");
    lamp_.kind = "steady";
    EXPECT_EQ(unused("lamp.pulse_s"), "lamp.pulse_s has no effect: lamp.kind is steady");
}

TEST_F(LampTest, AnyAlternativeSuffices) {
    lamp_ = {.on = true, .glow = 0};
    EXPECT_EQ(unused("lamp.spare"), "lamp.spare has no effect: lamp.glow is 0.0");
    lamp_.pulse_s = 1;
    EXPECT_EQ(unused("lamp.spare"), "");
    lamp_ = {.on = true, .glow = 4};
    EXPECT_EQ(unused("lamp.spare"), "");
}

TEST_F(LampTest, ReportsEachUnusedSettingOnceAndNoUnknownOnes) {
    EXPECT_THAT(unused_settings(settings_, std::vector<std::string>{"lamp.glow=1", "lamp.on=false", "lamp.glow=3"}),
                ElementsAre("lamp.glow has no effect: lamp.on is false"));
    EXPECT_THAT(unused_settings(settings_, std::vector<std::string>{"lamp.glwo=1", "glow"}), IsEmpty());
}

TEST(Conditions, NameSettingsAndTheirValues) {
    std::vector<ListedSetting> all = all_settings();
    std::ranges::move(settings_of_commands(), std::back_inserter(all));
    const auto check_condition = [&](const Condition& condition, const std::string& where) {
        const auto found = std::ranges::find_if(
            all, [&](const ListedSetting& setting) { return setting.field.key() == condition.key; });
        ASSERT_NE(found, all.end()) << where << " depends on " << condition.key;
        EXPECT_FALSE(condition.values.empty()) << where;
        for (const std::string_view value : condition.values)
            EXPECT_NO_THROW(parsed(found->field, found->field.default_value, value, where)) << where << ": " << value;
    };
    for (const ListedSetting& setting : all) {
        for (const Condition& condition : setting.field.only_if) {
            check_condition(condition, setting.field.key());
            for (const Condition& other : condition.otherwise) check_condition(other, setting.field.key());
        }
    }
}

}  // namespace
}  // namespace echolux
