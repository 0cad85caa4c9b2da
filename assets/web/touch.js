// Touch input. One finger is the left button. Two fingers zoom (wheel) and move (middle button). A resting finger is
// the right button. The on-screen keyboard writes to a hidden field.
const HOLD_MS = 550, WAIT_MS = 70, NEAR_PIXELS = 8, PINCH_PER_NOTCH = 1.12;

export class Touch {
  constructor(canvas, input) {
    this.canvas = canvas;
    this.input = input;
    this.fingers = new Map();
    this.state = "none";  // waiting, drag, held, two, over
    const on = (type, listener) => canvas.addEventListener(type, (event) => {
      if (event.pointerType !== "touch") return;
      event.preventDefault();
      listener(event);
    }, { passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.up(event));
    this.typed = document.getElementById("typed");
    this.typed.addEventListener("input", () => this.type());
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event);
    if (this.fingers.size === 1) {
      this.first = event;
      this.state = "waiting";
      this.pressing = setTimeout(() => this.press(), WAIT_MS);
      this.holding = setTimeout(() => this.hold(), HOLD_MS);
    } else if (this.fingers.size === 2) {
      this.beginTwo();
    }
  }

  // Presses the left button. It is delayed by WAIT_MS in case a second finger follows.
  press() {
    if (this.state !== "waiting") return;
    this.state = "drag";
    this.input.send([["m", ...this.input.place(this.first)], ["b", 0, 1]], this.first.timeStamp);
  }

  // A finger that has not moved for HOLD_MS becomes the right button.
  hold() {
    if (this.state !== "drag" || this.moved) return;
    const at = this.input.place(this.first);
    this.state = "held";
    this.input.send([["b", 0, 0], ["m", ...at], ["b", 1, 1]]);
  }

  move(event) {
    if (!this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, event);
    if (this.state === "two") {
      this.moveTwo(event);
      return;
    }
    this.moved = this.moved || Math.hypot(event.clientX - this.first.clientX, event.clientY - this.first.clientY) > NEAR_PIXELS;
    if (this.moved && this.state === "waiting") this.press();
    if (this.state === "drag" || this.state === "held") this.input.send([["m", ...this.input.place(event)]], event.timeStamp);
  }

  up(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    if (this.state === "waiting") this.press();
    const at = this.input.place(event);
    if (this.state === "drag") this.input.send([["m", ...at], ["b", 0, 0]], event.timeStamp);
    if (this.state === "held") this.input.send([["m", ...at], ["b", 1, 0]], event.timeStamp);
    if (this.state === "two") this.input.send([["b", 2, 0]], event.timeStamp);
    this.end();
    if (this.fingers.size > 0) this.state = "over";  // another finger is still down
  }

  end() {
    clearTimeout(this.pressing);
    clearTimeout(this.holding);
    this.moved = false;
    this.state = "none";
  }

  middle() {
    const [a, b] = [...this.fingers.values()];
    return { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2,
             distance: Math.max(20, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) };
  }

  // A second finger releases the button of the first and presses the middle button.
  beginTwo() {
    const before = this.state;
    this.end();
    this.state = "two";
    this.pinch = this.middle();
    const at = this.input.place(this.pinch);
    const release = before === "drag" ? [["b", 0, 0]] : before === "held" ? [["b", 1, 0]] : [];
    this.input.send([...release, ["m", ...at], ["b", 2, 1]]);
  }

  moveTwo(event) {
    const now = this.middle();
    const notches = Math.log(now.distance / this.pinch.distance) / Math.log(PINCH_PER_NOTCH);
    const events = [["m", ...this.input.place(now)]];
    if (Math.abs(notches) > 0.05) {
      events.push(["w", 0, Math.max(-20, Math.min(20, notches))]);
      this.pinch = now;
    }
    this.input.send(events, event.timeStamp);
  }

  // Forwards the text of the hidden field as key events.
  type() {
    const text = this.typed.value;
    this.typed.value = "";
    const events = [];
    for (const sign of text) {
      if (sign === "\n") events.push(["k", "Enter", 1, 0], ["k", "Enter", 0, 0]);
      else events.push(["t", sign.codePointAt(0)]);
    }
    if (events.length > 0) this.input.send(events);
  }
}
