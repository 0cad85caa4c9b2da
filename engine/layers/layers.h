// Layered tissue: the description of its boundaries, and the surfaces between layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assets/assets.h"
#include "compute/backend.h"
#include "compute/plan/described.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/io/volume_file.h"

namespace echolux {

enum class Reason : std::uint8_t;  // compute/reason.h

// ---- Description of layered tissue: boundaries from the top with name, polarity and distance to the next. Presets are
// files with sections [about] and [layers], shipped in assets/layers or written by a user.

// automatic: likelihood where intensities are exponential (single-look speckle), else retina or surface where the names
// allow it. likelihood: layers of constant brightness in volumes. retina, surface, lumen: real recordings, B-scan by
// B-scan.
enum class SearchMethod { automatic, likelihood, retina, surface, lumen };

// Word of a method, as in `layers.method`.
const char* word_for(SearchMethod method);

// Section [layers] of the settings; described in layers.cpp. Lists have one number per boundary, or one for all.
struct LayerRecipe {
    std::string names;                  // separated by spaces; empty: 1, 2, ...
    std::int64_t count = 3;             // number of boundaries, if they have no names
    std::vector<double> polarity{0};    // 1: brighter below, -1: darker below, 0: either
    std::vector<double> min_um{0};      // distance from the boundary above
    std::vector<double> max_um{0};      // from the boundary above; 0: no limit
    std::vector<double> smoothness{1};  // factor of the cost of a step between neighbouring A-scans
    std::vector<double> vessel_um{0};   // width of vessels that hide the boundary; 0: no vessels
    bool tissue_below = false;          // tissue continues below the last boundary and ends somewhere
    double row_um = 0;                  // depth of a row; 0: from the volume
    SearchMethod method = SearchMethod::likelihood;
    double reach_um = 24;                // retina: refined on either side of the coarse course
    std::vector<double> brightness{0};   // retina: of the layer above, 0 at the outer nuclear layer, 1 at the RPE
    std::vector<double> usual_um{0};     // retina: usual distance from the boundary above
    std::vector<double> usual_sd_um{0};  // retina: and its standard deviation
    std::vector<double> contrast{0};     // retina: difference of ln(brightness) from which a place is ok
    double foot = 1;                     // surface: nepers above the noise where the edge begins
};

// A boundary with distances in rows of the volume.
struct BoundaryOptions {
    std::string name;
    int polarity = 0;
    double min_rows = 0, max_rows = 0;  // distance from the boundary above; 0: no limit
    double smoothness = 1;
    double vessel_um = 0;  // width in um, because spacings differ between volumes; see bridge_vessels()
};

// Converts the recipe to boundaries. `row_um` is the depth of the volume's rows, 0 if unknown. Throws
// Error{bad_setting} for lists of another length, duplicate names, min distances above the max, and distances in um
// with unknown rows.
std::vector<BoundaryOptions> boundary_options(const LayerRecipe& recipe, double row_um);

// A preset: its purpose, and its settings as assignments ("layers.count=5").
struct LayerPreset {
    std::string text;
    std::vector<std::string> assignments;
};

// Reads a preset. Throws Error{bad_file, bad_setting} that names file and key.
LayerPreset layer_preset_of(const Asset& asset);

// Reads a preset by name, or by a path that ends in .toml. Also throws for an unknown name and suggests the nearest
// one.
LayerPreset layer_preset_named(std::string_view name);

// ---- Surfaces between layers, found or set manually. Each has per A-scan a depth, its quality, and the reason if it
// is missing.

struct Surface {
    std::string name;
    std::vector<float> rows;      // [b_scan][a_scan]: depth rows, voxel centres at integers; NaN: missing
    std::vector<float> quality;   // in nats: log likelihood ratio to the next best position
    std::vector<Reason> reasons;  // see has_place()
};

struct Surfaces {
    std::int64_t a_scans = 0, b_scans = 0;
    std::vector<Surface> all;  // from the top; they may touch but never cross
    std::int64_t moved = 0;    // number of positions moved down to the surface above
    SelectedBackend searched_on{};
    SearchMethod method = SearchMethod::likelihood;          // as decided, never automatic
    BrightnessLaw stored{.stored_as = StoredAs::automatic};  // of the voxels; `why` is empty without a search

    std::int64_t lines() const { return a_scans * b_scans; }
};

// Names of the surfaces in a volume that volume_of() returned, or numbers if it does not store them.
std::vector<std::string> surface_names(const Volume& maps);

// Returns the share, 0 to 1, of all positions of all surfaces that have this reason.
double share_of(const Surfaces& surfaces, Reason reason);

// Returns the share, 0 to 1, of positions with a row.
double share_found(const Surfaces& surfaces);

// Moves positions that are above a higher surface down to it and counts them. Looks across surfaces without a position.
void sort_surfaces(Surfaces& surfaces);

// Returns the index of a surface by name. Throws Error{bad_setting} that suggests the nearest name and lists all.
std::size_t index_of(const Surfaces& surfaces, const std::string& name);

// Converts rows to micrometres from zero delay, or keeps rows if the spacing is unknown.
class DepthScale {
  public:
    explicit DepthScale(const VolumeGrid& grid);

    bool is_known() const { return is_known_; }
    const char* unit() const { return is_known_ ? "um" : "rows"; }
    // Conversions between rows and depths; thickness() converts a distance in rows.
    double depth(float row) const { return first_ + static_cast<double>(row) * row_; }
    double row(double depth) const { return (depth - first_) / row_; }
    double thickness(float rows) const { return static_cast<double>(rows) * row_; }

  private:
    bool is_known_;
    double first_, row_;
};

// Returns the distance from one surface down to another along the A-scan, [b_scan][a_scan] in um, or rows if the
// spacing is unknown; NaN if one of them is missing.
std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid);

// ---- Manual editing of surfaces: when a point is dragged, the surface around it follows smoothly. A surface never
// crosses its neighbours above and below, but stops at them.

// Distance over which the surface follows the dragged point; 0: only the point itself.
struct DragReach {
    std::int64_t a_scans = 16, b_scans = 2;
};

// Returns the share of the drag at a distance from the dragged point: 1 at the point, 0 beyond the reach, a raised
// cosine in between.
double drag_share(std::int64_t distance, std::int64_t reach);

// A manual change of one surface in one A-scan.
struct SurfaceEdit {
    std::size_t line = 0;  // A-scan
    float row_before = 0, row = 0;
    float quality_before = 0;
    Reason reason_before{};  // ok
};

// Returns the changes of dragging `surface` to `row` in one A-scan. Empty if the surface has no position in that
// A-scan. Missing positions stay missing. Throws Error{bad_setting} if the surface or A-scan does not exist.
std::vector<SurfaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan,
                                 std::int64_t b_scan, float row, std::int64_t depth, const DragReach& reach);

// apply() sets the edited positions with reason ok and quality 0, because nothing was searched. take_back() restores
// the previous state.
void apply(Surfaces& surfaces, std::size_t surface, const std::vector<SurfaceEdit>& edits);
void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<SurfaceEdit>& edits);

// ---- Surfaces in files. In a volume file of any format, slices are surfaces, rows are B-scans and columns are
// A-scans. Values are depths in um from zero delay, or rows if the unit is "rows"; NaN without a surface. Names are
// stored as text. A CSV table has one line per position, with quality and reason.

// Converts surfaces to a volume of depths. `volume` is the searched volume; its spacing and provenance are copied.
Volume volume_of(const Surfaces& surfaces, const Volume& volume);

// Returns CSV: b_scan,a_scan,surface,depth_um,quality,reason. Depth cells are empty without a surface. The column is
// depth_row if the spacing is unknown.
std::string csv_of(const Surfaces& surfaces, const VolumeGrid& grid);

// Returns whether the file at `path` is such a table, by its heading.
bool is_own_surface_table(const std::filesystem::path& path);

// Reads surfaces of a volume of this grid, as volume_of() or a program with the same format wrote them. Crossing
// surfaces are put in order and counted as moved. Throws Error{bad_file} if the size differs or if depths are in um and
// the spacing is unknown, and as read_volume() does.
Surfaces read_surfaces(const std::filesystem::path& path, const VolumeGrid& grid);
// Reads them from a volume in memory in the same way. Errors call it `name`.
Surfaces surfaces_of(const Volume& maps, const VolumeGrid& grid, const std::string& name);

// ---- En-face maps between two surfaces, and flattening of a volume to a surface.

// mean: of intensities, converted back to dB for volumes in dB; top3: mean of the three largest.
enum class SlabValue { mean, max, top3 };

// A slab between two surfaces, each with an offset.
struct SlabSpec {
    std::size_t upper = 0, lower = 0;               // indices of surfaces
    double below_upper_um = 0, below_lower_um = 0;  // in rows if the spacing is unknown; negative: above the surface
    SlabValue value = SlabValue::mean;
};

// Returns the rows of A-scan `line` whose voxel centres are between the surfaces; nullopt if a surface is missing or
// there are none.
struct RowRange {
    std::int64_t begin = 0, end = 0;
};
std::optional<RowRange> rows_between(const Surfaces& surfaces, const SlabSpec& slab, const VolumeGrid& grid,
                                     std::size_t line);

// Returns 1 where one of the two surfaces is ambiguous, else 0, as [b_scan][a_scan].
std::vector<std::uint8_t> ambiguous_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower);

// Returns [b_scan][a_scan] of the voxels whose centres are between the surfaces; NaN if a surface is missing or there
// are none. Throws Error{bad_setting} for complex voxels.
std::vector<float> en_face_between(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);

// Returns the map as a single slice: columns are A-scans, rows are B-scans.
Volume volume_of_map(const std::vector<float>& map, const Volume& volume, const char* quantity, const char* unit);

// Returns the row of a surface in a flattened volume: the rounded mean of its known rows.
double flat_row_of(const Surface& surface);

// Shifts A-scans in depth so that the surface is at flat_row_of(); `back` reverses this. Interpolates between rows by
// cubic convolution (R. Keys, IEEE TASSP 29, 1153, 1981); end voxels extend beyond the ends. A-scans without the
// surface become empty: NaN, or the smallest code of integer types. Throws Error{bad_setting} for complex voxels.
void flatten_to(Volume& volume, const Surface& surface, bool back = false);

// Like flatten_to(), and notes it in the provenance. `level`: name of a surface; empty: the first.
Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back);

// ---- Layers by the names of their surfaces

using LayerBounds = std::pair<std::size_t, std::size_t>;  // upper and lower surface

// Names of two surfaces; empty: the first and the last.
struct BoundNames {
    std::string upper, lower;
};

// Throws Error{bad_setting} for unknown surfaces.
LayerBounds bounds_of(const Surfaces& surfaces, const BoundNames& names);

// Throws Error{bad_setting} if the lower surface is not below the upper one. A slab may be `is_shifted`: one surface
// twice with different distances.
void require_order(const Surfaces& surfaces, const LayerBounds& layer, bool is_shifted = false);

// Returns all layers, or only the named one. Throws what the functions above throw.
std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const BoundNames& names);

// "ILM to NFL".
std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer);

// Returns one slice per layer, in um or rows. `volume`: the segmented volume.
Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers);

}  // namespace echolux
