// Builds the page: connection, picture, input, files, and the controls around the picture.
import { Connection } from "./connection.js";
import { Video } from "./video.js";
import { Input } from "./input.js";
import { Touch } from "./touch.js";
import { Files } from "./files.js";
import { Shown } from "./shown.js";

const stage = document.getElementById("stage");
const canvas = document.getElementById("picture");
const connection = new Connection();
const video = new Video(canvas, connection);
const input = new Input(canvas, connection, video);
const touch = new Touch(canvas, input);
const files = new Files(stage, connection, input);
const shown = new Shown(connection, video, input);

// Requests pictures with the pixel size of the stage. On narrow screens text is scaled down so that the controls fit.
let told = "";
function fit() {
  const ratio = window.devicePixelRatio || 1;
  const box = stage.getBoundingClientRect();
  if (connection.steers) {
    const width = Math.max(64, Math.floor(box.width * ratio)) & ~1, height = Math.max(64, Math.floor(box.height * ratio)) & ~1;
    const scale = Math.min(4, Math.max(0.75, Math.min(ratio, width / 560)));
    const size = { type: "size", width, height, scale };
    if (JSON.stringify(size) !== told) {
      told = JSON.stringify(size);
      connection.send(size);
    }
  }
  place(box, ratio);
}

// Scales the picture to the stage if another user's window determines its size.
function place(box = stage.getBoundingClientRect(), ratio = window.devicePixelRatio || 1) {
  const width = canvas.width / ratio, height = canvas.height / ratio;
  const isOurs = Math.abs(width - box.width) < 2 && Math.abs(height - box.height) < 2;
  const factor = isOurs ? 1 : Math.min(box.width / width, box.height / height);
  stage.classList.toggle("fits", !isOurs);
  canvas.style.width = `${width * factor}px`;
  canvas.style.height = `${height * factor}px`;
}

let fitting = 0;
function fitSoon() {
  place();
  clearTimeout(fitting);
  fitting = setTimeout(fit, 120);
}

new ResizeObserver(fitSoon).observe(stage);
function followRatio() {
  fitSoon();
  window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", followRatio, { once: true });
}
followRatio();
video.onSize = () => place();

connection.on("open", async () => {
  told = "";
  connection.send({ type: "hello", codecs: await video.codecs(), page: connection.page });
});
connection.on("roles", (roles) => {
  connection.steers = roles.steers;
  input.isOn = roles.steers;
  fit();
});
files.onProgress = (text) => shown.say(text, text === "" ? 0 : 5000);
connection.connect();

window.echolux = { connection, video, input, touch, files, shown };  // for tests and debugging
