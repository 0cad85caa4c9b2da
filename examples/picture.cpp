// Renders a picture of a volume or scan to a PPM file.
// Usage: picture volume.nrrd|scan.toml picture.ppm [view.mode=mip ...]
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <echolux/echolux.hpp>

namespace lux = echolux::api;

namespace {

bool is_scan(const std::string& name) {
    return name.size() > 5 && name.compare(name.size() - 5, 5, ".toml") == 0;
}

lux::Volume opened(const std::string& name) {
    if (!is_scan(name)) return lux::Volume::open(name);
    return lux::reconstruct(lux::Scan::open(name)).structure;
}

// PPM has no alpha channel, so only RGB is written.
void write(const std::string& name, const lux::Picture& picture) {
    std::ofstream file(name, std::ios::binary);
    file << "P6 " << picture.width << ' ' << picture.height << " 255\n";
    for (std::size_t i = 0; i < picture.rgba.size(); i += 4) {
        file.write(reinterpret_cast<const char*>(&picture.rgba[i]), 3);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: picture VOLUME|scan.toml picture.ppm [KEY=VALUE ...]\n"), 2;
    try {
        lux::View view;
        view.settings().set("view.width", 320);
        view.settings().set("view.height", 240);
        for (int i = 3; i < argc; ++i) {
            const std::string setting = argv[i];
            const std::size_t equals = setting.find('=');
            view.settings().set(setting.substr(0, equals), setting.substr(equals + 1));
        }
        const lux::Volume volume = opened(argv[1]);
        lux::Renderer renderer;
        write(argv[2], renderer.render(volume, view));
    } catch (const lux::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        // 77 marks a skipped test: this build has no renderer.
        return error.status() == ECHOLUX_UNSUPPORTED ? 77 : 1;
    }
    return 0;
}
