// A browser may keep a page that has been left, with its connection. Its scope is to end all the same.
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    window.addEventListener("pagehide", () => this.close());
  }
};
