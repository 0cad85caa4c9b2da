// Draws received pictures on the canvas in their order. Video is decoded by WebCodecs, which need a secure context
// (https or localhost). JPEG and lossless still pictures are decoded as images. Every picture shown is acknowledged.
const HEADER_BYTES = 40;
const NAMES = ["h264", "vp8", "av1", "jpeg"];
const TRIED = { h264: "avc1.42c02a", vp8: "vp8", av1: "av01.0.08M.08" };

// Fields of a picture message, in little-endian order before the encoded data; times are in ms.
function header(buffer) {
  const view = new DataView(buffer);
  return {
    isStill: view.getUint8(0) === 1,
    isKey: view.getUint8(1) === 1,
    codec: NAMES[view.getUint8(2)],
    level: view.getUint8(3),
    picture: view.getUint32(4, true),
    input: view.getUint32(8, true),
    width: view.getUint32(12, true),
    height: view.getUint32(16, true),
    drawing: view.getFloat32(20, true),
    waiting: view.getFloat32(24, true),
    encoding: view.getFloat32(28, true),
    bytes: buffer.byteLength,
    came: performance.now(),
  };
}

export class Video {
  constructor(canvas, connection) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.connection = connection;
    this.decoder = null;
    this.refused = new Set();  // codecs that failed on this device
    this.coming = new Map();   // timestamp -> header of frames being decoded
    this.turn = Promise.resolve();  // decodes images one after another
    this.last = null;
    this.encoder = "";
    this.pictures = 0;
    this.onShown = () => {};
    this.onSize = () => {};
    connection.on("open", () => this.forget());
    connection.on("stream", (message) => this.begin(message));
    connection.on("picture", (buffer) => this.take(buffer));
  }

  // Names of the codecs that this browser can decode, JPEG last.
  async codecs() {
    const found = [];
    for (const [name, codec] of Object.entries(TRIED)) {
      if (this.refused.has(name) || typeof VideoDecoder === "undefined") continue;
      try {
        const answer = await VideoDecoder.isConfigSupported({ codec, codedWidth: 1280, codedHeight: 800, optimizeForLatency: true });
        if (answer.supported) found.push(name);
      } catch {
        continue;
      }
    }
    return [...found, "jpeg"].filter((name) => !this.refused.has(name));
  }

  // Closes the decoder, for example before a new stream.
  forget() {
    if (this.decoder !== null && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.coming.clear();
    this.last = null;
  }

  begin(message) {
    this.encoder = message.encoder;
    this.forget();
    if (message.codec === "jpeg") return;
    this.codec = message.codec;
    const decoder = new VideoDecoder({
      output: (frame) => this.output(frame),
      error: (error) => decoder === this.decoder && this.fail(error),
    });
    this.decoder = decoder;
    try {
      decoder.configure({ codec: message.decoder, optimizeForLatency: true });
    } catch (error) {  // the browser does not know this codec string
      this.fail(error);
    }
  }

  // Excludes the codec and offers the remaining ones to the server.
  async fail(error) {
    console.warn(`${this.codec} cannot be decoded here: ${error.message}`);
    this.refused.add(this.codec);
    this.forget();
    this.connection.send({ type: "hello", codecs: await this.codecs(), page: this.connection.page });
  }

  // Decodes a picture message. Video frames without a decoder are dropped.
  take(buffer) {
    const head = header(buffer);
    const bytes = new Uint8Array(buffer, HEADER_BYTES);
    if (head.isStill || head.codec === "jpeg") {
      this.turn = this.turn.then(() => this.takeImage(head, bytes));
      return;
    }
    if (this.decoder === null || this.decoder.state !== "configured") return;
    this.coming.set(head.picture, head);
    try {
      this.decoder.decode(new EncodedVideoChunk({ type: head.isKey ? "key" : "delta", timestamp: head.picture, data: bytes }));
    } catch (error) {
      this.fail(error);
    }
  }

  async takeImage(head, bytes) {
    const type = head.isStill ? "image/png" : "image/jpeg";
    try {
      const image = await createImageBitmap(new Blob([bytes], { type }), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
      this.draw(head, image);
      image.close();
    } catch (error) {
      console.warn(`cannot decode an image: ${error.message}`);
      this.connection.send({ type: "shown", picture: head.picture });  // acknowledge anyway: the server sends no more
                                                                       // pictures otherwise
    }
  }

  output(frame) {
    const head = this.coming.get(frame.timestamp);
    this.coming.delete(frame.timestamp);
    if (head !== undefined) this.draw(head, frame);
    frame.close();
  }

  // Draws a decoded picture, unless a newer one has been drawn.
  draw(head, image) {
    if (this.last !== null && head.picture < this.last.picture) return;
    if (this.canvas.width !== head.width || this.canvas.height !== head.height) {
      this.canvas.width = head.width;
      this.canvas.height = head.height;
      this.onSize();
    }
    this.context.drawImage(image, 0, 0, head.width, head.height);
    head.shown = performance.now();
    this.last = head;
    this.pictures += 1;
    this.connection.send({ type: "shown", picture: head.picture });
    this.onShown(head);
  }

  // RGB pixels of the picture shown, row by row. Used by tests.
  pixels() {
    const rgba = this.context.getImageData(0, 0, this.canvas.width, this.canvas.height).data;
    const rgb = new Uint8Array((rgba.length / 4) * 3);
    for (let i = 0, j = 0; i < rgba.length; i += 4) {
      rgb[j++] = rgba[i];
      rgb[j++] = rgba[i + 1];
      rgb[j++] = rgba[i + 2];
    }
    return rgb;
  }

  // SHA-256 of the pixels in hexadecimal; needs a secure context.
  async hash() {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", this.pixels()));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}
