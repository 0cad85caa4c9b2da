// The WebSocket: text messages are objects with a "type", binary ones pictures. Cut, it comes back by itself.
const FIRST_WAIT_MS = 250, LONGEST_WAIT_MS = 4000;

export class Line {
  constructor() {
    this.listeners = new Map();
    this.steers = false;
    this.wait = FIRST_WAIT_MS;
    this.socket = null;
    this.received = 0;  // bytes, of all connections
    this.connections = 0;
    window.addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
  }

  on(type, listener) {
    if (!this.listeners.has(type)) this.listeners.set(type, []);
    this.listeners.get(type).push(listener);
  }

  emit(type, value) {
    for (const listener of this.listeners.get(type) || []) listener(value);
  }

  connect() {
    const secure = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${secure}//${location.host}/ws`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.connections += 1;
      this.emit("open");
    };
    socket.onmessage = (event) => this.take(event.data);
    socket.onclose = (event) => this.lost(event);
  }

  take(data) {
    if (typeof data !== "string") {
      this.received += data.byteLength;
      this.emit("picture", data);
      return;
    }
    this.received += data.length;
    const message = JSON.parse(data);
    if (message.type) this.emit(message.type, message);
  }

  async lost(event) {
    this.steers = false;
    this.socket = null;
    this.emit("lost", event.reason || "");
    if (event.reason === "" && !(await this.isKnown())) return;
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LONGEST_WAIT_MS, 2 * this.wait);
  }

  // A browser does not tell why a WebSocket was refused; a page says it.
  async isKnown() {
    try {
      const answer = await fetch("/", { cache: "no-store" });
      if (answer.ok) return true;
      this.emit("refused", (await answer.text()).trim());
      return answer.status !== 403;
    } catch {
      return true;  // nobody there: it may come back
    }
  }

  retryNow() {
    if (this.socket !== null || this.timer === undefined) return;
    clearTimeout(this.timer);
    this.connect();
  }

  get isOpen() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  send(message) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }
}
