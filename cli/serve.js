// A browser may keep a page that has been left, with its connection. Its scope is to end all the same.
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    window.addEventListener("pagehide", () => this.close());
  }
};

// The keyboard is the scope's as soon as its connection is open, and whenever the page is turned to.
const isOpen = () => document.body.classList.contains("-loaded") && !document.body.classList.contains("-closed");
const takeKeyboard = () => {
  if (isOpen()) document.querySelector(".xterm-helper-textarea").focus({ preventScroll: true });
};
window.addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal");
  if (!terminal.dataset.origins.split(" ").includes(location.origin)) {
    // The server would refuse the connection; what is missing is said instead.
    terminal.classList.remove("textual-terminal");
    document.getElementById("here").textContent = location.origin + location.pathname;
    document.getElementById("public").textContent = new URL(".", location.href).href;
    document.body.classList.add("-unknown");
    return;
  }
  // A proxy may be in between, so only the browser knows the address.
  const socket = new URL(terminal.dataset.socket, location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  terminal.dataset.sessionWebsocketUrl = socket.href;
  new MutationObserver((_, observer) => {
    if (!isOpen()) return;
    observer.disconnect();
    takeKeyboard();
  }).observe(document.body, { attributeFilter: ["class"] });
});
window.addEventListener("focus", takeKeyboard);
document.addEventListener("mouseup", takeKeyboard);
