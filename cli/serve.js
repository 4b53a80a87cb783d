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
  new MutationObserver((_, observer) => {
    if (!isOpen()) return;
    observer.disconnect();
    takeKeyboard();
  }).observe(document.body, { attributeFilter: ["class"] });
});
window.addEventListener("focus", takeKeyboard);
document.addEventListener("mouseup", takeKeyboard);
