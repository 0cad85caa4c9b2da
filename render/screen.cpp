#include "render/screen.h"

#include <fmt/format.h>

#include "compute/error.h"
#include "render/picture.h"
#include "render/presentation.h"
#include "render/renderer.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"

namespace echolux {
namespace {

constexpr vk::Format format = vk::Format::eR8G8B8A8Unorm;

// The composed picture, also for windows, so that it can be read back as it was shown.
gpu::DeviceImage create_canvas(const gpu::Device& device, std::int64_t width, std::int64_t height) {
    const auto edge = [](std::int64_t pixels) { return static_cast<std::uint32_t>(std::max<std::int64_t>(1, pixels)); };
    return {device,
            {.format = format,
             .extent = {edge(width), edge(height), 1},
             .usage = vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferDst |
                      vk::ImageUsageFlagBits::eTransferSrc},
            fmt::format("screen of {} x {} pixels", width, height)};
}

// Throws Error{device} for devices without graphics support.
const gpu::Device& drawing(const gpu::Device& device) {
    if (device.draws()) return device;
    throw Error(ErrorCode::device, device.name() + " supports compute but not graphics", "screen",
                "choose another device, or `render` without a window");
}

}  // namespace

struct Screen::Parts {
    // A picture in flight.
    struct Frame {
        explicit Frame(const gpu::Device& device) : stopwatch(device) {}

        InterfaceBuffers interface;
        gpu::Stopwatch stopwatch;  // of the user interface
        std::uint64_t value = 0;
    };

    Parts(const gpu::SharedDevice& of_renderer, std::int64_t pixels_across, std::int64_t pixels_down)
        : shared(of_renderer), width(pixels_across), height(pixels_down),
          canvas(create_canvas(drawing(shared.device), width, height)), painter(shared.device, shared.queue, format) {
        for (std::size_t i = 0; i < pictures_in_flight; ++i) frames.push_back(std::make_unique<Frame>(shared.device));
        if (shared.device.surface()) window.emplace(shared.device, shared.queue);
        first_use();
    }

    ~Parts() { shared.queue.settle(); }

    void first_use() {
        shared.queue.run([&](const vk::raii::CommandBuffer& commands) {
            canvas.record_first_use(commands);
            canvas.record_clear(commands);
        });
    }

    void resize(std::int64_t new_width, std::int64_t new_height) {
        if (new_width == width && new_height == height) return;
        gpu::DeviceImage larger = create_canvas(shared.device, new_width, new_height);
        shared.queue.wait_for_all();  // pending pictures use the old canvas
        canvas = std::move(larger);
        width = new_width;
        height = new_height;
        if (window) window->renew();
        first_use();
    }

    void record_pictures(const vk::raii::CommandBuffer& commands, std::span<const ScreenPane> panes,
                         const std::array<float, 3>& background) const {
        canvas.record_clear(commands, {background[0], background[1], background[2], 1});
        for (const ScreenPane& pane : panes) {
            if (pane.drawing.image == nullptr) continue;
            gpu::record_order(commands);  // later panes cover earlier ones
            record_pane(commands, *pane.drawing.image, pane.place, canvas);
        }
        gpu::record_order(commands);
    }

    void record_interface(const vk::raii::CommandBuffer& commands, const Frame& frame) const {
        frame.stopwatch.record_start(commands);
        painter.record(commands, frame.interface, canvas);
        frame.stopwatch.record_stop(commands);
    }

    // Returns the next frame, after its previous work has finished.
    Frame& free_frame() {
        Frame& frame = *frames[turn];
        shared.queue.wait(frame.value);
        if (frame.value > 0) interface_s = frame.stopwatch.seconds();
        return frame;
    }

    void submit(Frame& frame, std::span<const ScreenPane> panes, const std::array<float, 3>& background,
                const std::optional<WindowPicture>& shown) {
        gpu::Chain chain;
        if (shown) {
            // Binary semaphores: the values are ignored.
            chain.waits = {{shown->acquired, 0}};
            chain.signals = {{shown->drawn, 0}};
        }
        const auto record = [&](const vk::raii::CommandBuffer& commands) {
            record_pictures(commands, panes, background);
            record_interface(commands, frame);
            if (!shown) return;
            gpu::record_order(commands);
            window->record_copy(commands, *shown, canvas);
        };
        frame.value = shared.queue.submit(record, chain);
        shared.device.check("presenting a frame");
    }

    bool show(std::span<const ScreenPane> panes, const InterfaceMesh& interface,
              const std::array<float, 3>& background) {
        if (width < 1 || height < 1) return false;
        Frame& frame = free_frame();
        frame.interface.fill(shared.device, interface);
        std::optional<WindowPicture> shown;
        if (window) {
            shown = window->acquire(turn, canvas_extent());
            if (!shown) return false;
        }
        try {
            submit(frame, panes, background, shown);
            if (shown) window->present(*shown);
        } catch (...) {
            if (window) window->renew();  // an acquired image was not presented
            throw;
        }
        turn = (turn + 1) % frames.size();
        return true;
    }

    vk::Extent2D canvas_extent() const { return {canvas.shape().extent.width, canvas.shape().extent.height}; }

    gpu::SharedDevice shared;
    std::int64_t width, height;
    gpu::DeviceImage canvas;
    InterfacePainter painter;
    std::vector<std::unique_ptr<Frame>> frames;
    std::size_t turn = 0;
    std::optional<Swapchain> window;  // empty: off screen
    std::optional<double> interface_s;
};

Screen::Screen(Renderer& renderer, std::int64_t width, std::int64_t height)
    : parts_(gpu::reporting("creating the screen",
                            [&] { return std::make_unique<Parts>(renderer.shared_device(), width, height); })) {}

Screen::~Screen() = default;

bool Screen::is_off_screen() const {
    return !parts_->window.has_value();
}

std::int64_t Screen::width() const {
    return parts_->width;
}

std::int64_t Screen::height() const {
    return parts_->height;
}

void Screen::set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage) {
    gpu::reporting("uploading glyphs", [&] { parts_->painter.set_glyphs(width, height, coverage); });
}

void Screen::resize(std::int64_t width, std::int64_t height) {
    gpu::reporting("resizing the screen", [&] { parts_->resize(width, height); });
}

bool Screen::show(std::span<const ScreenPane> panes, const InterfaceMesh& interface,
                  const std::array<float, 3>& background) {
    return gpu::reporting("presenting a frame", [&] { return parts_->show(panes, interface, background); });
}

Image Screen::read() {
    return gpu::reporting("reading the screen",
                          [&] { return gpu::image_of(parts_->shared.read_back, parts_->canvas); });
}

std::optional<double> Screen::interface_seconds() const {
    return parts_->interface_s;
}

}  // namespace echolux
