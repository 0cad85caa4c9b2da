// Uploads dropped files to the server's upload folder, then asks the window to open them. Only the user in control may
// do so.
export class Files {
  constructor(stage, connection, input) {
    this.connection = connection;
    this.input = input;
    this.takes = false;
    this.onProgress = () => {};
    this.target = document.getElementById("drop");
    connection.on("welcome", (message) => (this.takes = message.uploads));
    stage.addEventListener("dragover", (event) => {
      event.preventDefault();
      if (this.mayDrop) this.target.hidden = false;
      event.dataTransfer.dropEffect = this.mayDrop ? "copy" : "none";
    });
    stage.addEventListener("dragleave", (event) => (this.target.hidden = this.target.hidden || event.relatedTarget === null));
    stage.addEventListener("drop", (event) => {
      event.preventDefault();
      this.target.hidden = true;
      if (this.mayDrop) this.send([...event.dataTransfer.files]);
      else this.onProgress(this.takes ? "only the user in control can open files" : "this server accepts no files");
    });
  }

  get mayDrop() {
    return this.takes && this.input.isOn;
  }

  async send(files) {
    const names = [];
    for (const file of files) {
      try {
        names.push(await this.upload(file));
      } catch (error) {
        this.onProgress(`${file.name}: ${error.message}`);
        return;
      }
    }
    this.onProgress("");
    this.connection.send({ type: "dropped", names });
  }

  upload(file) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("PUT", `/upload/${encodeURIComponent(file.name)}`);
      request.upload.onprogress = (event) => this.onProgress(`${file.name}: ${Math.round((100 * event.loaded) / Math.max(1, event.total))} %`);
      request.onload = () => (request.status === 201 ? resolve(request.responseText.trim()) : reject(new Error(request.responseText.trim())));
      request.onerror = () => reject(new Error("the connection was interrupted"));
      request.send(file);
    });
  }
}
