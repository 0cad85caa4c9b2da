// Mouse, wheel and keyboard input in picture coordinates. Input messages are numbered; pictures carry the number of the
// latest input they show, from which the latency follows.
const NAMED = {
  " ": "Space", Escape: "Esc", Enter: "Enter", Tab: "Tab", Backspace: "Backspace", Insert: "Insert", Delete: "Delete",
  ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down", PageUp: "PageUp", PageDown: "PageDown",
  Home: "Home", End: "End", Shift: "Shift", Control: "Ctrl", Alt: "Alt", Meta: "Super",
};
const BUTTONS = { 0: 0, 2: 1, 1: 2 };
const NOTCH_PIXELS = 100, NOTCH_LINES = 3;
const REMEMBERED = 500;
// Keys reserved by the browser.
const BROWSERS = new Set(["F5", "F11", "F12"]);

// Returns the key name used by the server, independent of the keyboard layout for digits and letters.
export function keyName(event) {
  const key = event.key;
  if (NAMED[key]) return NAMED[key];
  if (/^F\d+$/.test(key)) return key;
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  if (digit) return digit[1];
  const letter = /^Key([A-Z])$/.exec(event.code);
  if (letter && !/^[a-z]$/i.test(key)) return letter[1];
  return key.length === 1 ? key.toUpperCase() : "";
}

export class Input {
  constructor(canvas, connection, video) {
    this.canvas = canvas;
    this.connection = connection;
    this.isOn = false;
    this.number = 0;
    this.times = new Map();  // message number -> time of the event
    this.onAnswered = () => {};
    this.paste = null;
    connection.on("open", () => {
      this.number = 0;
      this.times.clear();
    });
    connection.on("pointer", (message) => (canvas.style.cursor = message.shape));
    const shown = video.onShown;
    video.onShown = (head) => {
      shown(head);
      this.answered(head);
    };
    this.listen();
  }

  listen() {
    const on = (type, listener) => this.canvas.addEventListener(type, listener, { passive: false });
    on("pointerdown", (event) => event.pointerType !== "touch" && this.button(event, 1));
    on("pointerup", (event) => event.pointerType !== "touch" && this.button(event, 0));
    on("pointermove", (event) => event.pointerType !== "touch" && this.move(event));
    on("contextmenu", (event) => event.preventDefault());
    on("wheel", (event) => this.wheel(event));
    window.addEventListener("keydown", (event) => this.key(event, 1));
    window.addEventListener("keyup", (event) => this.key(event, 0));
    window.addEventListener("paste", (event) => this.pasted(event));
    window.addEventListener("blur", () => this.send([["f", 0]]));
    window.addEventListener("focus", () => this.send([["f", 1]]));
    this.connection.on("clipboard", (message) => this.copied(message.text));
  }

  // Sends events with a number, and remembers their time for answered().
  send(events, at = performance.now()) {
    if (!this.isOn || !this.connection.isOpen) return;
    this.number += 1;
    this.times.set(this.number, at);
    if (this.times.size > REMEMBERED) this.times.delete(this.times.keys().next().value);
    this.connection.send({ type: "input", number: this.number, events });
  }

  // Reports the latency of the latest input that this picture shows.
  answered(head) {
    const at = this.times.get(head.input);
    if (at === undefined || head.isStill) return;
    for (const number of this.times.keys()) {
      if (number > head.input) break;
      this.times.delete(number);
    }
    this.onAnswered(head.shown - at, head);
  }

  // Converts page coordinates to pixels of the picture.
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const round = (value) => Math.round(100 * value) / 100;
    return [round(((event.clientX - box.left) * this.canvas.width) / box.width),
            round(((event.clientY - box.top) * this.canvas.height) / box.height)];
  }

  move(event) {
    this.send([["m", ...this.place(event)]], event.timeStamp);
  }

  button(event, down) {
    const button = BUTTONS[event.button];
    if (button === undefined) return;
    event.preventDefault();
    if (down) {
      this.canvas.focus({ preventScroll: true });
      this.canvas.setPointerCapture(event.pointerId);
    }
    this.send([["m", ...this.place(event)], ["b", button, down]], event.timeStamp);
  }

  // Converts a wheel event to notches: it may be in pixels, lines or pages.
  wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? NOTCH_LINES : event.deltaMode === 2 ? 1 : NOTCH_PIXELS;
    const limited = (delta) => Math.max(-20, Math.min(20, -delta / unit));
    this.send([["m", ...this.place(event)], ["w", limited(event.deltaX), limited(event.deltaY)]], event.timeStamp);
  }

  key(event, down) {
    const isOurs = event.target === this.canvas || event.target === document.body || event.target.id === "typed";
    if (!isOurs || event.isComposing || BROWSERS.has(event.key)) return;
    const name = keyName(event);
    const isGraph = event.getModifierState && event.getModifierState("AltGraph");
    const isCommand = (event.ctrlKey || event.metaKey) && !isGraph;
    if (isCommand && down && name === "V") {  // send the key after the pasted text
      this.paste = setTimeout(() => this.sendPaste(event.timeStamp), 300);
      return;
    }
    if (event.metaKey && name !== "Super" && name !== "C" && name !== "X") return;
    if (isCommand && (name === "R" || name === "W" || name === "T" || name === "N")) return;
    event.preventDefault();
    const events = [];
    if (name !== "") events.push(["k", name, down, event.repeat ? 1 : 0]);
    const isText = [...event.key].length === 1;
    if (down && isText && !isCommand && (!event.altKey || isGraph)) events.push(["t", event.key.codePointAt(0)]);
    if (events.length > 0) this.send(events, event.timeStamp);
  }

  pasted(event) {
    if (event.target !== this.canvas && event.target !== document.body && event.target.id !== "typed") return;
    event.preventDefault();
    clearTimeout(this.paste);
    this.connection.send({ type: "clipboard", text: event.clipboardData.getData("text/plain").slice(0, 100000) });
    this.sendPaste(event.timeStamp);
  }

  sendPaste(at) {
    this.send([["k", "Ctrl", 1, 0], ["k", "V", 1, 0], ["k", "V", 0, 0]], at);
  }

  async copied(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      this.copyBySelection(text);  // the clipboard API requires https
    }
  }

  // Fallback with a temporary text field, for pages without https.
  copyBySelection(text) {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
    this.canvas.focus();
  }
}
