// Controls around the picture: who is in control, latency and bandwidth, messages.
const WINDOW_MS = 2000, KEPT = 240;

// `share` is between 0 and 1; NaN without values.
function percentile(values, share) {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

const inMs = (value) => (Number.isFinite(value) ? `${value.toFixed(0)} ms` : "–");

export class Shown {
  constructor(connection, video, input) {
    Object.assign(this, { connection, video, input });
    this.answers = [];  // recent latencies: total and its parts
    this.seen = [];     // time and size of recent pictures
    this.element = (id) => document.getElementById(id);
    this.roles = null;
    this.follow();
    this.press();
    setInterval(() => this.refresh(), 500);
  }

  follow() {
    const { connection, video, input } = this;
    const shown = video.onShown;
    video.onShown = (head) => {
      shown(head);
      this.seen.push([head.shown, head.bytes]);
      this.say("");
    };
    input.onAnswered = (total, head) => {
      const drawing = Math.max(0, head.drawing), encoding = head.waiting + head.encoding, decoding = head.shown - head.came;
      this.answers.push({ total, drawing, encoding, decoding, transport: total - drawing - encoding - decoding });
      if (this.answers.length > KEPT) this.answers.shift();
    };
    connection.on("welcome", (message) => {
      this.me = message;
      this.element("share").hidden = !message.watch;
    });
    connection.on("roles", (roles) => this.showRoles(roles));
    connection.on("asked", () => (this.element("asked").hidden = false));
    connection.on("kept", () => this.say("The current user keeps control.", 4000));
    connection.on("running", (message) => this.showSwitch("run", message, "\u25A0 Stop", "\u25B6 Start"));
    connection.on("recording", (message) => this.showSwitch("record", message, "\u25A0 End", "\u25CF Record"));
    connection.on("open", () => document.body.classList.remove("lost"));
    connection.on("notice", (message) => this.say(message.text, 8000));
    connection.on("lost", (reason) => {
      this.roles = null;
      for (const id of ["asked", "steer", "run", "record"]) this.element(id).hidden = true;
      document.body.classList.add("lost");
      this.element("state").textContent = "not connected";
      this.say(reason ? `The server closed the connection: ${reason}` : "Connection lost. Reconnecting …");
    });
    connection.on("refused", (text) => this.say(text));
  }

  press() {
    const on = (id, action) => this.element(id).addEventListener("click", () => {
      action();
      if (id !== "keyboard") this.video.canvas.focus({ preventScroll: true });
    });
    on("steer", () => {
      this.connection.send({ type: "steer", what: "ask" });
      this.say("Request sent; the current user has ten seconds to answer.", 4000);
    });
    const answer = (what) => {
      this.element("asked").hidden = true;
      this.connection.send({ type: "steer", what });
    };
    on("give", () => answer("give"));
    on("keep", () => answer("keep"));
    on("run", () => this.connection.send({ type: "action", id: "source.start_stop" }));
    on("record", () => this.connection.send({ type: "action", id: "source.record" }));
    on("full", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
    on("keyboard", () => this.element("typed").focus());
    on("stats", () => {
      const details = this.element("details");
      details.hidden = !details.hidden;
      this.element("stats").setAttribute("aria-expanded", String(!details.hidden));
    });
    on("share", () => this.input.copied(`${location.origin}/?token=${this.me.watch}`));
    this.element("quality").addEventListener("change", (event) =>
      this.connection.send({ type: "quality", level: event.target.value === "" ? null : Number(event.target.value) }));
    this.element("keyboard").hidden = !window.matchMedia("(pointer: coarse)").matches;
    if (!window.isSecureContext) {
      this.element("hint").hidden = false;
      this.element("hint").textContent =
        "Video needs HTTPS or localhost; otherwise each frame is sent as JPEG. Start the server with --tls, or use an SSH tunnel.";
    }
  }

  showRoles(roles) {
    this.roles = roles;
    const others = roles.viewers - 1;
    const company = others === 0 ? "" : others === 1 ? ", 1 other" : `, ${others} others`;
    this.element("state").textContent = (roles.steers ? "you have control" : "view only") + company;
    this.element("steer").hidden = roles.steers || !this.me || !this.me.may_steer;
    this.element("steer").textContent = roles.is_steered ? "Request control" : "Take control";
    if (!roles.steers) this.element("asked").hidden = true;
  }

  showSwitch(id, message, on, off) {
    const button = this.element(id);
    button.hidden = !message.is_possible || !this.roles || !this.roles.steers;
    button.classList.toggle("on", message.is_on);
    button.textContent = message.is_on ? on : off;
  }

  // Shows a message for `forMs` milliseconds. An empty text hides it, unless that time is not over.
  say(text, forMs = 0) {
    const box = this.element("message");
    if (text === "" && box.dataset.until > performance.now()) return;
    box.hidden = text === "";
    box.textContent = text;
    box.dataset.until = performance.now() + forMs;
  }

  // Rates over the last WINDOW_MS, and latency percentiles over the last KEPT answers.
  stats() {
    const now = performance.now();
    this.seen = this.seen.filter(([at]) => at > now - WINDOW_MS);
    const totals = this.answers.map((answer) => answer.total);
    const beyond = this.answers.map((answer) => answer.total - answer.drawing);
    const median = (part) => percentile(this.answers.map((answer) => answer[part]), 0.5);
    return {
      pictures_per_s: (1000 * this.seen.length) / WINDOW_MS,
      mbit_per_s: (8e-6 * 1000 * this.seen.reduce((sum, [, bytes]) => sum + bytes, 0)) / WINDOW_MS,
      latency_p50: percentile(totals, 0.5),
      latency_p95: percentile(totals, 0.95),
      beyond_p50: percentile(beyond, 0.5),
      beyond_p95: percentile(beyond, 0.95),
      drawing: median("drawing"),
      encoding: median("encoding"),
      transport: median("transport"),
      decoding: median("decoding"),
      answers: this.answers.length,
    };
  }

  refresh() {
    const box = this.element("message");
    if (Number(box.dataset.until) > 0 && box.dataset.until < performance.now() && this.connection.isOpen) box.hidden = true;
    const last = this.video.last;
    const it = this.stats();
    this.element("stats").textContent = `${inMs(it.latency_p50)} · ${it.mbit_per_s.toFixed(1)} Mbit/s`;
    if (this.element("details").hidden) return;
    const rows = [
      ["Latency (median)", inMs(it.latency_p50)],
      ["Latency (95 %)", inMs(it.latency_p95)],
      ["Rendering", inMs(it.drawing)],
      ["Encoding", inMs(it.encoding)],
      ["Transport", inMs(it.transport)],
      ["Decoding", inMs(it.decoding)],
      ["Frame rate (fps)", it.pictures_per_s.toFixed(0)],
      ["Bandwidth", `${it.mbit_per_s.toFixed(2)} Mbit/s`],
      ["Picture", last ? `${last.width} × ${last.height}` : "–"],
      ["Current quality", last ? (last.isStill ? "lossless" : `${last.codec}, ${["best", "good", "fair", "low"][last.level]}`) : "–"],
      ["Encoder", this.video.encoder || "–"],
    ];
    this.element("table").replaceChildren(...rows.flatMap(([name, value]) => {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }));
  }
}
