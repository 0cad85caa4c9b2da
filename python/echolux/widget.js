// Browser side of widget.py: a picture that is rotated by dragging and zoomed by the wheel, a list of presets, a time
// slider. Only one change is in flight: the next is sent once its picture has arrived.
function render({ model, el }) {
  const picture = document.createElement("img");
  picture.style.cssText = "display:block;max-width:100%;cursor:grab;touch-action:none";
  picture.width = model.get("width");
  picture.height = model.get("height");
  picture.draggable = false;
  const controls = document.createElement("div");
  controls.style.cssText = "display:flex;gap:1em;align-items:center;font:12px sans-serif;margin-top:4px";
  el.append(picture, controls);

  let waits = false, wanted = {};
  const flush = () => {
    if (waits || Object.keys(wanted).length === 0) return;
    for (const [name, value] of Object.entries(wanted)) model.set(name, value);
    wanted = {};
    waits = true;
    model.save_changes();
  };
  const want = (changes) => { Object.assign(wanted, changes); flush(); };
  const now = (name) => (name in wanted ? wanted[name] : model.get(name));

  let url = null;
  const show = () => {
    if (url) URL.revokeObjectURL(url);
    url = URL.createObjectURL(new Blob([model.get("picture")], { type: "image/png" }));
    picture.src = url;
    waits = false;
    flush();
  };
  model.on("change:picture", show);
  show();

  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY, azimuth: now("azimuth"), elevation: now("elevation") };
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (!from) return;
    const elevation = from.elevation + (event.clientY - from.y) * 0.4;
    want({ azimuth: from.azimuth - (event.clientX - from.x) * 0.4,
           elevation: Math.max(-90, Math.min(90, elevation)), is_dragged: true });
  });
  const release = () => { if (from) { from = null; want({ is_dragged: false }); } };
  picture.addEventListener("pointerup", release);
  picture.addEventListener("pointercancel", release);
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    want({ zoom: Math.max(0.1, Math.min(50, now("zoom") * Math.exp(-event.deltaY / 500))) });
  }, { passive: false });

  const preset = document.createElement("select");
  for (const name of model.get("presets")) preset.add(new Option(name, name));
  preset.value = model.get("preset");
  preset.addEventListener("change", () => want({ preset: preset.value }));
  model.on("change:preset", () => { preset.value = model.get("preset"); });
  controls.append(preset);

  if (model.get("time_points") > 1) {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.max = model.get("time_points") - 1;
    const label = document.createElement("span");
    const told = () => {
      slider.value = model.get("time_point");
      const seconds = model.get("times_s")[model.get("time_point")];
      label.textContent = `${model.get("time_point") + 1} of ${model.get("time_points")}` +
        (seconds > 0 ? `, ${seconds.toPrecision(4)} s` : "");
    };
    slider.addEventListener("input", () => want({ time_point: Number(slider.value) }));
    model.on("change:time_point", told);
    told();
    controls.append(slider, label);
  }
  return () => { if (url) URL.revokeObjectURL(url); };
}
export default { render };
