// WebSocket connection. Text messages are JSON objects with a "type", binary messages are pictures. A lost connection
// is re-established automatically, with increasing delays.
const FIRST_WAIT_MS = 250, LONGEST_WAIT_MS = 4000, ASKS_MS = 3000;

export class Connection {
  constructor() {
    this.listeners = new Map();
    this.steers = false;
    this.wait = FIRST_WAIT_MS;
    this.socket = null;
    this.received = 0;  // bytes, over all connections
    this.connections = 0;
    // random id of this page, so that the server recognises it after a reconnect
    this.page = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
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
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.socket !== null) return;
    const secure = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${secure}//${location.host}/ws`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.wait = FIRST_WAIT_MS;
      this.connections += 1;
      this.emit("open");
    };
    socket.onmessage = (event) => socket === this.socket && this.take(event.data);
    socket.onclose = (event) => socket === this.socket && this.lost(event);
  }

  // Passes a message to the listeners of its type.
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
    if (this.socket !== null) return;  // reconnected while waiting for the answer
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LONGEST_WAIT_MS, 2 * this.wait);
  }

  // Finds out why the connection was refused. Browsers do not report it for a WebSocket, so request the page instead.
  // Returns false if retrying is useless.
  async isKnown() {
    try {
      const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(ASKS_MS) });
      if (answer.ok) return true;
      if (answer.status === 401 || answer.status === 403) {  // shows the form for the password, or why the address is refused
        location.reload();
        return false;
      }
      this.emit("refused", (await answer.text()).trim());
      return true;
    } catch {
      return true;  // server unreachable: keep trying
    }
  }

  // Reconnects without delay, but only if a retry is pending.
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
